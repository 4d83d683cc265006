// Colours, a spinner, lines that are drawn again in their place, and safe text on a terminal; plain text elsewhere.
import pc from 'picocolors'
import type { LogPart } from '../../contract/api/tasks/task-records.ts'
import { cutTo, makeHarmless, makeHarmlessKeepingColors, paint } from './printable.ts'

/** The codes that start and end each one (ECMA-48, SGR). */
const codes = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39] } as const

function createColors(isColored: boolean): Colors {
  const make =
    ([start, end]: readonly [number, number]) =>
    (text: string) =>
      isColored ? paint(text, start, end) : text
  return { bold: make(codes.bold), dim: make(codes.dim), red: make(codes.red), green: make(codes.green) }
}

type Stream = { write(text: string): unknown; isTTY?: boolean; columns?: number; rows?: number }
export type Streams = { stdout: Stream; stderr: Stream }

export type Colors = Record<keyof typeof codes, (text: string) => string>

export type Spinner = {
  update(text: string): void
  /**
   * A permanent line, above the spinner. Colours may be those of `paint`; a line written in parts keeps what it has.
   */
  log(line: string, paint?: (text: string) => string): void
  /** A part of the next line. There is no spinner until the line is complete. */
  part(part: LogPart): void
  /** Lines that stay below it, in place of those before. Absent where nothing can be drawn in its place. */
  below?(lines: readonly string[]): void
  /** Shows nothing until what it returns is called, and then what has come meanwhile: a person is asked something. */
  suspend(): () => void
  stop(): void
}

export interface Terminal {
  /** Answers, for programs to read: standard output. */
  print(text: string): void
  /** Lines of the answer that arrive in parts. */
  printLines(): LineWriter
  /** Progress and hints, for people: standard error. */
  note(text: string): void
  colors: Colors
  /** Columns of standard output; undefined when it is not a terminal and nothing must be cut. */
  width: number | undefined
  /** Whether the same person sees both what is printed and what is noted. */
  showsBoth: boolean
  /** The same, or both go to the same file. */
  isShared: boolean
  /** A line with elapsed seconds, redrawn in place; without a terminal each new text is a line. */
  spin(text: string): Spinner
  /** Lines of the answer that are drawn again in their place; undefined where standard output cannot do that. */
  block(): Block | undefined
}

export type TerminalOptions = {
  /** The terminal cannot redraw a line and has no colours (`TERM=dumb`). */
  isDumb?: boolean
  /** What is printed and what is noted go to the same file or pipe. */
  isOneFile?: boolean
}

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const eraseLine = '\r\u001b[2K'
const usualWidth = 80
const usualRows = 24

export function createTerminal(
  streams: Streams,
  { isDumb = false, isOneFile = false }: TerminalOptions = {},
): Terminal {
  const { stdout, stderr } = streams
  const redraws = Boolean(stderr.isTTY) && !isDumb
  const write = (text: string) => void stderr.write(stderr.isTTY ? makeHarmlessKeepingColors(text) : text)
  const showsBoth = Boolean(stdout.isTTY && stderr.isTTY)
  const note = (text: string) => write(`${text}\n`)
  const print = (text: string) => void stdout.write(stdout.isTTY ? makeHarmless(text) : text)
  return {
    colors: createColors(redraws && pc.isColorSupported),
    width: stdout.isTTY ? (stdout.columns ?? usualWidth) : undefined,
    showsBoth,
    isShared: showsBoth || isOneFile,
    print: (text) => print(`${text}\n`),
    printLines: () => createLineWriter(print),
    note,
    block: () => (stdout.isTTY && !isDumb ? createBlock(stdout) : undefined),
    spin: (text) => (redraws ? spinOnTerminal(stderr, text) : spinInLines(write, text)),
  }
}

