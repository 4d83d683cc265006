// Execution workspaces in SQL: one row each, with the attempt that holds it.
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { dropUndefined } from '../../lib/json.ts'
import type { AttemptKey } from '../../ports/tasks/workloads.ts'
import type {
  LeaseStep,
  WorkspaceFacts,
  WorkspaceKey,
  WorkspaceLeaseRequest,
  WorkspaceRecord,
  WorkspaceRecords,
} from '../../ports/workspaces/workspace-records.ts'
import type { Database, Tx } from '../database/database.ts'
import { type Fragment, sql } from '../database/statement.ts'
import { escapedJson, number, optional, type RecordOf, Table, time, word, wordOf } from '../database/table.ts'

const workspaces = new Table('execution_workspaces', {
  provider: wordOf<WorkspaceRecord['provider']>(),
  namespace: word,
  name: word,
  owner: word,
  taskUid: optional(word),
  attempt: optional(number),
  taskName: optional(word),
  step: optional(wordOf<LeaseStep>()),
  facts: escapedJson<WorkspaceFacts>(),
  createdAt: time,
  usedAt: time,
})
type StoredWorkspace = RecordOf<typeof workspaces>

/** Holds one that is being deleted: no task has it as its uid. */
const nobody = '-'
/** Holds one that is lent, with the time since when as the name of its task. */
const borrower = '+'

function whereKey({ provider, namespace, name }: WorkspaceKey): Fragment {
  return workspaces.match({ provider, namespace, name })
}

function whereHolder({ taskUid, attempt }: AttemptKey): Fragment {
  return sql`task_uid = ${taskUid} and attempt = ${attempt}`
}

function toRecord({ taskUid, attempt, taskName = '', ...record }: StoredWorkspace): WorkspaceRecord {
  const isSeized = taskUid === nobody
  if (taskUid === undefined || isSeized) return { ...record, isSeized }
  if (taskUid === borrower) return { ...record, isSeized, lentAt: new Date(taskName) }
  return { ...record, isSeized, holder: { taskUid, attempt: attempt ?? 0, namespace: record.owner, taskName } }
}

/** One at a time for each namespace, so that two do not both find room. */
async function lockOwner(tx: Tx, owner: string): Promise<void> {
  await tx.run(sql`insert into execution_workspace_owners (owner) values (${owner})
    on conflict (owner) do update set owner = excluded.owner`)
}

async function isFull(tx: Tx, owner: string, quota: number): Promise<boolean> {
  if (quota === 0) return false
  const found = await tx.first(
    sql<{ count: number }>`select count(*) as count from execution_workspaces where owner = ${owner}`,
  )
  return Number(found?.count ?? 0) >= quota
}

type LeaseResult = 'leased' | 'busy' | 'full'

async function leaseNew(
  tx: Tx,
  { holder, facts, quota, ...key }: WorkspaceLeaseRequest,
  at: Date,
): Promise<LeaseResult> {
  const { namespace: owner, ...whose } = holder
  if (await isFull(tx, owner, quota)) return 'full'
  await tx.run(workspaces.insert({ ...whose, ...key, owner, step: 'claiming', facts, createdAt: at, usedAt: at }))
  return 'leased'
}

async function leaseIn(tx: Tx, request: WorkspaceLeaseRequest, usedAt: Date): Promise<LeaseResult> {
  const { taskUid, attempt, taskName, namespace: owner } = request.holder
  await lockOwner(tx, owner)
  const found = await workspaces.first(tx, sql`where ${whereKey(request)}`)
  if (found === undefined) return leaseNew(tx, request, usedAt)
  if (found.taskUid === taskUid && found.attempt === attempt) return 'leased'
  if (found.taskUid !== undefined) return 'busy'
  const { cleanupPolicy, requester, secrets } = request.facts
  const facts = dropUndefined({ ...found.facts, cleanupPolicy, requester, secrets, isSuspended: false })
  const change = workspaces.set({ taskUid, attempt, taskName, step: 'claiming', facts, usedAt })
  await tx.run(sql`update execution_workspaces set ${change} where ${whereKey(request)}`)
  return 'leased'
}

const released = workspaces.set({ taskUid: undefined, attempt: undefined, taskName: undefined, step: undefined })

export function createWorkspaceRecords({ database, clock }: { database: Database; clock: Clock }): WorkspaceRecords {
  async function find(where: Fragment): Promise<WorkspaceRecord | undefined> {
    const found = await workspaces.first(database.read, sql`where ${where}`)
    return found && toRecord(found)
  }

  /** Whether any was changed. */
  async function change(set: Fragment, where: Fragment): Promise<boolean> {
    const { changes } = await database.write((tx) => tx.run(sql`update execution_workspaces set ${set} where ${where}`))
    return changes > 0
  }

  return {
    lease: (request) => database.write((tx) => leaseIn(tx, request, clock.now())),

    async note(key, holder, { step, facts = {} }) {
      const where = sql`${whereKey(key)} and ${whereHolder(holder)}`
      await database.write(async (tx) => {
        const found = await workspaces.first(tx, sql`where ${where}`)
        if (found === undefined) throw new SvcError('Conflict', 'the attempt does not hold its workspace any more')
        const changed = workspaces.set({ facts: { ...found.facts, ...facts }, step: step ?? found.step })
        await tx.run(sql`update execution_workspaces set ${changed} where ${where}`)
      })
    },

    async release(key, holder) {
      const set = sql`${released}, ${workspaces.set({ usedAt: clock.now() })}`
      await change(set, sql`${whereKey(key)} and ${whereHolder(holder)}`)
    },

    async lend(key) {
      const lentAt = clock.now()
      const lent = workspaces.set({ taskUid: borrower, attempt: 0, taskName: lentAt.toISOString() })
      return (await change(lent, sql`${whereKey(key)} and task_uid is null`)) ? lentAt : undefined
    },

    async returnLoan(key, lentAt, facts) {
      const where = sql`${whereKey(key)} and task_uid = ${borrower} and task_name = ${lentAt.toISOString()}`
      await database.write(async (tx) => {
        const found = await workspaces.first(tx, sql`where ${where}`)
        if (found === undefined) return
        const changed = workspaces.set({ facts: { ...found.facts, ...facts } })
        await tx.run(sql`update execution_workspaces set ${changed}, ${released} where ${where}`)
      })
    },

    seize(key, holder) {
      const own = holder === undefined ? sql`` : sql` or (${whereHolder(holder)})`
      const seized = workspaces.set({ taskUid: nobody, attempt: 0 })
      return change(seized, sql`${whereKey(key)} and (task_uid is null or task_uid = ${nobody}${own})`)
    },

    async remove(key) {
      await database.write((tx) => tx.run(sql`delete from execution_workspaces where ${whereKey(key)}`))
    },

    get: (key) => find(whereKey(key)),
    ofAttempt: (attempt) => find(whereHolder(attempt)),

    async list({ owners } = {}) {
      const where = owners === undefined ? sql`1 = 1` : workspaces.oneOf('owner', owners)
      return (await workspaces.all(database.read, sql`where ${where} order by created_at, name`)).map(toRecord)
    },
  }
}
