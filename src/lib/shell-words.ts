// Words of a POSIX shell (2.2, Quoting).

/** The word as it is typed: in single quotes where it has characters that mean something to a shell, or is empty. */
export function quoteWord(text: string): string {
  const isPlain = /^[\w./@%+=:,-]+$/.test(text) && !text.startsWith('-')
  return isPlain ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** A command with its arguments as one line. */
export function quoteWords(words: readonly string[]): string {
  return words.map(quoteWord).join(' ')
}
