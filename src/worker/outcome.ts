// How a run ends, and how the program reports it.
import type { RunFailure } from '../contract/kinds/tasks/failures.ts'

/** The last line on descriptor 3. */
export type AttemptOutcome = { ok: true } | { ok: false; reason: RunFailure; message: string }

export function failRun(reason: RunFailure, message: string): AttemptOutcome {
  return { ok: false, reason, message }
}
