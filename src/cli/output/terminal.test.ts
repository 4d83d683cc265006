import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createBlock, createLineWriter, createTerminal, fitLines } from './terminal.ts'

const escapeCode = '\u001b'

function record(isTTY: boolean, columns = 40) {
  const written: Record<'stdout' | 'stderr', string> = { stdout: '', stderr: '' }
  const streamOf = (name: 'stdout' | 'stderr') => ({
    isTTY,
    columns,
    write: (text: string) => {
      written[name] += text
    },
  })
  return { written, streams: { stdout: streamOf('stdout'), stderr: streamOf('stderr') } }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('a terminal', () => {
  it('is sent text without its control sequences', () => {
    const { written, streams } = record(true)
    const terminal = createTerminal(streams)
    terminal.print(`${escapeCode}[2Jresult`)
    terminal.note(`${escapeCode}]0;note`)
    expect(written).toEqual({ stdout: '\u241b[2Jresult\n', stderr: '\u241b]0;note\n' })
  })

  it('shows progress on one line that never wraps', () => {
    const { written, streams } = record(true)
    const spinner = createTerminal(streams).spin(`a\nvery ${'long '.repeat(40)}${escapeCode}[2J message`)
    spinner.update('short')
    vi.advanceTimersByTime(100)
    spinner.log('a line that stays')
    spinner.stop()
    const lines = written.stderr.split(`\r${escapeCode}[2K`).slice(1)
    expect(lines[0]).toMatch(/^⠙ a very long .*… 0s$/)
    expect(lines[0]?.length).toBeLessThan(40)
    expect(lines[1]).toBe('⠹ short 0s')
    expect(lines).toContain('a line that stays\n')
    expect(written.stderr.endsWith(`\r${escapeCode}[2K`)).toBe(true)
  })

  it('shows a line while it is written in place of the progress, which does not overwrite it', () => {
    const { written, streams } = record(true)
    const spinner = createTerminal(streams).spin('busy')
    spinner.part({ offset: 0, text: 'one ' })
    vi.advanceTimersByTime(1000)
    spinner.part({ offset: 4, text: `two${escapeCode}[2J` })
    spinner.log(`one two${escapeCode}[2J three`, (text) => `never ${text}`)
    vi.advanceTimersByTime(100)
    spinner.part({ offset: 0, text: 'half' })
    spinner.stop()
    const lines = written.stderr.split(`\r${escapeCode}[2K`).slice(1)
    expect(lines[1]).toMatch(/^one two\u241b\[2J three\n/)
    expect(lines.at(-2)).toMatch(/^⠼? ?.*busy 1s$/)
    expect(lines.at(-1)).toBe('half\n')
  })

  it('keeps lines below the progress, cut to the screen, and takes them away with it', () => {
    const { written, streams } = record(true)
    const spinner = createTerminal(streams).spin('busy')
    spinner.below?.(['└─ one', `└─ two${escapeCode}[2J`, `└─ ${'long '.repeat(20)}`])
    vi.advanceTimersByTime(100)
    spinner.log('a line that stays')
    spinner.stop()
    const [, drawn = '', last] = written.stderr.split(`\r${escapeCode}[3A${escapeCode}[J`)
    expect(written.stderr).toContain('busy 0s\n└─ one\n└─ two\u241b[2J\n└─ long')
    expect(drawn).toMatch(/^a line that stays\n[^\n]*busy 0s\n└─ one/)
    expect(last).toBe('')
  })

  it('that is dumb gets plain lines instead of a spinner, and no colours', () => {
    const { written, streams } = record(true)
    const terminal = createTerminal(streams, { isDumb: true })
    terminal.spin('first').update('second')
    expect(written.stderr).toBe('first\nsecond\n')
    expect(terminal.colors.red('plain')).toBe('plain')
  })
})

describe('a pipe', () => {
  it('gets the text unchanged, each state of progress once, and no colours', () => {
    const { written, streams } = record(false)
    const terminal = createTerminal(streams)
    terminal.print(`raw ${escapeCode}[2J`)
    const spinner = terminal.spin('first')
    for (const text of ['first', 'second', 'second']) spinner.update(text)
    spinner.log(terminal.colors.dim('log'))
    spinner.stop()
    expect(written).toEqual({ stdout: `raw ${escapeCode}[2J\n`, stderr: 'first\nsecond\nlog\n' })
    expect(terminal.width).toBeUndefined()
  })
})

function recordScreen(columns = 20, rows = 5) {
  const screen = {
    text: '',
    columns,
    rows,
    write(text: string) {
      screen.text += text
    },
  }
  return screen
}

describe('a block of lines', () => {
  it('is drawn over what it was before', () => {
    const screen = recordScreen()
    const block = createBlock(screen)
    block.draw(['one', 'two'])
    block.draw(['three'])
    block.end(['four', 'five'])
    const erased = (lines: number) => `\r${escapeCode}[${lines}A${escapeCode}[J`
    expect(screen.text).toBe(`\r${escapeCode}[Jone\ntwo\n${erased(2)}three\n${erased(1)}four\nfive\n`)
  })

  it('never wraps or scrolls, except for its end, and shows control signs', () => {
    const screen = recordScreen(14, 4)
    const block = createBlock(screen)
    block.draw(['a very long line', 'b', 'c', 'd', `${escapeCode}[2J`])
    expect(screen.text.split(`${escapeCode}[J`)[1]?.split('\n')).toEqual(['a very long…', 'b', '… and 3 more', ''])
    block.end(['1', '2', '3', '4', `${escapeCode}[2J`])
    expect(screen.text.split(`${escapeCode}[J`).at(-1)).toBe('1\n2\n3\n4\n\u241b[2J\n')
  })
})

it('lines that do not fit are counted', () => {
  expect(fitLines(['a', 'b', 'c'], recordScreen(), 3)).toEqual(['a', 'b', 'c'])
  expect(fitLines(['a', 'b', 'c', 'd'], recordScreen(), 3)).toEqual(['a', 'b', '… and 2 more'])
})

function recordLines() {
  let text = ''
  const lines = createLineWriter((part) => {
    text += part
  })
  return { lines, text: () => text }
}

describe('a writer of lines', () => {
  it('writes the rest of a line that came in parts', () => {
    const { lines, text } = recordLines()
    lines.line('first')
    lines.part({ offset: 0, text: 'one ' })
    lines.part({ offset: 4, text: 'two' })
    expect([text(), lines.isOpen()]).toEqual(['first\none two', true])
    lines.line('one two three')
    lines.end()
    expect([text(), lines.isOpen()]).toEqual(['first\none two three\n', false])
  })

  it('writes no part twice when it comes again, and none when an earlier part is missing', () => {
    const { lines, text } = recordLines()
    lines.part({ offset: 0, text: 'one ' })
    lines.part({ offset: 0, text: 'one two' })
    lines.part({ offset: 20, text: 'lost' })
    lines.part({ offset: 2, text: 'e' })
    expect(text()).toBe('one two')
    lines.line('one two three')
    expect(text()).toBe('one two three\n')
  })

  it('begins a new line before other text, or before none', () => {
    const { lines, text } = recordLines()
    lines.part({ offset: 0, text: 'one' })
    lines.line('[another line]')
    lines.part({ offset: 0, text: 'half' })
    lines.end()
    expect(text()).toBe('one\n[another line]\nhalf\n')
  })
})
