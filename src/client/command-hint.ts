// Commands as this person can type them here: every hint prints its commands with this.

let command = 'svc'
let targetFlags: readonly string[] = []

/** For the whole process: what starts the program, such as `npx svc`. Set once, by the composition root. */
export function setProgramWords(words: string): void {
  command = words
}

/** The flags of this line that select the service and the namespace, such as `-n team`; hints repeat them. */
export function setTargetFlags(flags: readonly string[]): void {
  targetFlags = flags
}

/** `npx svc task list` for `task list`; in a namespace that the line does not name, or that of the line. */
export function commandHint(words: string, namespace?: string): string {
  const more = namespace === undefined || targetFlags.includes('-n') ? [] : ['-n', namespace]
  return [command, ...targetFlags, ...more, words].join(' ')
}

/** The same without those flags, for a command that is meant for another service or namespace. */
export function untargetedHint(words: string): string {
  return `${command} ${words}`
}
