// A queue in which one thing after the other is decided. What is shown stays until somebody goes on: what others do to the queue never
// puts another thing under a key or a click that is on its way.
import { useCallback, useEffect, useRef, useState } from 'react'
import { Button } from './button.tsx'
import { useKeys } from './keys.ts'
import { useParameters } from './scope.ts'
import { Empty } from './states.tsx'

export type Queue<T> = {
  /** What is shown; undefined where the queue is empty, or `isGone`. */
  chosen: T | undefined
  /** What was shown is not in the queue any more. */
  isGone: boolean
  choose(item: T | undefined): void
  /** To the one so many places on. */
  step(by: number): void
}

type Shown = { id: string; at: number; filters: string }

/**
 * The id of what is shown stands in the address as `name`; `j` and `k` go to the next and to the one before, past those that are
 * hidden.
 */
export function useQueue<T extends { id: string }>(
  items: readonly T[],
  name: string,
  isHidden: (item: T) => boolean = () => false,
): Queue<T> {
  const [parameters, change] = useParameters()
  const wanted = parameters.get(name)
  const others = new URLSearchParams(parameters)
  others.delete(name)
  const filters = others.toString()
  const last = useRef<Shown>(undefined)
  const found = items.findIndex(({ id }) => id === wanted)
  const isGone = found < 0 && items.length > 0 && last.current?.id === wanted && last.current?.filters === filters
  const at = isGone ? (last.current?.at ?? 0) : Math.max(0, found)
  const chosen = isGone ? undefined : items[at]
  const id = chosen?.id
  useEffect(() => {
    if (id === undefined) return
    last.current = { id, at, filters }
    if (id !== wanted) change({ [name]: id })
  }, [id, at, filters, wanted, name, change])

  const choose = (item: T | undefined) => change({ [name]: item?.id })
  function step(by: number): void {
    const next = at + (isGone && by > 0 ? by - 1 : by)
    const shown = items.map((item, index) => ({ item, index })).filter(({ item }) => !isHidden(item))
    const found =
      by > 0
        ? (shown.find(({ index }) => index >= next) ?? shown.at(-1))
        : (shown.findLast(({ index }) => index <= next) ?? shown[0])
    if (found !== undefined) choose(found.item)
  }
  useKeys({ j: () => step(1), k: () => step(-1) }, true)
  return { chosen, isGone, choose, step }
}

export function GoneFromQueue({ onNext }: { onNext: () => void }) {
  return (
    <Empty title="This one is not in the list any more">
      <p>It was decided elsewhere, or the filters leave it out now.</p>
      <Button onClick={onNext}>
        Go on <kbd>j</kbd>
      </Button>
    </Empty>
  )
}

/** Shorter than anybody reads, longer than a double click takes. */
const restMs = 500

/** Whether the queue has just gone on by itself: the second half of a double click must not decide what nobody has seen. */
export function useRest(): [isResting: boolean, rest: () => void] {
  const [isResting, setResting] = useState(false)
  useEffect(() => {
    if (!isResting) return undefined
    const timer = setTimeout(() => setResting(false), restMs)
    return () => clearTimeout(timer)
  }, [isResting])
  return [isResting, useCallback(() => setResting(true), [])]
}
