// Folders of conversations whose tools the service itself runs (BUILT-027).

export type ScratchHold = {
  /** The folder; good until `release`, and not removed before. */
  folder: string
  /** Aborts when more was written into it than it may hold, or than the owner's others leave to it: what writes must end. */
  full: AbortSignal
  /** Lets go of it. Idempotent. */
  release(): Promise<void>
}

export interface Scratch {
  /**
   * The folder of one conversation, made when it is missing: the same owner and parts give the same folder. It goes some
   * time after the last hold of it ended. StorageFull when too little of the disk is free to begin anything, and for a folder
   * that is empty when the owner's others hold as much as all of them may.
   */
  hold(owner: string, parts: readonly string[]): Promise<ScratchHold>
}
