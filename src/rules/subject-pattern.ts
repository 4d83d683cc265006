// Which subjects an issuer may speak for: names with wildcards.
import { compileWildcards } from './wildcards.ts'

/** Creates the check; an empty list allows nobody. */
export function createSubjectCheck(patterns: readonly string[]): (subject: string) => boolean {
  const checks = patterns.map(compileWildcards)
  return (subject) => checks.some((matches) => matches(subject))
}
