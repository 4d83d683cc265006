// How the workers' own lines in the log of a run are written.

/** Words of a model or a program cannot start a line that looks like one of the service's. */
export function toLine(text: string): string {
  return `[${text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trimEnd()}]`
}

/** Redact before: a secret that is cut in two would not be found. */
export function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}... (${text.length} characters)`
}
