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
}

export interface Database {
  read: Reader
  /**
   * Runs the work in a transaction and resolves with its value once that is durable. Work that throws is rolled back
   * alone and rejects with what it threw. StorageFull when the disk is; Unavailable when it can not be written.
   * Units of several callers are committed together, one after the other: the work may await its `tx` and nothing
   * else (never another `write`, which would wait for itself), and `tx` must not be used after the work has ended.
   */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Writes what was asked for so far, then closes. Writes after it are Unavailable. */
  close(): Promise<void>
}
