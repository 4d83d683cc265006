// Which subjects an issuer may speak for: names with `*` (any text) and `?` (one character), anchored at both ends.
// Matched by hand: a pattern made into a regular expression can be made to run for minutes.

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

/** Makes the check; an empty list allows nobody. */
export function createSubjectCheck(patterns: readonly string[]): (subject: string) => boolean {
  const compiled = patterns.map((pattern) => [...pattern.replace(/\*+/g, '*')])
  return (subject) => {
    const characters = [...subject]
    return compiled.some((pattern) => matchesPattern(pattern, characters))
  }
}
