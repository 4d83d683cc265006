// The common interface of every way to run an attempt.
import type { PlaceFailure } from '../../contract/kinds/tasks/failures.ts'
import type { LeftFile } from '../../ports/tasks/left-files.ts'
import type { CommandOutput } from '../../ports/tasks/workloads.ts'
import type { AttemptEnd } from '../attempts/end.ts'

export type RunningAttempt = {
  /** Resolves when nothing of it is running any more and its output is read; never rejects. */
  ended: Promise<AttemptEnd>
  terminate(): Promise<void>
  kill(): Promise<void>
  /** Present for commands. */
  readOutput?: () => Promise<CommandOutput>
  /** The files in its artifact folder; present for commands that have one. */
  readLeftFiles?: () => AsyncIterable<LeftFile>
  /** Removes what it left behind, after its end. */
  release(): Promise<void>
}

/** Consumes lines of output; the program is slowed down until it resolves. */
export type AttemptSink = (lines: string[]) => Promise<void> | void

/** An attempt that could not be started, with the reason shown in its task. */
export class StartRefused extends Error {
  readonly reason: PlaceFailure

  constructor(reason: PlaceFailure, message: string) {
    super(message)
    this.name = 'StartRefused'
    this.reason = reason
  }
}
