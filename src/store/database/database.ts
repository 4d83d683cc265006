// What a SQL store needs of its database: statements, reads, and writes that resolve when they are durable.
import type { ScoredText } from '../../rules/memory/bm25.ts'

/** Allowed parameters; booleans are stored as 0 and 1, times as RFC 3339 text or milliseconds. */
export type Parameter = string | number | bigint | null | Uint8Array

/** A statement with `?` for each parameter. `R` is the shape of its rows (never present at run time). */
export type Statement<R = unknown> = {
  readonly text: string
  readonly parameters: readonly Parameter[]
  readonly rows?: R
}

/** Reads committed data; never sees a write in progress. */
export interface Reader {
  all<R>(statement: Statement<R>): Promise<R[]>
  /** The first row, or undefined. */
  first<R>(statement: Statement<R>): Promise<R | undefined>
}

/** One unit of work: it sees its own writes and what was committed or written before it. */
export interface Tx extends Reader {
  run(statement: Statement): Promise<{ changes: number }>
  /** Calls back right after the commit, in order of the writes, before `write` resolves. Must not throw. */
  afterCommit(publish: () => void): void
  /**
   * Notifies the listeners of the channel once the unit is committed: in this process like `afterCommit`, in every
   * other process on the same database soon after.
   */
  announce(channel: string, note: string): void
}

/** Receives a note of a channel; undefined: notes may have been missed, so check everything again. */
export type HearNote = (note: string | undefined) => void

/** A memory in the index, with every term that it has; a namespace and terms as the other statements store them. */
export type IndexedMemory = { number: number; namespace: string; terms: readonly string[] }

/** A namespace and terms as the other statements store them; at least one term. */
export type TermSearch = { namespace: string; terms: readonly string[]; limit: number }

/** Finds memories by their terms. */
export interface TermIndex {
  add(tx: Tx, memory: IndexedMemory): Promise<void>
  /** With the terms that it was added with. */
  remove(tx: Tx, memory: IndexedMemory): Promise<void>
  /** The best memories of the namespace that have any of the terms, best first, by BM25. */
  find(reader: Reader, search: TermSearch): Promise<ScoredText[]>
  /** What each of the terms tells, as it counts in a search: also of those that no memory of the namespace has. */
  weigh(reader: Reader, search: Omit<TermSearch, 'limit'>): Promise<Map<string, number>>
}

/** The differences between the two SQL dialects. */
export type Dialect = {
  /** Ends a `select ... limit n` of rows to work on: skips rows that another unit has locked. */
  readonly claimRows: Statement
  /** What the column `transcript_grams.grams` holds of these numbers. */
  encodeGrams(grams: readonly number[]): string
  /** Whether `transcript_grams` has them all; at least one. */
  matchGrams(grams: readonly number[]): Statement
  readonly terms: TermIndex
  /** A condition `column = ...` that no index is to be chosen for, where the planner does not know better by itself. */
  besideIndex(condition: Statement): Statement
  /** A table `listed` of these whole numbers, however many, in its column `wanted`. */
  listNumbers(numbers: readonly number[]): Statement
}

export interface Database {
  read: Reader
  dialect: Dialect
  /**
   * Runs the work in a transaction and resolves with its value once that is durable. Work that throws is rolled back
   * alone and rejects with what it threw. StorageFull when the disk is; Unavailable when it cannot be written.
   * Units of several callers are committed together, one after the other: the work may await its `tx` and nothing
   * else (never another `write`, which would wait for itself), and `tx` must not be used after the work has ended.
   * Units of other processes run at the same time: what a unit decides by, it locks first (an update, or an insert
   * `on conflict do update`). One that was in the way of another is run again from its start, so it keeps nothing
   * outside; it must not go on after one of its statements failed.
   */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Listens to what any process announces on the channel; returns the function that ends it. */
  listen(channel: string, hear: HearNote): () => void
  /** Completes pending writes, then closes. Later writes are Unavailable. */
  close(): Promise<void>
}
