// Commands as this person can type them here: every hint prints its commands with this.

let command = 'svc'
let place: readonly string[] = []

/** For the whole process: what starts the program, such as `npx svc`. Set once, by the composition root. */
export function setCommand(words: string): void {
  command = words
}

/** The parts of this line that say where to look, such as `-n team`: without them a hint would lead elsewhere. */
export function setPlace(flags: readonly string[]): void {
  place = flags
}

/** `npx svc task list` for `task list`; in a namespace that the line does not name, or that of the line. */
export function typed(words: string, namespace?: string): string {
  const more = namespace === undefined || place.includes('-n') ? [] : ['-n', namespace]
  return [command, ...place, ...more, words].join(' ')
}

/** The same where what the line says of a place is not for the next one. */
export function typedAnywhere(words: string): string {
  return `${command} ${words}`
}

/** A word of a POSIX shell. */
export function quoteWord(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) && !text.startsWith('-') ? text : `'${text.replaceAll("'", "'\\''")}'`
}
