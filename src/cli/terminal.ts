// Colours, a spinner and prompts; plain text where there is no terminal.
import pc from 'picocolors'

export type Streams = {
  stdout: { write(text: string): unknown; isTTY?: boolean }
  stderr: { write(text: string): unknown; isTTY?: boolean }
}

export type Spinner = {
  update(text: string): void
  /** A line that stays, above the spinner. */
  log(line: string): void
  stop(): void
}

export interface Terminal {
  /** Answers, for programs to read: standard output. */
  print(text: string): void
  /** Progress and hints, for people: standard error. */
  note(text: string): void
  colors: ReturnType<typeof pc.createColors>
  /** A line with elapsed seconds, redrawn in place; on anything but a terminal each new text is a line. */
  spin(text: string): Spinner
}

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const eraseLine = '\r\u001b[2K'

export function createTerminal(streams: Streams): Terminal {
  const colors = pc.createColors(Boolean(streams.stderr.isTTY && pc.isColorSupported))
  return {
    colors,
    print: (text) => void streams.stdout.write(`${text}\n`),
    note: (text) => void streams.stderr.write(`${text}\n`),
    spin: (text) => (streams.stderr.isTTY ? spinInPlace(streams, text) : spinInLines(streams, text)),
  }
}

function spinInPlace(streams: Streams, first: string): Spinner {
  const started = Date.now()
  let text = first
  let tick = 0
  const draw = () => {
    const seconds = Math.floor((Date.now() - started) / 1000)
    tick += 1
    streams.stderr.write(`${eraseLine}${frames[tick % frames.length]} ${text} ${seconds}s`)
  }
  const timer = setInterval(draw, 100)
  draw()
  return {
    update: (next) => {
      text = next
    },
    log: (line) => {
      streams.stderr.write(`${eraseLine}${line}\n`)
      draw()
    },
    stop: () => {
      clearInterval(timer)
      streams.stderr.write(eraseLine)
    },
  }
}

function spinInLines(streams: Streams, first: string): Spinner {
  let last = ''
  const update = (text: string) => {
    if (text !== last) streams.stderr.write(`${text}\n`)
    last = text
  }
  update(first)
  return { update, log: (line) => void streams.stderr.write(`${line}\n`), stop: () => {} }
}
