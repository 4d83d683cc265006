// The end of a log that was shown, to tell whether a result is on the screen already.

export type Tail = {
  add(line: string): void
  /** The lines, without closing remarks in brackets and without blank lines at the end. */
  read(): string
}

const longest = 1_048_576

export function createTail(): Tail {
  let text = ''
  return {
    add(line) {
      text = `${text}${line}\n`
      if (text.length > 2 * longest) text = text.slice(-longest)
    },
    read() {
      const lines = text.trimEnd().split('\n')
      while (lines.length > 1 && lines.at(-1)?.startsWith('[')) lines.pop()
      return lines.join('\n').trimEnd()
    },
  }
}
