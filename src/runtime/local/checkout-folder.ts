// The folder of an attempt that works in a git repository: filled before its program starts, read after it has ended.

import type { CommandOutput, WorkloadSpec } from '../../ports/tasks/workloads.ts'
import { type Checkout, CheckoutError, type SharedFiles } from '../../ports/workspaces/checkouts.ts'
import {
  type CheckoutParts,
  createChangesKeeper,
  describeCheckout,
  describeLostChanges,
} from '../attempts/checkout-changes.ts'
import type { AttemptEnd } from '../attempts/end.ts'
import { type AttemptSink, StartRefused } from './attempt.ts'

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
  const asked = spec.checkout
  if (asked === undefined) return undefined
  const keeper = createChangesKeeper(parts, { key: spec.key, taskName: spec.taskName, checkout: asked, tell: sink })
  let checkout: Checkout | undefined

  return {
    subPath: asked.spec.subPath ?? '',
    async fill(folder) {
      try {
        checkout = await parts.checkouts.prepare(asked.spec, folder, signal, shared)
        await sink([describeCheckout(checkout)])
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
        if (end.ok && !signal.aborted) await keeper.keepChanges(opened, output)
        else await keeper.keepDiff(async () => opened)
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
