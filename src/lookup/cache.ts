// Values derived from resources and Secrets, cached until one of them changes.
import type { Kind } from '../contract/kinds/index.ts'
import { followSignals, onAbort } from '../lib/abort.ts'
import { BoundedMap } from '../lib/bounded-map.ts'
import type { Clock } from '../lib/clock.ts'
import type { Resources } from '../ports/resources/resources.ts'
import type { Secrets } from '../ports/resources/secrets.ts'

export type ChangePorts = {
  resources: Pick<Resources, 'list' | 'watch'>
  secrets: Pick<Secrets, 'onChange'>
  clock: Pick<Clock, 'sleep'>
}

type ChangeListener = {
  kinds: readonly Kind[]
  /** Something in the namespace was created, changed or removed. */
  onChange(namespace: string): void
  /** Changes go unnoticed from now on; the most recent ones may have been missed too. */
  onLost(): void
  /** Ends it for good. */
  signal: AbortSignal
}

type ChangeWatch = {
  /** Whether every change is being reported. */
  isOpen(): boolean
  /** Resolves when it is open, or cannot be opened for now. Never rejects. */
  open(): Promise<void>
}

/** How long to wait before a broken watch is opened again. */
const pauseMs = 1000

async function followKind(
  resources: ChangePorts['resources'],
  kind: Kind,
  { onChange, signal, end }: Pick<ChangeListener, 'onChange' | 'signal'> & { end(): void },
): Promise<void> {
  const { resourceVersion } = await resources.list(kind, { limit: 1 })
  const read = async () => {
    for await (const { object } of resources.watch(kind, { resourceVersion, signal }))
      onChange(object.metadata.namespace)
  }
  read().then(end, end)
}

/** Opens on demand: a reader that caches nothing need not follow anything. */
function createChangeWatch(
  { resources, secrets, clock }: ChangePorts,
  { kinds, onChange, onLost, signal: closing }: ChangeListener,
): ChangeWatch {
  let isOpen = false
  let opening: Promise<void> | undefined

  async function start(): Promise<void> {
    const { signal: ending, abort, release } = followSignals(closing)
    // One broken watch ends the others.
    const end = () => abort(undefined)
    const stopSecrets = secrets.onChange(({ namespace }) => onChange(namespace))
    onAbort(ending, () => {
      stopSecrets()
      release()
      isOpen = false
      onLost()
      clock.sleep(pauseMs, closing).then(
        () => {
          opening = undefined
        },
        () => {},
      )
    })
    const follow = (kind: Kind) => followKind(resources, kind, { onChange, signal: ending, end })
    await Promise.all(kinds.map(follow)).catch(end)
    isOpen = !ending.aborted
  }

  return {
    isOpen: () => isOpen,
    async open() {
      if (closing.aborted) return
      opening ??= start()
      await opening
    },
  }
}

export type LookupSource<T> = {
  /** The namespace of the objects that the value depends on; absent: any. */
  namespace?: string
  load(): Promise<T>
}

/** Values of one sort, by key. */
type LookupCache<T> = {
  /** The cached value, without a promise; undefined when there is none. */
  peek(key: string): T | undefined
  /** The cached value, else a new one. Concurrent callers share the computation; a failure is not cached. */
  get(key: string, source: LookupSource<T>): Promise<T>
}

export type LookupCaches = {
  createCache<T>(): LookupCache<T>
  /** Ends the watches; after this nothing is cached. */
  close(): void
}

export type LookupCacheOptions = {
  /** The kinds that the values depend on, besides Secrets. */
  kinds: readonly Kind[]
  /** The longest time to cache a value. Absent: until something changes. */
  maxAgeMs?: number
  /** The most values in one cache; the oldest are dropped first. */
  maxEntries?: number
}

type Entry<T> = { namespace: string | undefined; making: Promise<T>; value: T | undefined }

type StoreParts = { watch: ChangeWatch; maxEntries: number; onKeep(): void }

const defaultMaxEntries = 1000

function createStore<T>({ watch, maxEntries, onKeep }: StoreParts) {
  const cached = new BoundedMap<string, Entry<T>>({ max: maxEntries })

  function make(key: string, { namespace, load }: LookupSource<T>): Promise<T> {
    // Registered before anything is read, so that a change in between removes it again.
    const entry: Entry<T> = { namespace, making: load(), value: undefined }
    cached.set(key, entry)
    entry.making.then(
      (value) => {
        entry.value = value
      },
      () => {
        if (cached.get(key) === entry) cached.delete(key)
      },
    )
    onKeep()
    return entry.making
  }

  return {
    peek: (key: string): T | undefined => cached.get(key)?.value,
    async get(key: string, source: LookupSource<T>): Promise<T> {
      const known = cached.get(key)
      if (known !== undefined) return known.making
      if (!watch.isOpen()) await watch.open()
      if (!watch.isOpen()) return source.load()
      return cached.get(key)?.making ?? make(key, source)
    },
    forget(namespace: string): void {
      for (const [key, entry] of cached) {
        if (entry.namespace === undefined || entry.namespace === namespace) cached.delete(key)
      }
    },
    clear: () => cached.clear(),
  }
}

/** Follows nothing until the first value is requested. */
export function createLookupCaches(ports: ChangePorts, options: LookupCacheOptions): LookupCaches {
  const { kinds, maxAgeMs, maxEntries = defaultMaxEntries } = options
  const stores: { forget(namespace: string): void; clear(): void }[] = []
  const closing = new AbortController()
  let isTimed = false

  function clear(): void {
    for (const store of stores) store.clear()
  }

  /** One timer for everything, so that reading never asks for the time. */
  function limitTime(): void {
    if (maxAgeMs === undefined || isTimed) return
    isTimed = true
    ports.clock.sleep(maxAgeMs, closing.signal).then(
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
    createCache<T>(): LookupCache<T> {
      const store = createStore<T>({ watch, maxEntries, onKeep: limitTime })
      stores.push(store)
      return { peek: store.peek, get: store.get }
    },
    close: () => closing.abort(),
  }
}
