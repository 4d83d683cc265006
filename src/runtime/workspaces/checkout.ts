// The repository of an attempt: the service checks out, reads the diff, commits and pushes (ADR 45); the workspace has the
// files, and keeps them from one task of a session to the next.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { workspaceFolders } from '../../contract/api/workspaces/execution-workspace.ts'
import { messageOf } from '../../errors.ts'
import type { AttemptCheckout, CheckoutChanges, WorkloadState } from '../../ports/tasks/workloads.ts'
import { type Checkout, CheckoutError, type CheckoutSpec } from '../../ports/workspaces/checkouts.ts'
import type { WorkspaceFacts } from '../../ports/workspaces/workspace-records.ts'
import { createChangesKeeper, describeCheckout, describeLostChanges } from '../attempts/checkout-changes.ts'
import { removeTree } from '../folders/removal.ts'
import { fillWorkspace, readWorkspace } from './archives.ts'
import { type Held, noteFacts, type WorkspaceWorkloadsOptions } from './held.ts'
import { fail } from './outcome.ts'
import { folderOf } from './staging.ts'

type CheckedOut = NonNullable<WorkspaceFacts['checkout']>

const usualBytes = 10 * 1024 ** 3
const usualFiles = 1024 ** 2

function privateFolder({ checkouts: { folder } }: WorkspaceWorkloadsOptions, { holder }: Held): string {
  return join(folder, `${holder.taskUid}-${holder.attempt}`)
}

async function emptyFolder(folder: string): Promise<void> {
  await removeTree(folder)
  await mkdir(folder, { recursive: true, mode: 0o700 })
}

/** Undefined: something else has to be checked out. */
function findThere({ facts }: Held, { url, branch, ref }: CheckoutSpec): CheckedOut | undefined {
  const { checkout } = facts
  return checkout?.url === url && checkout.branch === branch && checkout.ref === ref ? checkout : undefined
}

/** Unless an earlier task of the session left it there. */
export async function bringCheckout(
  options: WorkspaceWorkloadsOptions,
  held: Held,
  { asked, reused }: { asked: AttemptCheckout | undefined; reused: boolean },
): Promise<void> {
  const { workspaces, facts, holder } = held
  if (asked === undefined) return
  const there = findThere(held, asked.spec)
  if (there !== undefined) {
    return options.onLog(holder, [`[the checkout of the session is there: since ${there.baseSHA.slice(0, 12)}]`])
  }
  const folder = privateFolder(options, held)
  await emptyFolder(folder)
  const opened = await options.checkouts.checkouts.prepare(asked.spec, folder, held.stopping.signal)
  await options.onLog(holder, [describeCheckout(opened)])
  // What an earlier task has left running writes where the repository is to be, which then cannot be emptied.
  if (reused) await workspaces.scrub(facts.claim, [])
  const at = `${folderOf('checkout')}.tar.gz`
  await fillWorkspace(options, held, { from: folder, to: workspaceFolders.work, at })
  const { url, branch, ref } = asked.spec
  const checkout = { url, ...(branch !== undefined && { branch }), ...(ref !== undefined && { ref }) }
  await noteFacts(options, held, { checkout: { ...checkout, baseSHA: opened.baseSHA } })
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
async function readBack(options: WorkspaceWorkloadsOptions, held: Held, spec: CheckoutSpec): Promise<Checkout> {
  const { checkouts } = options.checkouts
  const folder = privateFolder(options, held)
  const { checkout } = held.facts
  if (checkout === undefined) throw new Error('it is not known what was checked out')
  const known = await checkouts.resume(spec, folder)
  if (known === undefined) await emptyFolder(folder)
  const opened = known ?? (await prepareAgain(options, { ...spec, ref: checkout.baseSHA }, folder))
  await emptyFolder(folder)
  const at = `${folderOf('changes')}.tar.gz`
  const { bytes: mostBytes = usualBytes, files: mostFiles = usualFiles } = spec.limits ?? {}
  await readWorkspace(options, held, { from: workspaceFolders.work, to: folder, at, mostBytes, mostFiles })
  return opened
}

/** What is pushed is what the next task of the session begins with. */
function findNextBase(spec: CheckoutSpec, changes: CheckoutChanges | undefined): string | undefined {
  const isPushed = changes?.pushBranch !== undefined && changes.pushError === undefined
  return isPushed && spec.forkRepo === undefined ? changes.headSHA : undefined
}

async function keep(
  options: WorkspaceWorkloadsOptions,
  held: Held,
  { checkout, isSuccess }: { checkout: AttemptCheckout; isSuccess: boolean },
): Promise<void> {
  const { holder } = held
  let saved: CheckoutChanges | undefined
  const parts = {
    ...options.checkouts,
    saveChanges: (...[key, changed]: Parameters<typeof options.checkouts.saveChanges>) => {
      saved = changed.changes
      return options.checkouts.saveChanges(key, changed)
    },
  }
  const key = { taskUid: holder.taskUid, attempt: holder.attempt }
  const tell = (lines: string[]) => options.onLog(holder, lines)
  const keeper = createChangesKeeper(parts, { key, taskName: holder.taskName, checkout, tell })
  const open = () => readBack(options, held, checkout.spec)
  if (!isSuccess) return keeper.keepDiff(open)
  await keeper.keepChanges(await open(), undefined)
  const next = findNextBase(checkout.spec, saved)
  if (next !== undefined && held.facts.checkout !== undefined) {
    await noteFacts(options, held, { checkout: { ...held.facts.checkout, baseSHA: next } })
  }
}

/** Removes the private side. */
export async function forgetCheckout(
  options: WorkspaceWorkloadsOptions,
  held: Held,
  spec: CheckoutSpec,
): Promise<void> {
  const folder = privateFolder(options, held)
  await (await options.checkouts.checkouts.resume(spec, folder))?.close()
  await removeTree(folder)
}

/** Keeps what the attempt has changed; the end of the attempt. */
export async function takeCheckout(
  options: WorkspaceWorkloadsOptions,
  held: Held,
  end: WorkloadState,
): Promise<WorkloadState> {
  if (held.facts.checkout === undefined) return end
  const checkout = await options.checkouts.find(held.holder)
  if (checkout === undefined) return end
  try {
    await keep(options, held, { checkout, isSuccess: end.phase === 'Succeeded' })
    return end
  } catch (error) {
    await options.onLog(held.holder, [`[${messageOf(error)}]`])
    return fail('CheckoutFailed', describeLostChanges(error), options.clock.now())
  } finally {
    await forgetCheckout(options, held, checkout.spec).catch(() => undefined)
  }
}
