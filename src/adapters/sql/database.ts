// What a SQL store needs of its database: statements, reads, and writes that resolve when they are durable.

/** What a parameter may be; truth values are kept as 0 and 1, times as RFC 3339 text or milliseconds. */
export type Parameter = string | number | bigint | null | Uint8Array

/** A statement with `?` for each parameter. `R` is the shape of its rows (never present at run time). */
export type Statement<R = unknown> = {
  readonly text: string
  readonly parameters: readonly Parameter[]
  readonly rows?: R
}

/** Reads what is committed; never sees a write that is still under way. */
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
   * Tells those who listen to the channel, once the unit is committed: in this process like `afterCommit`, in every
   * other process on the same database soon after.
   */
  announce(channel: string, note: string): void
}

/** Hears a note of a channel; undefined: notes may have been missed, so look at everything again. */
export type HearNote = (note: string | undefined) => void

/** What the two databases say differently. */
export type Dialect = {
  /** Ends a `select ... limit n` of rows to work on: passes over those that another unit has now. */
  readonly claimRows: Statement
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
  /** Hears what is announced on the channel, wherever it is; returns the function that ends it. */
  listen(channel: string, hear: HearNote): () => void
  /** Writes what was asked for so far, then closes. Writes after it are Unavailable. */
  close(): Promise<void>
}
