// Counts who occupies which place: a namespace, and the children of one coordinator (TASK-040).

/** Tasks that count together. */
export type Place = { namespace: string; siblings?: string | undefined }

export type Places = {
  enter(place: Place): void
  leave(place: Place): void
  isNamespaceFull(namespace: string): boolean
  isSiblingLimitReached(siblings: string | undefined, limit: number | undefined): boolean
  clear(): void
}

function keysOf({ namespace, siblings }: Place): string[] {
  return siblings === undefined ? [`n:${namespace}`] : [`n:${namespace}`, `s:${siblings}`]
}

/** `namespaceLimit` 0 means none. */
export function createPlaces(namespaceLimit: number): Places {
  const counts = new Map<string, number>()
  const countOf = (key: string) => counts.get(key) ?? 0

  function change(key: string, by: 1 | -1): void {
    const next = countOf(key) + by
    if (next > 0) counts.set(key, next)
    else counts.delete(key)
  }

  return {
    enter: (place) => keysOf(place).forEach((key) => void change(key, 1)),
    leave: (place) => keysOf(place).forEach((key) => void change(key, -1)),
    isNamespaceFull: (namespace) => namespaceLimit > 0 && countOf(`n:${namespace}`) >= namespaceLimit,
    isSiblingLimitReached: (siblings, limit) =>
      siblings !== undefined && limit !== undefined && countOf(`s:${siblings}`) >= limit,
    clear: () => counts.clear(),
  }
}
