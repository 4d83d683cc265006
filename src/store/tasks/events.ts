// Timeline events in SQL. The counter row of the task is locked until the commit, so numbers become visible in order.
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { EventRecord, Events } from '../../ports/tasks/events.ts'
import type { Database, Tx } from '../database/database.ts'
import { createSharedListeners } from '../database/listeners.ts'
import { sql } from '../database/statement.ts'
import { number, optional, Table, text, word } from '../database/table.ts'

const SWEEP_BATCH = 1000

const events = new Table('events', {
  taskUid: word,
  seq: number,
  attempt: number,
  namespace: text,
  taskName: text,
  type: text,
  phase: optional(text),
  reason: optional(text),
  message: text,
  createdAt: word,
})

/** The last of `count` numbers. */
async function takeSeqs(tx: Tx, taskUid: string, count: number): Promise<number> {
  const row = await tx.first(sql<{ last_seq: number }>`insert into event_counters (task_uid, last_seq)
    values (${taskUid}, ${count})
    on conflict (task_uid) do update set last_seq = event_counters.last_seq + ${count} returning last_seq`)
  if (row === undefined) throw new SvcError('Internal', 'the event got no number')
  return Number(row.last_seq)
}

async function resetSeq(tx: Tx, taskUid: string, last: number): Promise<void> {
  await tx.run(sql`update event_counters set last_seq = ${last} where task_uid = ${taskUid}`)
}

/** The newest event if the draft repeats its announcement; then the draft's number is freed. */
async function findRepeated(
  tx: Tx,
  draft: Pick<EventRecord, 'taskUid' | 'attempt' | 'type' | 'phase' | 'message'>,
  seq: number,
): Promise<EventRecord | undefined> {
  if (draft.phase === undefined) return undefined
  const newest = await events.first(tx, sql`where task_uid = ${draft.taskUid} and seq = ${seq - 1}`)
  const isRepeated = (['attempt', 'type', 'phase', 'message'] as const).every(
    (field) => newest?.[field] === draft[field],
  )
  if (newest === undefined || !isRepeated) return undefined
  await resetSeq(tx, draft.taskUid, seq - 1)
  return newest
}

export function createEvents(deps: { database: Database; clock: Clock }): Events {
  const { database, clock } = deps
  const listeners = createSharedListeners(database, 'events')

  async function sweepBatch(before: string): Promise<number> {
    const { changes } = await database.write((tx) =>
      tx.run(sql`delete from events where (task_uid, seq) in
        (select task_uid, seq from events where created_at < ${before} limit ${SWEEP_BATCH})`),
    )
    return changes
  }

  return {
    append(draft, admit) {
      return database.write(async (tx) => {
        const seq = await takeSeqs(tx, draft.taskUid, 1)
        admit?.()
        const repeated = await findRepeated(tx, draft, seq)
        if (repeated !== undefined) return repeated
        const event = { ...draft, seq, createdAt: clock.now().toISOString() }
        await tx.run(events.insert(event))
        listeners.announce(tx, event.taskUid)
        return event
      })
    },

    appendAll(drafts, max) {
      const [first] = drafts
      if (first === undefined) return Promise.resolve([])
      const { taskUid } = first
      return database.write(async (tx) => {
        const before = (await takeSeqs(tx, taskUid, drafts.length)) - drafts.length
        const accepted = drafts.slice(0, Math.max(0, max - before))
        if (accepted.length < drafts.length) await resetSeq(tx, taskUid, before + accepted.length)
        const createdAt = clock.now().toISOString()
        const added = accepted.map((draft, at) => ({ ...draft, seq: before + at + 1, createdAt }))
        for (const event of added) await tx.run(events.insert(event))
        if (added.length > 0) listeners.announce(tx, taskUid)
        return added
      })
    },

    list({ taskUid, afterSeq = 0, limit }) {
      const page = limit === undefined ? sql`` : sql` limit ${limit}`
      return events.all(database.read, sql`where task_uid = ${taskUid} and seq > ${afterSeq} order by seq${page}`)
    },

    onAppend: (taskUid, listener) => listeners.add(taskUid, listener),

    async removeTask(taskUid) {
      await database.write(async (tx) => {
        await tx.run(sql`delete from events where task_uid = ${taskUid}`)
        await tx.run(sql`delete from event_counters where task_uid = ${taskUid}`)
      })
    },

    async sweep(before) {
      let removed = 0
      for (let batch = SWEEP_BATCH; batch === SWEEP_BATCH; removed += batch) {
        batch = await sweepBatch(before.toISOString())
      }
      return removed
    },
  }
}
