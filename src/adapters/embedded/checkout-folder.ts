// The folder of an attempt that works in a git repository: filled before its program starts, read after it has ended.
import { messageOf } from '../../errors.ts'
import { type Checkout, type CheckoutDiff, CheckoutError, type Checkouts } from '../../ports/checkouts.ts'
import type { AttemptKey, CheckoutChanges, CommandOutput, WorkloadSpec } from '../../ports/workloads.ts'
import type { AttemptEnd } from '../attempts/end.ts'
import { type AttemptSink, StartRefused } from './attempt.ts'

/** Stores what an attempt changed; called again once it is pushed. */
export type SaveChanges = (
  key: AttemptKey,
  changed: { changes: CheckoutChanges; output?: CommandOutput | undefined },
) => Promise<void>

/** Keeps the diff of an attempt that has not succeeded, as a file of its task. */
export type SaveDiff = (key: AttemptKey, filename: string, diff: string) => Promise<void>

export type CheckoutParts = { checkouts: Checkouts; saveChanges: SaveChanges; saveDiff: SaveDiff }

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

type Attempt = { spec: WorkloadSpec; sink: AttemptSink; signal: AbortSignal }

const interruptedPush = 'the push was interrupted; the diff is complete and can be applied by hand'

const leftDiff = 'changes.diff'

function describeChanges({ files }: CheckoutDiff): string {
  const [added, removed] = [sum(files.map((file) => file.added)), sum(files.map((file) => file.removed))]
  return `[changed: ${files.length === 1 ? '1 file' : `${files.length} files`}, +${added} -${removed}]`
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, next) => total + next, 0)
}

/** Pushes the commit; why not, when that fails: what was done is not lost for it. */
async function push(checkout: Checkout): Promise<Pick<CheckoutChanges, 'pushBranch' | 'pushError'>> {
  try {
    return { pushBranch: (await checkout.push()).branch }
  } catch (error) {
    if (error instanceof CheckoutError) return { pushError: error.message }
    throw error
  }
}

/** Undefined for an attempt without one. */
export function openCheckoutFolder(parts: CheckoutParts, attempt: Attempt): CheckoutFolder | undefined {
  const { spec, sink, signal } = attempt
  const asked = spec.checkout
  if (asked === undefined) return undefined
  let checkout: Checkout | undefined

  async function keepChanges(opened: Checkout, output: CommandOutput | undefined): Promise<void> {
    const { baseSHA, branch } = opened
    const diff = await opened.diff()
    const headSHA = await opened.commit(asked?.message ?? '')
    const changes = { baseSHA, diff, ...(branch && { branch }), ...(headSHA && { headSHA }) }
    const save = (more: Partial<CheckoutChanges> = {}) =>
      parts.saveChanges(spec.key, { changes: { ...changes, ...more }, output })
    await sink([describeChanges(diff)])
    if (headSHA === undefined || asked?.spec.pushBranch === undefined) return save()
    // First, so that the work outlives the service.
    await save({ pushError: interruptedPush })
    const pushed = await push(opened)
    await sink([
      pushed.pushError === undefined
        ? `[pushed: ${headSHA.slice(0, 12)} to ${pushed.pushBranch}]`
        : `[not pushed: ${pushed.pushError}]`,
    ])
    await save(pushed)
  }

  /** It changes nothing about the end of the attempt. */
  async function keepDiff(opened: Checkout): Promise<void> {
    try {
      const diff = await opened.diff()
      if (diff.files.length === 0) return
      await sink([describeChanges(diff)])
      if (diff.truncated) await sink(['[some of the changes are too large to be kept]'])
      if (diff.text === '') return
      await parts.saveDiff(spec.key, leftDiff, diff.text)
      await sink([`[the changes are kept: \`task download ${spec.taskName} ${leftDiff}\` fetches them]`])
    } catch (error) {
      await sink([`[the changes are lost: ${messageOf(error)}]`])
    }
  }

  async function keepChangesOrDiff(opened: Checkout, output: CommandOutput | undefined): Promise<void> {
    try {
      await keepChanges(opened, output)
    } catch (error) {
      await keepDiff(opened)
      throw error
    }
  }

  return {
    subPath: asked.spec.subPath ?? '',
    async fill(folder) {
      try {
        checkout = await parts.checkouts.prepare(asked.spec, folder, signal)
        await sink([`[checked out: ${checkout.branch ?? 'commit'} at ${checkout.baseSHA.slice(0, 12)}]`])
      } catch (error) {
        if (!(error instanceof CheckoutError)) throw error
        throw new StartRefused('CheckoutFailed', error.message)
      }
    },
    async finish({ end, output }) {
      if (checkout === undefined) return end
      try {
        // A stopped attempt pushes nothing, whatever its program said last.
        await (end.ok && !signal.aborted ? keepChangesOrDiff(checkout, output) : keepDiff(checkout))
        return end
      } catch (error) {
        const message = `What was changed could not be kept: ${messageOf(error)}`
        return { ok: false, reason: 'CheckoutFailed', message }
      } finally {
        await checkout.close().catch(() => undefined)
      }
    },
    close: async () => checkout?.close(),
  }
}
