// Times on the command line: a moment, or how long ago.
import { parseTokenExpiry } from '../../contract/api/identity/tokens.ts'
import { SvcError } from '../../errors.ts'

/** RFC 3339 of `7d`, `12h` (before now) or of a time; undefined stays so. InvalidRequest names the flag. */
export function readSince(flag: string, text: string | undefined, now: Date): string | undefined {
  if (text === undefined) return undefined
  const end = parseTokenExpiry(text, now)
  if (end === undefined) {
    throw new SvcError(
      'InvalidRequest',
      `${flag} ${text}: must be a duration (12h), days (7d) or a time (2026-12-31T00:00:00Z)`,
    )
  }
  const isTime = /^\d{4}-/.test(text)
  return (isTime ? end : new Date(2 * now.getTime() - end.getTime())).toISOString()
}
