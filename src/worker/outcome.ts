// How a run ends, and how the program says so.
import type { RunFailure } from '../contract/failures.ts'

/** The last line on descriptor 3. */
export type Outcome = { ok: true } | { ok: false; reason: RunFailure; message: string }

export function failRun(reason: RunFailure, message: string): Outcome {
  return { ok: false, reason, message }
}
