// Which of several words a person may have meant.

/** How many letters must be inserted, removed, replaced or swapped with the next one to make `b` of `a`. */
function distanceOf(a: string, b: string): number {
  const rows: number[][] = []
  const at = (i: number, j: number) => rows[i]?.[j] ?? Number.POSITIVE_INFINITY
  function measure(i: number, j: number): number {
    if (i === 0 || j === 0) return i + j
    const replaced = at(i - 1, j - 1) + Number(a[i - 1] !== b[j - 1])
    const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
    return Math.min(replaced, isSwapped ? at(i - 2, j - 2) + 1 : replaced, at(i - 1, j) + 1, at(i, j - 1) + 1)
  }
  for (let i = 0; i <= a.length; i += 1) {
    const row: number[] = []
    rows.push(row)
    for (let j = 0; j <= b.length; j += 1) row.push(measure(i, j))
  }
  return at(a.length, b.length)
}

/** The word most similar to what was typed; undefined when more than every third letter of the shorter one differs. */
export function findNearest(typed: string, words: readonly string[]): string | undefined {
  const isNear = (a: string, b: string, distance: number) => distance <= Math.min(a.length, b.length) / 3
  const ranked = words
    .filter((word) => isNear(typed, word, Math.abs(typed.length - word.length)))
    .map((word) => ({ word, distance: distanceOf(typed.toLowerCase(), word.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)
  const [best] = ranked
  return best && isNear(typed, best.word, best.distance) ? best.word : undefined
}
