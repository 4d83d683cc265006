// In which order memories are found: by score, then by age and use; and which of them say the same.

/** The first memory with each text: the same words twice are one memory. */
export function dropRepeated<T>(found: readonly T[], textOf: (one: T) => string): T[] {
  const byText = new Map<string, T>()
  for (const one of found) {
    const text = textOf(one).trim().replaceAll(/\s+/g, ' ').toLowerCase()
    if (!byText.has(text)) byText.set(text, one)
  }
  return [...byText.values()]
}

/** A memory that matches; a higher score is a better match. */
type RankedMemory = { id: string; score: number; updatedAt: string; recalledCount: number }

/** Scores that differ by less than this part of the best one count as equal. */
const steps = 200

function compareText(one: string, other: string): number {
  return one === other ? 0 : one < other ? 1 : -1
}

/**
 * Best first. Among equal matches, those that were changed on a later day come first, then those that are recalled more,
 * then the exact score.
 */
export function rankMemories<T extends RankedMemory>(found: readonly T[]): T[] {
  const best = Math.max(...found.map(({ score }) => score), Number.MIN_VALUE)
  const levelOf = ({ score }: T) => Math.round((score / best) * steps)
  const dayOf = ({ updatedAt }: T) => updatedAt.slice(0, 10)
  return found.toSorted(
    (one, other) =>
      levelOf(other) - levelOf(one) ||
      compareText(dayOf(one), dayOf(other)) ||
      other.recalledCount - one.recalledCount ||
      other.score - one.score ||
      compareText(one.updatedAt, other.updatedAt) ||
      compareText(one.id, other.id),
  )
}
