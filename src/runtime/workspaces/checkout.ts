// The repository of an attempt: the service checks out, reads the diff, commits and pushes (ADR 45); the workspace has the
// files, and keeps them from one task of a session to the next.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { workspaceFolders } from '../../contract/api/workspaces/execution-workspaces.ts'
import { messageOf } from '../../errors.ts'
import { removeTree } from '../../lib/tree-removal.ts'
import type { AttemptCheckout, CheckoutChanges, WorkloadState } from '../../ports/tasks/workloads.ts'
import { type Checkout, CheckoutError, type CheckoutSpec } from '../../ports/workspaces/checkouts.ts'
import type { WorkspaceFacts } from '../../ports/workspaces/workspace-records.ts'
import { createChangesSaver, describeCheckout, describeLostChanges } from '../attempts/checkout-changes.ts'
import { fillWorkspace, readWorkspace } from './archives.ts'
import { noteFacts, type WorkspaceAttempt, type WorkspaceWorkloadsOptions } from './attempt.ts'
import { failedState } from './commands.ts'
import { commandFolder } from './staging.ts'

type CheckedOut = NonNullable<WorkspaceFacts['checkout']>

const defaultBytes = 10 * 1024 ** 3
const defaultFiles = 1024 ** 2

function privateFolder({ checkouts: { folder } }: WorkspaceWorkloadsOptions, { holder }: WorkspaceAttempt): string {
  return join(folder, `${holder.taskUid}-${holder.attempt}`)
}

async function emptyFolder(folder: string): Promise<void> {
  await removeTree(folder)
  await mkdir(folder, { recursive: true, mode: 0o700 })
}

/** Undefined: something else has to be checked out. */
function findThere({ facts }: WorkspaceAttempt, { url, branch, ref }: CheckoutSpec): CheckedOut | undefined {
  const { checkout } = facts
  return checkout?.url === url && checkout.branch === branch && checkout.ref === ref ? checkout : undefined
}

/** Unless an earlier task of the session left it there. */
export async function bringCheckout(
  options: WorkspaceWorkloadsOptions,
  attempt: WorkspaceAttempt,
  { wanted, reused }: { wanted: AttemptCheckout | undefined; reused: boolean },
): Promise<void> {
  const { workspaces, facts, holder } = attempt
  if (wanted === undefined) return
  const there = findThere(attempt, wanted.spec)
  if (there !== undefined) {
    return options.onLog(holder, [`[the checkout of the session is there: since ${there.baseSHA.slice(0, 12)}]`])
  }
  const folder = privateFolder(options, attempt)
  await emptyFolder(folder)
  const opened = await options.checkouts.checkouts.prepare(wanted.spec, folder, attempt.stopping.signal)
  await options.onLog(holder, [describeCheckout(opened)])
  // What an earlier task has left running writes where the repository is to be, which then cannot be emptied.
  if (reused) await workspaces.scrub(facts.claim, [])
  const at = `${commandFolder('checkout')}.tar.gz`
  await fillWorkspace(options, attempt, { from: folder, to: workspaceFolders.work, at })
  const { url, branch, ref } = wanted.spec
  const checkout = { url, ...(branch !== undefined && { branch }), ...(ref !== undefined && { ref }) }
  await noteFacts(options, attempt, { checkout: { ...checkout, baseSHA: opened.baseSHA } })
  // Only the private side is needed from here on.
  await emptyFolder(folder)
}

/** What an earlier task of the session checked out; the branch that it named may be gone by now. */
async function prepareAgain(
  { checkouts: { checkouts } }: WorkspaceWorkloadsOptions,
  { priorDiff: _prior, ...spec }: CheckoutSpec,
  folder: string,
): Promise<Checkout> {
  const signal = AbortSignal.timeout(1_800_000)
  try {
    return await checkouts.prepare(spec, folder, signal)
  } catch (error) {
    if (!(error instanceof CheckoutError) || error.fault !== 'RefMissing') throw error
    const { branch: _branch, prBaseBranch: _base, ...commit } = spec
    await emptyFolder(folder)
    return checkouts.prepare(commit, folder, signal)
  }
}

