// Names with `*` (any text) and `?` (one character), anchored at both ends, and the subjects that they allow.
// Matched by hand: a pattern made into a regular expression can be made to run for minutes.

export type Wildcards = (text: string) => boolean

function matchesPattern(pattern: readonly string[], text: readonly string[]): boolean {
  let at = 0
  let star = -1
  let resume = 0
  for (let index = 0; index < text.length; ) {
    if (pattern[at] === '*') {
      star = at++
      resume = index
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === text[index])) {
      at++
      index++
    } else if (star >= 0) {
      at = star + 1
      index = ++resume
    } else return false
  }
  return pattern.slice(at).every((rest) => rest === '*')
}

/** Makes the check once for many texts. */
export function compileWildcards(pattern: string): Wildcards {
  const compiled = [...pattern.replace(/\*+/g, '*')]
  return (text) => matchesPattern(compiled, [...text])
}

/** Creates the check; an empty list allows nobody. */
export function createSubjectCheck(patterns: readonly string[]): (subject: string) => boolean {
  const checks = patterns.map(compileWildcards)
  return (subject) => checks.some((matches) => matches(subject))
}
