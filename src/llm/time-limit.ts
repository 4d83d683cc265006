// A signal that a time limit aborted says so: it was not the caller who gave up.
export class TimeLimitError extends Error {
  readonly limitMs: number

  constructor(limitMs: number) {
    super('The time limit was reached.')
    this.limitMs = limitMs
  }
}
