// Values derived from the catalog's objects and from Secrets, cached until one of them changes.
import type { Kind } from '../contract/kinds/index.ts'
import { type ChangePorts, type ChangeWatch, createChangeWatch } from './change-watch.ts'

export type Source<T> = {
  /** The namespace of the objects that the value depends on; absent: any. */
  namespace?: string
  load(): Promise<T>
}

/** Values of one sort, by key. */
export type Cache<T> = {
  /** The cached value, without a promise; undefined when there is none. */
  peek(key: string): T | undefined
  /** The cached value, else a new one. Concurrent callers share the computation; a failure is not cached. */
  get(key: string, source: Source<T>): Promise<T>
}

export type CatalogMemory = {
  createCache<T>(): Cache<T>
  /** Ends the watches; after this nothing is cached. */
  close(): void
}

export type MemoryOptions = {
  /** The kinds that the values depend on, besides Secrets. */
  kinds: readonly Kind[]
  /** The longest time to cache a value. Absent: until something changes. */
  longestMs?: number
  /** The most values in one cache; the oldest are dropped first. */
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
    // Registered before anything is read, so that a change in between removes it again.
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

/** Follows nothing until the first value is requested. */
export function createCatalogMemory(ports: ChangePorts, options: MemoryOptions): CatalogMemory {
  const { kinds, longestMs, mostKept = defaultMostKept } = options
  const stores: { forget(namespace: string): void; clear(): void }[] = []
  const closing = new AbortController()
  let isTimed = false

  function clear(): void {
    for (const store of stores) store.clear()
  }

  /** One timer for everything, so that reading never asks for the time. */
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
