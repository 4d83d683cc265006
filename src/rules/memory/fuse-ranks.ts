// One order from several: reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009).

/** From that paper: large enough that one list alone does not decide. */
const smoothing = 60

/** An order, the best first, and how much it counts. */
export type Ranking<K> = { keys: readonly K[]; weight?: number }

/**
 * Every key of any list once, the best first. Keys that are as good stay in the order in which the lists, one after the
 * other, first name them; of a key that a list names twice the first place counts.
 */
export function fuseRanks<K>(rankings: readonly Ranking<K>[]): K[] {
  const scores = new Map<K, number>()
  for (const { keys, weight = 1 } of rankings) {
    for (const [at, key] of [...new Set(keys)].entries()) {
      scores.set(key, (scores.get(key) ?? 0) + weight / (smoothing + at + 1))
    }
  }
  return [...scores].sort(([, one], [, other]) => other - one).map(([key]) => key)
}
