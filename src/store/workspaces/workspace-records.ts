// Execution workspaces in SQL: one row each, with the attempt that holds it.
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AttemptKey } from '../../ports/tasks/workloads.ts'
import type {
  HoldRequest,
  HoldStep,
  WorkspaceFacts,
  WorkspaceKey,
  WorkspaceRecord,
  WorkspaceRecords,
} from '../../ports/workspaces/workspace-records.ts'
import type { Database, Tx } from '../database/database.ts'
import { type Fragment, listSql, sql } from '../database/statement.ts'
import { decodeText, encodeText } from '../database/stored-text.ts'

type Row = {
  provider: string
  namespace: string
  name: string
  owner: string
  task_uid: string | null
  attempt: number | null
  task_name: string | null
  step: string | null
  facts: string
  created_at: string
  used_at: string
}

const columns = sql`provider, namespace, name, owner, task_uid, attempt, task_name, step, facts, created_at, used_at`
/** Holds one that is being deleted: no task has it as its uid. */
const nobody = '-'
/** Holds one that is lent, with the time since when as the name of its task. */
const borrower = '+'

function whereKey({ provider, namespace, name }: WorkspaceKey): Fragment {
  return sql`provider = ${provider} and namespace = ${namespace} and name = ${name}`
}

function whereHolder({ taskUid, attempt }: AttemptKey): Fragment {
  return sql`task_uid = ${taskUid} and attempt = ${attempt}`
}

function readFacts(text: string): WorkspaceFacts {
  return JSON.parse(decodeText(text)) as WorkspaceFacts
}

function writeFacts(facts: WorkspaceFacts): string {
  return encodeText(JSON.stringify(facts))
}

function holderOf({ task_uid, attempt, task_name, owner }: Row): Pick<WorkspaceRecord, 'holder' | 'lentAt'> {
  if (task_uid === null || task_uid === nobody) return {}
  if (task_uid === borrower) return { lentAt: new Date(task_name ?? 0) }
  const taskName = task_name ?? ''
  return { holder: { taskUid: task_uid, attempt: Number(attempt), namespace: owner, taskName } }
}

function toRecord(row: Row): WorkspaceRecord {
  return {
    provider: row.provider as WorkspaceRecord['provider'],
    namespace: row.namespace,
    name: row.name,
    owner: row.owner,
    ...holderOf(row),
    isSeized: row.task_uid === nobody,
    ...(row.step !== null && { step: row.step as HoldStep }),
    facts: readFacts(row.facts),
    createdAt: new Date(row.created_at),
    usedAt: new Date(row.used_at),
  }
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

type Held = 'held' | 'busy' | 'full'

async function holdNew(tx: Tx, { holder, facts, quota, ...key }: HoldRequest, now: string): Promise<Held> {
  const { taskUid, attempt, taskName, namespace: owner } = holder
  if (await isFull(tx, owner, quota)) return 'full'
  await tx.run(sql`insert into execution_workspaces (${columns}) values (${key.provider}, ${key.namespace},
    ${key.name}, ${owner}, ${taskUid}, ${attempt}, ${taskName}, 'claiming', ${writeFacts(facts)}, ${now}, ${now})`)
  return 'held'
}

async function holdIn(tx: Tx, request: HoldRequest, now: string): Promise<Held> {
  const { taskUid, attempt, taskName, namespace: owner } = request.holder
  await lockOwner(tx, owner)
  const found = await tx.first(sql<Row>`select ${columns} from execution_workspaces where ${whereKey(request)}`)
  if (found === undefined) return holdNew(tx, request, now)
  if (found.task_uid === taskUid && Number(found.attempt) === attempt) return 'held'
  if (found.task_uid !== null) return 'busy'
  const kept = { ...readFacts(found.facts), cleanupPolicy: request.facts.cleanupPolicy, isSuspended: false }
  await tx.run(sql`update execution_workspaces set task_uid = ${taskUid}, attempt = ${attempt},
    task_name = ${taskName}, step = 'claiming', facts = ${writeFacts(kept)}, used_at = ${now}
    where ${whereKey(request)}`)
  return 'held'
}

export function createWorkspaceRecords({ database, clock }: { database: Database; clock: Clock }): WorkspaceRecords {
  const nowText = () => clock.now().toISOString()

  async function find(where: Fragment): Promise<WorkspaceRecord | undefined> {
    const row = await database.read.first(sql<Row>`select ${columns} from execution_workspaces where ${where}`)
    return row && toRecord(row)
  }

  return {
    hold: (request) => database.write((tx) => holdIn(tx, request, nowText())),

    async note(key, holder, { step, facts = {} }) {
      const where = sql`${whereKey(key)} and ${whereHolder(holder)}`
      await database.write(async (tx) => {
        const found = await tx.first(sql<Row>`select ${columns} from execution_workspaces where ${where}`)
        if (found === undefined) throw new SvcError('Conflict', 'the attempt does not hold its workspace any more')
        const changed = writeFacts({ ...readFacts(found.facts), ...facts })
        await tx.run(
          sql`update execution_workspaces set facts = ${changed}, step = ${step ?? found.step} where ${where}`,
        )
      })
    },

    async release(key, holder) {
      const where = sql`${whereKey(key)} and ${whereHolder(holder)}`
      await database.write((tx) =>
        tx.run(sql`update execution_workspaces set task_uid = null, attempt = null, task_name = null, step = null,
          used_at = ${nowText()} where ${where}`),
      )
    },

    async lend(key) {
      const lentAt = nowText()
      const { changes } = await database.write((tx) =>
        tx.run(sql`update execution_workspaces set task_uid = ${borrower}, attempt = 0, task_name = ${lentAt}
          where ${whereKey(key)} and task_uid is null`),
      )
      return changes > 0 ? new Date(lentAt) : undefined
    },

    async giveBack(key, lentAt, facts) {
      const where = sql`${whereKey(key)} and task_uid = ${borrower} and task_name = ${lentAt.toISOString()}`
      await database.write(async (tx) => {
        const found = await tx.first(sql<Row>`select ${columns} from execution_workspaces where ${where}`)
        if (found === undefined) return
        const changed = writeFacts({ ...readFacts(found.facts), ...facts })
        await tx.run(sql`update execution_workspaces set facts = ${changed}, task_uid = null, attempt = null,
          task_name = null, step = null where ${where}`)
      })
    },

    async seize(key, holder) {
      const own = holder === undefined ? sql`` : sql` or (${whereHolder(holder)})`
      const { changes } = await database.write((tx) =>
        tx.run(sql`update execution_workspaces set task_uid = ${nobody}, attempt = 0
          where ${whereKey(key)} and (task_uid is null or task_uid = ${nobody}${own})`),
      )
      return changes > 0
    },

    async remove(key) {
      await database.write((tx) => tx.run(sql`delete from execution_workspaces where ${whereKey(key)}`))
    },

    get: (key) => find(whereKey(key)),
    ofAttempt: (attempt) => find(whereHolder(attempt)),

    async list({ owners } = {}) {
      if (owners?.length === 0) return []
      const where = owners === undefined ? sql`1 = 1` : sql`owner in (${listSql([...owners])})`
      const rows = await database.read.all(
        sql<Row>`select ${columns} from execution_workspaces where ${where} order by created_at, name`,
      )
      return rows.map(toRecord)
    },
  }
}
