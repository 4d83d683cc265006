// Counts the running tasks of each namespace, and of the children of one coordinator (TASK-040).

/** Groups of tasks that are counted together. */
export type CountGroup = { namespace: string; siblings?: string | undefined }

export type RunningCounts = {
  enter(group: CountGroup): void
  leave(group: CountGroup): void
  isNamespaceFull(namespace: string): boolean
  isSiblingLimitReached(siblings: string | undefined, limit: number | undefined): boolean
  clear(): void
}

function keysOf({ namespace, siblings }: CountGroup): string[] {
  return siblings === undefined ? [`n:${namespace}`] : [`n:${namespace}`, `s:${siblings}`]
}

/** `namespaceLimit` 0 means no limit. */
export function createRunningCounts(namespaceLimit: number): RunningCounts {
  const counts = new Map<string, number>()
  const countOf = (key: string) => counts.get(key) ?? 0

  function change(key: string, by: 1 | -1): void {
    const next = countOf(key) + by
    if (next > 0) counts.set(key, next)
    else counts.delete(key)
  }

  return {
    enter: (group) => keysOf(group).forEach((key) => void change(key, 1)),
    leave: (group) => keysOf(group).forEach((key) => void change(key, -1)),
    isNamespaceFull: (namespace) => namespaceLimit > 0 && countOf(`n:${namespace}`) >= namespaceLimit,
    isSiblingLimitReached: (siblings, limit) =>
      siblings !== undefined && limit !== undefined && countOf(`s:${siblings}`) >= limit,
    clear: () => counts.clear(),
  }
}
