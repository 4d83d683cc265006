// A map with a bound: what was set or touched longest ago makes room for what is new.

export type Bounds<K, V> = {
  /** The most that the map holds: entries, or the sum of their sizes where `sizeOf` is given. */
  max: number
  sizeOf?(value: V): number
  /** Entries of this age or older are gone. */
  age?: { maxMs: number | ((value: V) => number); now(): number }
  /** Called with what made room or was too old; not with what `delete` and `clear` remove or `set` replaces. */
  onDrop?(value: V, key: K): void
}

type Entry<V> = { value: V; size: number; since: number }

export class BoundedMap<K, V> {
  readonly #bounds: Bounds<K, V>
  readonly #entries = new Map<K, Entry<V>>()
  #used = 0

  constructor(bounds: Bounds<K, V>) {
    this.#bounds = bounds
  }

  /** How many entries there are, those included that are too old and were not asked for since. */
  get size(): number {
    return this.#entries.size
  }

  get(key: K): V | undefined {
    return this.#find(key)?.value
  }

  has(key: K): boolean {
    return this.#find(key) !== undefined
  }

  /** Like `get`; the entry makes room last, as if it had just been set. Its age stays. */
  touch(key: K): V | undefined {
    const entry = this.#find(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  /**
   * Adds or replaces the newest entry. A value that alone is larger than the map is not kept.
   * @param since in milliseconds, for a value that was found earlier than now; used only where entries age
   */
  set(key: K, value: V, since?: number): void {
    this.delete(key)
    const { max, sizeOf, age } = this.#bounds
    const entry = { value, size: sizeOf?.(value) ?? 1, since: since ?? age?.now() ?? 0 }
    this.#entries.set(key, entry)
    this.#used += entry.size
    for (const [oldest, dropped] of this.#entries) {
      if (this.#used <= max) return
      this.#drop(oldest, dropped)
    }
  }

  delete(key: K): boolean {
    this.#used -= this.#entries.get(key)?.size ?? 0
    return this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
    this.#used = 0
  }

  /** The entries that are not too old, the oldest first. */
  *[Symbol.iterator](): Generator<[K, V]> {
    for (const [key, entry] of this.#entries) if (this.#isFresh(entry)) yield [key, entry.value]
  }

  #find(key: K): Entry<V> | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined || this.#isFresh(entry)) return entry
    this.#drop(key, entry)
    return undefined
  }

  /** A clock that was set back extends nothing. */
  #isFresh({ value, since }: Entry<V>): boolean {
    const { age } = this.#bounds
    if (age === undefined) return true
    const maxMs = typeof age.maxMs === 'number' ? age.maxMs : age.maxMs(value)
    return Math.abs(age.now() - since) < maxMs
  }

  #drop(key: K, { value }: Entry<V>): void {
    this.delete(key)
    this.#bounds.onDrop?.(value, key)
  }
}
