// What nobody holds: workspaces that were kept long enough, that could not be deleted at once, or that are not known at all.
import { messageOf } from '../../errors.ts'
import type { AttemptKey, Workloads } from '../../ports/tasks/workloads.ts'
import type { ExecutionWorkspaces } from '../../ports/workspaces/execution-workspaces.ts'
import type {
  WorkspaceHolder,
  WorkspaceKey,
  WorkspaceRecord,
  WorkspaceRecords,
} from '../../ports/workspaces/workspace-records.ts'
import type { WorkspaceWorkloadsOptions } from './attempt.ts'

export type WorkspaceSweepOptions = Pick<WorkspaceWorkloadsOptions, 'providers' | 'retired' | 'records' | 'clock'> & {
  /** How long one that nobody uses is kept. */
  retentionMs: number
  /** How long it is kept ready for the next task. */
  idleMs: number
  /** Whether the attempt is the live one of a running task. */
  isLive(holder: WorkspaceHolder): Promise<boolean>
  workloads: Pick<Workloads, 'remove'>
  onFault(message: string): void
}

/** Longer than suspending one takes, or a command that a person runs in it. */
const maxLoanMs = 900_000

/** Deletes it, unless an attempt holds it by now. */
export async function endWorkspace(
  { providers, retired, records }: Pick<WorkspaceSweepOptions, 'providers' | 'retired' | 'records'>,
  { provider, namespace, name, facts }: WorkspaceRecord,
): Promise<boolean> {
  const key = { provider, namespace, name }
  const workspaces = providers[provider] ?? retired?.[provider]
  if (workspaces === undefined) {
    throw new Error(
      `workspace "${name}" of namespace "${namespace}" is left behind, because provider ${provider} is not enabled; ` +
        'enable it again to have it deleted',
    )
  }
  if (!(await records.seize(key))) return false
  await workspaces.delete(facts.claim)
  await records.remove(key)
  return true
}

async function suspend({ providers, records }: WorkspaceSweepOptions, record: WorkspaceRecord): Promise<boolean> {
  const { provider, namespace, name, facts } = record
  const key = { provider, namespace, name }
  const workspaces = providers[provider]
  const lentAt = workspaces && (await records.lend(key))
  if (lentAt === undefined) return false
  let isSuspended = false
  try {
    await workspaces?.suspend(facts.claim)
    isSuspended = true
  } finally {
    await records.returnLoan(key, lentAt, { isSuspended })
  }
  return true
}

/** Gives back what was lent before then: whoever had it has not come back. Its files are as they were. */
export async function releaseLost(records: WorkspaceRecords, before: Date): Promise<number> {
  const lost = (await records.list()).flatMap(({ lentAt, ...key }) =>
    lentAt === undefined || lentAt >= before ? [] : [{ key, lentAt }],
  )
  for (const { key, lentAt } of lost) await records.returnLoan(key, lentAt, { isSuspended: false })
  return lost.length
}

async function settle(options: WorkspaceSweepOptions, record: WorkspaceRecord): Promise<boolean> {
  const { holder, isSeized, lentAt, usedAt, facts } = record
  if (lentAt !== undefined) return false
  if (holder !== undefined) {
    if (await options.isLive(holder)) return false
    const attempt: AttemptKey = { taskUid: holder.taskUid, attempt: holder.attempt }
    await options.workloads.remove(attempt)
    return true
  }
  const idleMs = options.clock.now().getTime() - usedAt.getTime()
  const isOff = options.providers[record.provider] === undefined
  if (isSeized || isOff || idleMs >= options.retentionMs) return endWorkspace(options, record)
  if (idleMs >= options.idleMs && facts.isSuspended !== true) return suspend(options, record)
  return false
}

/** A claim is recorded before it is made: what is in no record was left by a crash, or by an installation before this. */
async function deleteUnknown(
  { records }: WorkspaceSweepOptions,
  provider: WorkspaceKey['provider'],
  workspaces: ExecutionWorkspaces,
): Promise<number> {
  let count = 0
  for await (const { claim } of workspaces.list()) {
    const { namespace, name } = claim
    if ((await records.get({ provider, namespace, name })) !== undefined) continue
    await workspaces.delete(claim)
    count += 1
  }
  return count
}

/** Returns how many it has ended or suspended; what fails is tried again the next time. */
export async function sweepWorkspaces(options: WorkspaceSweepOptions): Promise<number> {
  let count = 0
  const attempt = async (work: Promise<number>) => {
    try {
      count += await work
    } catch (error) {
      options.onFault(messageOf(error))
    }
  }
  await attempt(releaseLost(options.records, new Date(options.clock.now().getTime() - maxLoanMs)))
  for (const record of await options.records.list()) {
    await attempt(settle(options, record).then((isDone) => (isDone ? 1 : 0)))
  }
  for (const [provider, workspaces] of Object.entries(options.providers)) {
    await attempt(deleteUnknown(options, provider as WorkspaceKey['provider'], workspaces))
  }
  return count
}
