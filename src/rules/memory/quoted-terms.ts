// The terms of a query: words, and phrases between double quotes. A quote that is not closed ends with the query.

/** Terms in order, each once regardless of case; none for a query of blanks and quotes. */
export function splitTerms(query: string): string[] {
  const terms = [...query.matchAll(/"([^"]*)"?|([^\s"]+)/g)].map(([, phrase, word]) => (phrase ?? word ?? '').trim())
  const byFold = new Map(terms.filter(Boolean).map((term) => [term.toLowerCase(), term]))
  return [...byFold.values()]
}
