// What each way to run an attempt gives back.
import type { PlaceFailure } from '../../contract/failures.ts'
import type { LeftFile } from '../../ports/left-files.ts'
import type { CommandOutput } from '../../ports/workloads.ts'
import type { AttemptEnd } from '../attempts/end.ts'

export type RunningAttempt = {
  /** Resolves when nothing of it runs any more and its output is read; never rejects. */
  ended: Promise<AttemptEnd>
  terminate(): Promise<void>
  kill(): Promise<void>
  /** Present for commands. */
  readOutput?: () => Promise<CommandOutput>
  /** What is in its folder for artifacts; present for commands that have one. */
  readLeftFiles?: () => AsyncIterable<LeftFile>
  /** Removes what it left, after its end. */
  release(): Promise<void>
}

/** Takes lines of output; is waited for, which slows the program down. */
export type AttemptSink = (lines: string[]) => Promise<void> | void

/** An attempt that could not be started, with the reason that its task shows. */
export class StartRefused extends Error {
  readonly reason: PlaceFailure

  constructor(reason: PlaceFailure, message: string) {
    super(message)
    this.name = 'StartRefused'
    this.reason = reason
  }
}