function spinOnTerminal(stream: Stream, first: string): Spinner {
  const started = Date.now()
  let text = first
  let tick = 0
  const lines = createLineWriter((part) => void stream.write(makeHarmlessKeepingColors(part)))
  let under: readonly string[] = []
  let drawn = 0
  const eraser = () => {
    const code = drawn === 0 ? eraseLine : eraseUp(drawn)
    drawn = 0
    return code
  }
  const erase = () => void (lines.isOpen() || stream.write(eraser()))
  let waiting: (() => void)[] | undefined
  const unlessSuspended = (show: () => void) => void (waiting === undefined ? show() : waiting.push(show))
  const draw = () => {
    if (lines.isOpen() || waiting !== undefined) return
    const seconds = `${Math.floor((Date.now() - started) / 1000)}s`
    tick += 1
    // A wrapped line cannot be erased as one.
    const room = (stream.columns || usualWidth) - seconds.length - 4
    const rows = fitLines(under, stream, maxBelow(stream))
    const shown = [`${frames[tick % frames.length]} ${cutTo(makeOneLine(text), room)} ${seconds}`, ...rows]
    stream.write(`${eraser()}${shown.join('\n')}`)
    drawn = rows.length
  }
  const timer = setInterval(draw, 100)
  draw()
  return {
    update: (next) => {
      text = next
    },
    log: (line, paintLine = same) =>
      unlessSuspended(() => {
        erase()
        lines.line(lines.isOpen() ? line : paintLine(line))
        draw()
      }),
    part: (part) =>
      unlessSuspended(() => {
        erase()
        lines.part(part)
      }),
    below: (next) => {
      under = next
    },
    suspend: () => {
      erase()
      waiting = []
      return () => {
        const late = waiting ?? []
        waiting = undefined
        for (const show of late) show()
        draw()
      }
    },
    stop: () => {
      clearInterval(timer)
      erase()
      lines.end()
    },
  }
}

/** Half of the screen stays for the log. */
function maxBelow({ rows }: Stream): number {
  return Math.max(1, Math.floor((rows || usualRows) / 2) - 1)
}

const same = (text: string) => text

function makeOneLine(text: string): string {
  return makeHarmless(text.replace(/\s+/g, ' '))
}

function spinInLines(write: (text: string) => void, first: string): Spinner {
  const lines = createLineWriter(write)
  let shown: string | undefined
  let last = first
  const printLast = () => {
    if (lines.isOpen() || shown === last) return
    lines.line(last)
    shown = last
  }
  printLast()
  return {
    update: (text) => {
      last = text
      printLast()
    },
    log: (line) => {
      lines.line(line)
      printLast()
    },
    part: lines.part,
    suspend: () => () => {},
    stop: lines.end,
  }
}

export type Block = {
  /** As many of the lines as the terminal has rows for, each cut to one row. */
  draw(lines: readonly string[]): void
  /** All of the lines, for good. */
  end(lines: readonly string[]): void
}

type Screen = { write(text: string): unknown; columns?: number; rows?: number }

const usual = { columns: 80, rows: 24 }

/** Takes away `count` lines above the one that the cursor is in, and that one. */
export function eraseUp(count: number): string {
  return count === 0 ? '\r\u001b[J' : `\r\u001b[${count}A\u001b[J`
}

/** The lines as rows of the screen that cannot wrap; more than `max` are shown as a number. */
export function fitLines(lines: readonly string[], { columns }: Screen, max: number): string[] {
  const rest = lines.length - max + 1
  const fitting = lines.length <= max ? lines : [...lines.slice(0, Math.max(0, max - 1)), `… and ${rest} more`]
  const room = Math.max(1, (columns || usual.columns) - 1)
  return fitting.map((line) => makeHarmlessKeepingColors(cutTo(line.replaceAll('\n', ' '), room)))
}

export function createBlock(screen: Screen): Block {
  let drawn = 0
  const write = (lines: readonly string[]) => {
    screen.write(`${eraseUp(drawn)}${lines.map((line) => `${line}\n`).join('')}`)
    drawn = lines.length
  }
  return {
    draw: (lines) => write(fitLines(lines, screen, (screen.rows || usual.rows) - 1)),
    end: (lines) => write(lines.map(makeHarmlessKeepingColors)),
  }
}

export type LineWriter = {
  /** Writes only the new part: parts are repeated after a broken connection. */
  part(part: LogPart): void
  /** Writes the rest of the line, or all of it when the terminal shows something else. */
  line(text: string): void
  /** Whether a line has been started and not ended. */
  isOpen(): boolean
  /** Ends the line that was started. */
  end(): void
}

export function createLineWriter(write: (text: string) => void): LineWriter {
  let shown = ''
  const end = (text: string) => {
    write(`${text}\n`)
    shown = ''
  }
  return {
    part({ offset, text }) {
      const more = offset > shown.length ? '' : text.slice(shown.length - offset)
      if (more !== '') write(more)
      shown += more
    },
    line: (text) => end(text.startsWith(shown) ? text.slice(shown.length) : `\n${text}`),
    isOpen: () => shown !== '',
    end: () => {
      if (shown !== '') end('')
    },
  }
}
