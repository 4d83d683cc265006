// Vectors of memories: what makes them is settled for each namespace, and searches find the memories that are like a query.

export interface Embedder {
  /** What made its vectors, such as `main/embed-small`: vectors of two models cannot be compared. */
  readonly model: string
  /**
   * A vector of length 1 for each text, in order, all of the same dimension; undefined for a text that has none. At most
   * `embedderLimits.texts` texts. UpstreamFailed, NotFound or Forbidden with a sentence for the operator; it may take as
   * long as `embedderLimits.timeoutMs`. `namespace`: whose use it is; absent: that of the provider's.
   */
  embed(texts: readonly string[], signal: AbortSignal, namespace?: string): Promise<(Float32Array | undefined)[]>
}

/** A query as a vector of length 1. */
export type QueryVector = {
  /** What made it: only memories whose vectors the same made are compared. */
  model: string
  vector: Float32Array
}

/** A memory that was written or changed since its vector was made. */
export type MemoryToEmbed = {
  /** Names this entry of the list. */
  ticket: number
  memory: number
  namespace: string
  /** Its content and tags. */
  text: string
}

/** `vector` is absent when there can be none. */
export type EmbeddedMemory = Omit<MemoryToEmbed, 'text'> & { model: string; vector?: Float32Array | undefined }

export interface MemoryVectors {
  /** Those that have waited longest first. */
  listPending(limit: number): Promise<MemoryToEmbed[]>
  /** Keeps the vectors, and takes these entries off the list. */
  save(embedded: readonly EmbeddedMemory[]): Promise<void>
  /** Puts all memories of the namespace on the list again, some at a time, so that no other write waits long. */
  requeueAll(namespace: string): Promise<void>
  /** What makes the vectors of the namespace; undefined before anything has. */
  modelOf(namespace: string): Promise<string | undefined>
  setModel(namespace: string, model: string): Promise<void>
  /** Those that have memories, whatever the state of these. */
  listNamespaces(): Promise<string[]>
}

export interface QueryVectors {
  /**
   * The query as a vector of what makes those of the namespace; absent when nothing does. `notice`: why the search is by words
   * alone, although there should be vectors, or compares only a part of the memories. Never rejects, and answers soon.
   */
  of(namespace: string, query: string): Promise<{ vector?: QueryVector; notice?: string }>
}
