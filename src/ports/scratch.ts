// Folders of conversations whose tools the service itself runs (BUILT-027).

export type ScratchHold = {
  /** The folder; good until `release`, and not removed before. */
  folder: string
  /** Aborts when more was written into it than it may hold, or the disk is nearly full: what writes must end. */
  full: AbortSignal
  /** Lets go of it. Idempotent. */
  release(): Promise<void>
}

export interface Scratch {
  /**
   * The folder of one conversation, made when it is missing: `parts` are who it belongs to and its own word, and the same
   * parts give the same folder. It goes some time after the last hold of it ended. StorageFull when too little of the disk
   * is free to begin anything.
   */
  hold(parts: readonly string[]): Promise<ScratchHold>
}
