// A binary heap: smallest entry first, by a given order.

export type Heap<T> = {
  push(entry: T): void
  /** The smallest entry, which stays in the heap. */
  peek(): T | undefined
  pop(): T | undefined
  size(): number
  clear(): void
}

export function createHeap<T>(compare: (a: T, b: T) => number): Heap<T> {
  const entries: T[] = []

  function isBefore(a: number, b: number): boolean {
    const [left, right] = [entries[a], entries[b]]
    return left !== undefined && right !== undefined && compare(left, right) < 0
  }

  function swap(a: number, b: number): void {
    const [left, right] = [entries[a], entries[b]]
    if (left === undefined || right === undefined) return
    entries[a] = right
    entries[b] = left
  }

  function rise(from: number): void {
    let index = from
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!isBefore(index, parent)) return
      swap(index, parent)
      index = parent
    }
  }

  function smallestOf(index: number): number {
    const children = [index * 2 + 1, index * 2 + 2]
    return children.reduce((smallest, child) => (isBefore(child, smallest) ? child : smallest), index)
  }

  function sink(): void {
    let index = 0
    for (let next = smallestOf(index); next !== index; next = smallestOf(index)) {
      swap(index, next)
      index = next
    }
  }

  return {
    push(entry) {
      entries.push(entry)
      rise(entries.length - 1)
    },
    peek: () => entries[0],
    pop() {
      const first = entries[0]
      const last = entries.pop()
      if (entries.length > 0 && last !== undefined) {
        entries[0] = last
        sink()
      }
      return first
    },
    size: () => entries.length,
    clear() {
      entries.length = 0
    },
  }
}
