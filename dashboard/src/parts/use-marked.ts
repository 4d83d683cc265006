// Rows of a list that are marked, so that something is done with all of them.
import { useCallback, useState } from 'react'

/** Those that are gone are marked no longer. */
export function useMarked<T>(items: readonly T[], idOf: (item: T) => string) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const toggleId = useCallback(
    (id: string) =>
      setIds((before) =>
        before.has(id) ? new Set([...before].filter((one) => one !== id)) : new Set([...before, id]),
      ),
    [],
  )
  return {
    ids,
    marked: ids.size === 0 ? [] : items.filter((item) => ids.has(idOf(item))),
    toggleId,
    all: () => setIds(new Set(items.map(idOf))),
    none: () => setIds(new Set()),
  }
}
