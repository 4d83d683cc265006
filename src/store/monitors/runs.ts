// Runs of monitors in SQL. Whoever queues one locks the monitor first, so that several replicas agree.
import { SvcError } from '../../errors.ts'
import type { MonitorKey, MonitorRecords, MonitorRun, Queued, RunDraft } from '../../ports/monitors/monitors.ts'
import type { Reader, Tx } from '../database/database.ts'
import { type Fragment, joinSql, sql } from '../database/statement.ts'
import { encodeText } from '../database/stored-text.ts'
import { json, optional, Table, text, word } from '../database/table.ts'
import { insertEvent } from './events.ts'
import { type MonitorParts, matchOlder, nameOwner } from './parts.ts'

type Runs = Pick<MonitorRecords, 'queueRun' | 'takeRun' | 'changeRun' | 'withdrawRun' | 'listRuns' | 'hasActiveRun'>

async function lockMonitor(tx: Tx, uid: string): Promise<void> {
  await tx.run(sql`insert into monitors (uid, writes) values (${uid}, 1)
    on conflict (uid) do update set writes = monitors.writes + 1`)
}

function exactOf({ targetNumber, targetSHA }: RunDraft): string | null {
  return targetNumber === undefined || targetSHA === undefined ? null : `${targetNumber}@${targetSHA}`
}

const runs = new Table('monitor_runs', {
  monitorUid: word,
  id: text,
  queuedAt: word,
  triggerName: word,
  targetKind: word,
  exact: optional(word),
  phase: word,
  body: json<MonitorRun>(),
})

async function findRun(reader: Reader, uid: string, condition: Fragment): Promise<MonitorRun | undefined> {
  const found = await runs.valuesOf(reader, 'body', sql`where monitor_uid = ${uid} and ${condition}`)
  return found[0]
}

const active = sql`phase in ('queued', 'running')`

async function findEarlier(tx: Tx, uid: string, draft: RunDraft): Promise<Queued | undefined> {
  const repeated = await findRun(tx, uid, sql`id = ${encodeText(draft.id)}`)
  if (repeated !== undefined) return { outcome: 'repeated', run: repeated }
  if (draft.trigger !== 'pull_request_event') {
    const run = await findRun(tx, uid, active)
    if (run === undefined) return undefined
    throw new SvcError(
      'Conflict',
      `the monitor already has an active run: ${run.id} is ${run.phase}; wait until it has ended`,
    )
  }
  const exact = exactOf(draft)
  const cached = exact === null ? undefined : await findRun(tx, uid, sql`phase = 'queued' and exact = ${exact}`)
  return cached && { outcome: 'cached', run: cached }
}

async function insertRun(tx: Tx, uid: string, run: MonitorRun): Promise<void> {
  const { targetKind = '', trigger: triggerName } = run
  const exact = exactOf(run) ?? undefined
  await tx.run(runs.insert({ ...run, monitorUid: uid, triggerName, targetKind, exact, body: run }))
}

async function saveRun(tx: Tx, uid: string, run: MonitorRun): Promise<void> {
  const { id, phase } = run
  await tx.run(
    sql`update monitor_runs set ${runs.set({ phase, body: run })} where ${runs.match({ monitorUid: uid, id })}`,
  )
}

function newRun(monitor: MonitorKey, draft: RunDraft, queuedAt: string): MonitorRun {
  const counts = { selectedCount: 0, createdTaskCount: 0, skippedCount: 0 }
  return { ...draft, ...nameOwner(monitor), ...counts, phase: 'queued', queuedAt }
}

export function createRuns({ database, clock }: MonitorParts): Runs {
  const readNow = () => clock.now().toISOString()
  return {
    queueRun: (monitor, draft, event) =>
      database.write(async (tx): Promise<Queued> => {
        await lockMonitor(tx, monitor.uid)
        const earlier = await findEarlier(tx, monitor.uid, draft)
        if (earlier !== undefined) return earlier
        const run = newRun(monitor, draft, readNow())
        await insertRun(tx, monitor.uid, run)
        await insertEvent(tx, monitor, event, readNow())
        return { outcome: 'queued', run }
      }),

    takeRun: ({ uid }) =>
      database.write(async (tx) => {
        await lockMonitor(tx, uid)
        const running = await findRun(tx, uid, sql`phase = 'running'`)
        if (running !== undefined) return running
        const next = await findRun(tx, uid, sql`phase = 'queued' order by queued_at, id limit 1`)
        if (next === undefined) return undefined
        const run: MonitorRun = { ...next, phase: 'running', startedAt: readNow() }
        await saveRun(tx, uid, run)
        return run
      }),

    async changeRun({ uid }, id, change) {
      await database.write(async (tx) => {
        await lockMonitor(tx, uid)
        const run = await findRun(tx, uid, sql`id = ${encodeText(id)}`)
        if (run !== undefined) await saveRun(tx, uid, { ...run, ...change })
      })
    },

    withdrawRun: (monitor, id, event) =>
      database.write(async (tx) => {
        await lockMonitor(tx, monitor.uid)
        const run = await findRun(tx, monitor.uid, sql`id = ${encodeText(id)} and phase = 'queued'`)
        if (run === undefined) return false
        const completedAt = readNow()
        await saveRun(tx, monitor.uid, { ...run, phase: 'succeeded', completedAt, skippedCount: 1 })
        await insertEvent(tx, monitor, event, completedAt)
        return true
      }),

    listRuns({ uid }, { limit, before, trigger: triggerName, targetKind }) {
      const conditions = [runs.match({ monitorUid: uid, triggerName, targetKind }), ...matchOlder('queued_at', before)]
      const where = joinSql(conditions, ' and ')
      return runs.valuesOf(database.read, 'body', sql`where ${where} order by queued_at desc, id desc limit ${limit}`)
    },

    async hasActiveRun({ uid }) {
      return (await findRun(database.read, uid, sql`${active} limit 1`)) !== undefined
    },
  }
}
