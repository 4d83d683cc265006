// What was made of the catalog's objects and of Secrets, kept until one of them changes.
import type { Kind } from '../contract/resources/index.ts'
import { type ChangePorts, type ChangeWatch, createChangeWatch } from './change-watch.ts'

export type Source<T> = {
  /** Of the objects that the value is made from; absent: they may be of any. */
  namespace?: string
  load(): Promise<T>
}

/** Values of one sort, each under a key. */
export type Cache<T> = {
  /** What is kept, at once; undefined when nothing is. */
  peek(key: string): T | undefined
  /** What is kept, else a value made now. Those who ask while it is made share it; a failure is not kept. */
  get(key: string, source: Source<T>): Promise<T>
}

export type CatalogMemory = {
  createCache<T>(): Cache<T>
  /** Ends the watches; from then on nothing is kept. */
  close(): void
}

export type MemoryOptions = {
  /** What the values are made from, beside Secrets. */
  kinds: readonly Kind[]
  /** How long a value is kept at most. Absent: until something changes. */
  longestMs?: number
  /** How many values of a cache are kept; the oldest go first. */
  mostKept?: number
}

type Kept<T> = { namespace: string | undefined; making: Promise<T>; value: T | undefined }

type ShelfParts = { watch: ChangeWatch; mostKept: number; onKeep(): void }

const defaultMostKept = 1000

function createStore<T>({ watch, mostKept, onKeep }: ShelfParts) {
  const kept = new Map<string, Kept<T>>()

  function make(key: string, { namespace, load }: Source<T>): Promise<T> {
    const [oldest] = kept.keys()
    if (kept.size >= mostKept && oldest !== undefined) kept.delete(oldest)
    // In its place before anything is read: a change in between takes it away again.
    const entry: Kept<T> = { namespace, making: load(), value: undefined }
    kept.set(key, entry)
    entry.making.then(
      (value) => {
        entry.value = value
      },
      () => {
        if (kept.get(key) === entry) kept.delete(key)
      },
    )
    onKeep()
    return entry.making
  }

  return {
    peek: (key: string): T | undefined => kept.get(key)?.value,
    async get(key: string, source: Source<T>): Promise<T> {
      const known = kept.get(key)
      if (known !== undefined) return known.making
      if (!watch.isOpen()) await watch.open()
      if (!watch.isOpen()) return source.load()
      return kept.get(key)?.making ?? make(key, source)
    },
    forget(namespace: string): void {
      for (const [key, entry] of kept) {
        if (entry.namespace === undefined || entry.namespace === namespace) kept.delete(key)
      }
    },
    clear: () => kept.clear(),
  }
}

/** Follows nothing until the first value is asked for. */
export function createCatalogMemory(ports: ChangePorts, options: MemoryOptions): CatalogMemory {
  const { kinds, longestMs, mostKept = defaultMostKept } = options
  const stores: { forget(namespace: string): void; clear(): void }[] = []
  const closing = new AbortController()
  let isTimed = false

  function clear(): void {
    for (const store of stores) store.clear()
  }

  /** One timer for everything: reading asks no clock. */
  function limitTime(): void {
    if (longestMs === undefined || isTimed) return
    isTimed = true
    ports.clock.sleep(longestMs, closing.signal).then(
      () => {
        isTimed = false
        clear()
      },
      () => {},
    )
  }

  const watch = createChangeWatch(ports, {
    kinds,
    onChange: (namespace) => {
      for (const store of stores) store.forget(namespace)
    },
    onLost: clear,
    signal: closing.signal,
  })

  return {
    createCache<T>(): Cache<T> {
      const store = createStore<T>({ watch, mostKept, onKeep: limitTime })
      stores.push(store)
      return { peek: store.peek, get: store.get }
    },
    close: () => closing.abort(),
  }
}
