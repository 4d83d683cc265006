import type { AttemptCheckout, WorkloadState } from '../../../ports/tasks/workloads.ts'

/** What is known here of the checkout of one attempt. */
export type AttemptFolder = {
  checkout: AttemptCheckout | undefined
  /** The commit that was checked out. */
  base: string | undefined
  /** The pod has its files. */
  isFilled: boolean
  work: Promise<void> | undefined
  /** Its program has ended, and what it changed is being kept. */
  isKeeping: boolean
  ending: AbortController
  /** Decided: the attempt is told to be in it from then on. */
  end: WorkloadState | undefined
}

/** Of an attempt in a git repository. */
export function openFolder(attempt: { folder: AttemptFolder | undefined }): AttemptFolder {
  attempt.folder ??= {
    checkout: undefined,
    base: undefined,
    isFilled: false,
    work: undefined,
    isKeeping: false,
    ending: new AbortController(),
    end: undefined,
  }
  return attempt.folder
}