/** As it was checked out, with the files that are in the workspace now. */
async function readBack(
  options: WorkspaceWorkloadsOptions,
  attempt: WorkspaceAttempt,
  spec: CheckoutSpec,
): Promise<Checkout> {
  const { checkouts } = options.checkouts
  const folder = privateFolder(options, attempt)
  const { checkout } = attempt.facts
  if (checkout === undefined) throw new Error('it is not known what was checked out')
  const known = await checkouts.resume(spec, folder)
  if (known === undefined) await emptyFolder(folder)
  const opened = known ?? (await prepareAgain(options, { ...spec, ref: checkout.baseSHA }, folder))
  await emptyFolder(folder)
  const at = `${commandFolder('changes')}.tar.gz`
  const { bytes: maxBytes = defaultBytes, files: maxFiles = defaultFiles } = spec.limits ?? {}
  await readWorkspace(options, attempt, {
    from: workspaceFolders.work,
    to: folder,
    at,
    maxBytes,
    maxFiles,
  })
  return opened
}

/** What is pushed is what the next task of the session begins with. */
function findNextBase(spec: CheckoutSpec, changes: CheckoutChanges | undefined): string | undefined {
  const isPushed = changes?.pushBranch !== undefined && changes.pushError === undefined
  return isPushed && spec.forkRepo === undefined ? changes.headSHA : undefined
}

async function keep(
  options: WorkspaceWorkloadsOptions,
  attempt: WorkspaceAttempt,
  { checkout, isSuccess }: { checkout: AttemptCheckout; isSuccess: boolean },
): Promise<void> {
  const { holder } = attempt
  let saved: CheckoutChanges | undefined
  const parts = {
    ...options.checkouts,
    saveChanges: (...[key, changed]: Parameters<typeof options.checkouts.saveChanges>) => {
      saved = changed.changes
      return options.checkouts.saveChanges(key, changed)
    },
  }
  const key = { taskUid: holder.taskUid, attempt: holder.attempt }
  const log = (lines: string[]) => options.onLog(holder, lines)
  const saver = createChangesSaver(parts, { key, taskName: holder.taskName, checkout, log })
  const open = () => readBack(options, attempt, checkout.spec)
  if (!isSuccess) return saver.saveDiff(open)
  await saver.save(await open(), undefined)
  const next = findNextBase(checkout.spec, saved)
  if (next !== undefined && attempt.facts.checkout !== undefined) {
    await noteFacts(options, attempt, { checkout: { ...attempt.facts.checkout, baseSHA: next } })
  }
}

/** Removes the private side. */
export async function forgetCheckout(
  options: WorkspaceWorkloadsOptions,
  attempt: WorkspaceAttempt,
  spec: CheckoutSpec,
): Promise<void> {
  const folder = privateFolder(options, attempt)
  await (await options.checkouts.checkouts.resume(spec, folder))?.close()
  await removeTree(folder)
}

/** Keeps what the attempt has changed; the end of the attempt. */
export async function takeCheckout(
  options: WorkspaceWorkloadsOptions,
  attempt: WorkspaceAttempt,
  end: WorkloadState,
): Promise<WorkloadState> {
  if (attempt.facts.checkout === undefined) return end
  const checkout = await options.checkouts.find(attempt.holder)
  if (checkout === undefined) return end
  try {
    await keep(options, attempt, { checkout, isSuccess: end.phase === 'Succeeded' })
    return end
  } catch (error) {
    await options.onLog(attempt.holder, [`[${messageOf(error)}]`])
    return failedState('CheckoutFailed', describeLostChanges(error), options.clock.now())
  } finally {
    await forgetCheckout(options, attempt, checkout.spec).catch(() => undefined)
  }
}
