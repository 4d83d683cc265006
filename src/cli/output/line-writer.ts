// Writes lines that may come in parts, each part once.
import type { LogPart } from '../../contract/api/tasks/task-records.ts'

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
