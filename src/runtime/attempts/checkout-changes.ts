// What an attempt changed in its checkout: part of its result when it has succeeded, else kept as a file of its task.
import { messageOf } from '../../errors.ts'
import type { AttemptCheckout, AttemptKey, CheckoutChanges, CommandOutput } from '../../ports/tasks/workloads.ts'
import { type Checkout, type CheckoutDiff, CheckoutError, type Checkouts } from '../../ports/workspaces/checkouts.ts'

/** Stores what an attempt changed; called again once it is pushed. */
export type SaveChanges = (
  key: AttemptKey,
  changed: { changes: CheckoutChanges; output?: CommandOutput | undefined },
) => Promise<void>

/** Keeps the diff of an attempt that has not succeeded, as a file of its task. */
export type SaveDiff = (key: AttemptKey, filename: string, diff: string) => Promise<void>

export type CheckoutParts = { checkouts: Checkouts; saveChanges: SaveChanges; saveDiff: SaveDiff }

export type CheckedOutAttempt = {
  key: AttemptKey
  taskName: string
  checkout: AttemptCheckout
  /** Takes lines for the log of the task. */
  log(lines: string[]): Promise<void> | void
}

export type ChangesSaver = {
  /** Of an attempt that has succeeded: stores its changes, then pushes them if they are to be pushed; else keeps the diff. */
  save(opened: Checkout, output: CommandOutput | undefined): Promise<void>
  /** Of any other attempt. Never rejects: it changes nothing about the end of the attempt. */
  saveDiff(open: () => Promise<Checkout>): Promise<void>
}

const interruptedPush = 'the push was interrupted; the diff is complete and can be applied by hand'

const leftDiff = 'changes.diff'

export function describeCheckout({ branch, baseSHA }: Checkout): string {
  return `[checked out: ${branch ?? 'commit'} at ${baseSHA.slice(0, 12)}]`
}

function describeChanges({ files }: CheckoutDiff): string {
  const [added, removed] = [sum(files.map((file) => file.added)), sum(files.map((file) => file.removed))]
  return `[changed: ${files.length === 1 ? '1 file' : `${files.length} files`}, +${added} -${removed}]`
}

const maxNamed = 10

/** No line where nothing is. */
function describeLeftOut({ leftOut }: CheckoutDiff): string[] {
  if (leftOut.length === 0) return []
  const named = leftOut.slice(0, maxNamed).map((folder) => `${folder}/`)
  const more = leftOut.length > maxNamed ? ` and ${leftOut.length - maxNamed} more` : ''
  return [`[left out, as builds make them again and the repository does not track them: ${named.join(', ')}${more}]`]
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

export function createChangesSaver(
  parts: Pick<CheckoutParts, 'saveChanges' | 'saveDiff'>,
  { key, taskName, checkout: wanted, log }: CheckedOutAttempt,
): ChangesSaver {
  async function saveDiff(opened: Checkout): Promise<void> {
    const diff = await opened.diff()
    if (diff.files.length === 0) return
    await log([describeChanges(diff), ...describeLeftOut(diff)])
    if (diff.truncated) await log(['[some of the changes are too large to be kept]'])
    if (diff.text === '') return
    await parts.saveDiff(key, leftDiff, diff.text)
    await log([`[the changes are kept: \`task download ${taskName} ${leftDiff}\` fetches them]`])
  }

  async function saveChanges(opened: Checkout, output: CommandOutput | undefined): Promise<void> {
    const { baseSHA, branch } = opened
    const diff = await opened.diff()
    const headSHA = await opened.commit(wanted.message)
    const changes = { baseSHA, diff, ...(branch && { branch }), ...(headSHA && { headSHA }) }
    const save = (more: Partial<CheckoutChanges> = {}) =>
      parts.saveChanges(key, { changes: { ...changes, ...more }, output })
    await log([describeChanges(diff), ...describeLeftOut(diff)])
    if (headSHA === undefined || wanted.spec.pushBranch === undefined) return save()
    // First, so that the work outlives the service.
    await save({ pushError: interruptedPush })
    const pushed = await push(opened)
    await log([
      pushed.pushError === undefined
        ? `[pushed: ${headSHA.slice(0, 12)} to ${pushed.pushBranch}]`
        : `[not pushed: ${pushed.pushError}]`,
    ])
    await save(pushed)
  }

  async function keepDiff(open: () => Promise<Checkout>): Promise<void> {
    try {
      await saveDiff(await open())
    } catch (error) {
      await log([`[the changes are lost: ${messageOf(error)}]`])
    }
  }

  return {
    saveDiff: keepDiff,
    async save(opened, output) {
      try {
        await saveChanges(opened, output)
      } catch (error) {
        await keepDiff(async () => opened)
        throw error
      }
    },
  }
}

/** Why the result of an attempt that has succeeded is not complete. */
export function describeLostChanges(error: unknown): string {
  return `What was changed could not be kept: ${messageOf(error)}`
}
