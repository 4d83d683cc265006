// Writes lines that may come in parts, each part once.
import type { LogPart } from '../contract/api/task-records.ts'

export type LineWriter = {
  /** Writes what is new of it: parts come again after a broken connection. */
  part(part: LogPart): void
  /** Writes what is left of the line, or all of it where other words stand there. */
  line(text: string): void
  /** Whether a line has begun and not ended. */
  isOpen(): boolean
  /** Ends the line that has begun. */
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
