// One replica drives the controllers.

export interface Leadership {
  /**
   * Resolves when this replica leads; rejects when the signal aborts first. The returned signal aborts when it is lost.
   */
  acquire(signal: AbortSignal): Promise<AbortSignal>
  /** Resigns early so that another replica need not wait. */
  release(): Promise<void>
}
