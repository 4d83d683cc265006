// Steps in SQL. The counter row of the task is locked until the commit, so numbers become visible in order.
import { type StepReport, stepLimits } from '../../contract/api/tasks/steps.ts'
import type { StepQuery, Steps, TracedStep } from '../../ports/tasks/steps.ts'
import type { AttemptKey } from '../../ports/tasks/workloads.ts'
import type { Database, Tx } from '../database/database.ts'
import { createSharedListeners } from '../database/listeners.ts'
import { joinSql, listSql, sql } from '../database/statement.ts'
import { escapedJson, number, optional, type RecordOf, Table, text, word, wordOf } from '../database/table.ts'

type Detail = Pick<StepReport, 'input' | 'output'>

const channel = 'steps'

const table = new Table('steps', {
  taskUid: word,
  attempt: number,
  id: text,
  seq: number,
  kind: wordOf<StepReport['kind']>(),
  step: escapedJson<Omit<StepReport, 'id' | 'kind' | keyof Detail>>(),
  detail: optional(escapedJson<Detail>()),
})

async function takeSeqs(tx: Tx, taskUid: string, count: number): Promise<number> {
  const row = await tx.first(sql<{ last_seq: number }>`insert into step_counters (task_uid, last_seq)
    values (${taskUid}, ${count})
    on conflict (task_uid) do update set last_seq = step_counters.last_seq + ${count} returning last_seq`)
  return Number(row?.last_seq)
}

async function countSteps(tx: Tx, { taskUid, attempt }: AttemptKey): Promise<number> {
  const row = await tx.first(
    sql<{ count: number }>`select count(*) as count from steps where task_uid = ${taskUid} and attempt = ${attempt}`,
  )
  return Number(row?.count)
}

/** How many rows a statement writes: few different texts, which databases read once. */
const rowCounts = [32, 8, 2, 1]

async function writeRows(tx: Tx, rows: readonly Parameters<typeof table.insert>[0][]): Promise<void> {
  // A statement may not write a row twice; the newest state of a step counts.
  const left = [...new Map(rows.map((row) => [row.id, row])).values()]
  while (left.length > 0) {
    const some = left.splice(
      0,
      rowCounts.find((count) => count <= left.length),
    )
    await tx.run(sql`${table.insert(...some)} on conflict (task_uid, attempt, id) do update set
      seq = excluded.seq, kind = excluded.kind, step = excluded.step, detail = excluded.detail`)
  }
}

/** As `Steps.write`, in a unit of work. */
export async function writeSteps(tx: Tx, key: AttemptKey, steps: readonly StepReport[]): Promise<void> {
  if (steps.length === 0) return
  const { taskUid, attempt } = key
  const last = await takeSeqs(tx, taskUid, steps.length)
  const first = last - steps.length + 1
  // Whatever the attempts before it had: no count is needed for most.
  const isMany = last > stepLimits.perAttempt && (await countSteps(tx, key)) >= stepLimits.perAttempt
  const rows = steps.map(({ id, kind, input, output, ...step }, at) => {
    const detail = input === undefined && output === undefined ? undefined : { input, output }
    return { taskUid, attempt, id, seq: first + at, kind, step, detail }
  })
  if (!isMany) await writeRows(tx, rows)
  const folded = { from: first - stepLimits.detailed, to: last - stepLimits.detailed }
  if (folded.to > 0) {
    await tx.run(sql`update steps set detail = null
      where task_uid = ${taskUid} and seq >= ${folded.from} and seq <= ${folded.to}`)
  }
  tx.announce(channel, taskUid)
}

export async function deleteSteps(tx: Tx, taskUid: string): Promise<void> {
  await tx.run(sql`delete from steps where task_uid = ${taskUid}`)
  await tx.run(sql`delete from step_counters where task_uid = ${taskUid}`)
}

function toRecord({ id, kind, seq, attempt, step, detail }: RecordOf<typeof table>): TracedStep {
  return { seq, attempt, id, kind, ...step, ...detail }
}

function conditionsOf({ taskUid, attempt, kinds, afterSeq = 0 }: StepQuery) {
  return joinSql(
    [
      sql`task_uid = ${taskUid} and seq > ${afterSeq}`,
      ...(attempt === undefined ? [] : [sql`attempt = ${attempt}`]),
      ...(kinds === undefined ? [] : [sql`kind in (${listSql(kinds)})`]),
    ],
    ' and ',
  )
}

export function createSteps({ database }: { database: Database }): Steps {
  const listeners = createSharedListeners(database, channel)
  return {
    write: (key, steps) => database.write((tx) => writeSteps(tx, key, steps)),
    async list(query) {
      const rows = await table.all(database.read, sql`where ${conditionsOf(query)} order by seq limit ${query.limit}`)
      return rows.map(toRecord)
    },
    onAppend: (taskUid, listener) => listeners.add(taskUid, listener),
    async lastAttempt(taskUid) {
      const row = await database.read.first(
        sql<{ last: number | null }>`select max(attempt) as last from steps where task_uid = ${taskUid}`,
      )
      return Number(row?.last ?? 0)
    },
    removeTask: (taskUid) => database.write((tx) => deleteSteps(tx, taskUid)),
  }
}
