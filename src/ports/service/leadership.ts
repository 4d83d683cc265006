// One replica drives the controllers.

export interface Leadership {
  /**
   * Resolves when this replica leads; rejects when the signal aborts first. The returned signal aborts when it is lost.
   */
  acquire(signal: AbortSignal): Promise<AbortSignal>
  /**
   * Throws Unavailable unless this replica leads. It asks a clock and no timer, so a process that was suspended knows from
   * its first step on that its term is over.
   */
  requireTerm(): void
  /** Resigns early so that another replica need not wait. */
  release(): Promise<void>
}
