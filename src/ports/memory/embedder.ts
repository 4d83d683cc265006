// Vectors that stand for texts, from a model that a provider offers.

export interface Embedder {
  /** What made its vectors, such as `main/embed-small`: vectors of two models cannot be compared. */
  readonly model: string
  /**
   * A vector of length 1 for each text, in order, all of the same dimension; undefined for a text that has none. At most
   * `embedderLimits.texts` texts. UpstreamFailed, NotFound or Forbidden with a sentence for the operator; it may take as
   * long as `embedderLimits.timeoutMs`.
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<(Float32Array | undefined)[]>
}
