// Folders of conversations whose tools the service itself runs (BUILT-027).

export type ScratchHold = {
  /** The folder; valid until `release`, and never removed before. */
  folder: string
  /** Aborts when the folder exceeds its limit, or what the owner's other folders leave to it: stop writing. */
  full: AbortSignal
  /** Releases it. Idempotent. */
  release(): Promise<void>
}

export interface Scratch {
  /**
   * The folder of one conversation, created when missing: the same owner and parts give the same folder. It is removed
   * some time after its last hold was released. StorageFull when the disk has too little space left, and for an empty
   * folder when the owner's others use all that is allowed.
   */
  hold(owner: string, parts: readonly string[]): Promise<ScratchHold>
}
