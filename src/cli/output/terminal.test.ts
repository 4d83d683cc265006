import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTerminal } from './terminal.ts'

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
