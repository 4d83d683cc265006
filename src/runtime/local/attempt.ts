// The common interface of every way to run an attempt, the folder of one that works in a git repository, and the
// removal of secrets from what a command leaves behind: log lines, output and the message of its end (SECRET-008).
import type { AdapterFailure } from '../../contract/kinds/tasks/failures.ts'
import type { TakeOutput } from '../../lib/line-reader.ts'
import { createRedactor, type Redactor } from '../../observability/redaction.ts'
import type { CommandOutput, LeftFile, WorkloadSpec } from '../../ports/tasks/workloads.ts'
import { type Checkout, CheckoutError, type SharedFiles } from '../../ports/workspaces/checkouts.ts'
import {
  type CheckoutParts,
  createChangesSaver,
  describeCheckout,
  describeLostChanges,
} from '../attempts/checkout-changes.ts'
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

/** Takes lines of a stream, and of the service about the attempt, which are of `stderr`; the program is slowed down until it resolves. */
export type AttemptSink = TakeOutput

/** An attempt that could not be started, with the reason shown in its task. */
export class StartRefused extends Error {
  readonly reason: AdapterFailure

  constructor(reason: AdapterFailure, message: string) {
    super(message)
    this.name = 'StartRefused'
    this.reason = reason
  }
}

type Redaction = {
  sink: AttemptSink
  /** The attempt as its callers may see it. */
  wrap(attempt: RunningAttempt): RunningAttempt
}

export function redactAttempt(sink: AttemptSink, values: string[]): Redaction {
  const redact = createRedactor(values, 'tokens')
  return {
    sink: (lines, stream) => sink(lines.map(redact), stream),
    wrap: (attempt) => ({
      ...attempt,
      ended: attempt.ended.then((end) => (end.ok ? end : { ...end, message: redact(end.message) })),
      readOutput: attempt.readOutput && redactOutput(attempt.readOutput, redact),
    }),
  }
}

function redactOutput(read: () => Promise<CommandOutput>, redact: Redactor): () => Promise<CommandOutput> {
  return async () => {
    const output = await read()
    return { ...output, text: redact(output.text) }
  }
}

type Ended = { end: AttemptEnd; output?: CommandOutput }

export type CheckoutFolder = {
  /** Where in the folder the work is done; empty: at its top. */
  subPath: string
  /** StartRefused when there is no checkout. */
  fill(folder: string): Promise<void>
  /** Call it once nothing of the program is left, and before the folder is removed. The end of the attempt. */
  finish(ended: Ended): Promise<AttemptEnd>
  /** Forgets an attempt that was not started. */
  close(): Promise<void>
}

type Attempt = { spec: WorkloadSpec; sink: AttemptSink; signal: AbortSignal; shared?: SharedFiles }

/** Undefined for an attempt without one. */
export function openCheckoutFolder(parts: CheckoutParts, attempt: Attempt): CheckoutFolder | undefined {
  const { spec, sink, signal, shared } = attempt
  const wanted = spec.checkout
  if (wanted === undefined) return undefined
  const log = (lines: string[]) => sink(lines, 'stderr')
  const saver = createChangesSaver(parts, { key: spec.key, taskName: spec.taskName, checkout: wanted, log })
  let checkout: Checkout | undefined

  return {
    subPath: wanted.spec.subPath ?? '',
    async fill(folder) {
      try {
        checkout = await parts.checkouts.prepare(wanted.spec, folder, signal, shared)
        await log([describeCheckout(checkout)])
      } catch (error) {
        if (!(error instanceof CheckoutError)) throw error
        throw new StartRefused('CheckoutFailed', error.message)
      }
    },
    async finish({ end, output }) {
      const opened = checkout
      if (opened === undefined) return end
      try {
        // A stopped attempt pushes nothing, whatever its program said last.
        if (end.ok && !signal.aborted) await saver.save(opened, output)
        else await saver.saveDiff(async () => opened)
        return end
      } catch (error) {
        return { ok: false, reason: 'CheckoutFailed', message: describeLostChanges(error) }
      } finally {
        await opened.close().catch(() => undefined)
      }
    },
    close: async () => checkout?.close(),
  }
}
