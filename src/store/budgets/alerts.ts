// Alerts in SQL. While a worker delivers one, `due_at` is the end of its lease.
import type { Alert, AlertDelivery, AlertFacts } from '../../contract/api/budgets/alerts.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Alerts } from '../../ports/budgets/alerts.ts'
import type { Database, Tx } from '../database/database.ts'
import { type Fragment, sql } from '../database/statement.ts'
import { decodeText, encodeText } from '../database/stored-text.ts'
import { escapedJson, number, optional, type RecordOf, Table, text, word, wordOf } from '../database/table.ts'

const alerts = new Table('alerts', {
  id: text,
  facts: escapedJson<AlertFacts>(),
  createdAt: word,
  delivery: wordOf<AlertDelivery>(),
  attempts: number,
  dueAt: optional(word),
  lastError: optional(text),
})

function toAlert({ facts, delivery, attempts, lastError }: RecordOf<typeof alerts>): Alert {
  return { ...facts, delivery, attempts, ...(lastError !== undefined && { lastError }) }
}

/** Whether it is new. `dueAt`: absent, the webhook is not to have it. */
async function insert(tx: Tx, facts: AlertFacts, dueAt: string | undefined): Promise<boolean> {
  const delivery: AlertDelivery = dueAt === undefined ? 'none' : 'pending'
  const row = { id: facts.id, facts, createdAt: facts.createdAt, delivery, attempts: 0, dueAt }
  return (await tx.run(sql`${alerts.insert(row)} on conflict (id) do nothing`)).changes > 0
}

async function insertNew(tx: Tx, raised: readonly AlertFacts[], dueAt: string | undefined): Promise<AlertFacts[]> {
  const added: AlertFacts[] = []
  for (const facts of raised) if (await insert(tx, facts, dueAt)) added.push(facts)
  return added
}

export function createAlerts({ database, clock }: { database: Database; clock: Clock }): Alerts {
  const timeIn = (ms: number) => new Date(clock.now().getTime() + ms).toISOString()

  /** Changes one that the worker still has. */
  async function changeLeased(id: string, worker: string, change: Fragment): Promise<boolean> {
    const { changes } = await database.write((tx) =>
      tx.run(
        sql`update alerts set ${change} where id = ${encodeText(id)} and worker = ${worker} and delivery = 'pending'`,
      ),
    )
    return changes > 0
  }

  return {
    raise: (raised, sends) => {
      const dueAt = sends ? timeIn(0) : undefined
      return database.write((tx) => insertNew(tx, raised, dueAt))
    },

    async list({ since, limit }) {
      const from = since === undefined ? sql`` : sql`where created_at >= ${since.toISOString()}`
      const found = await alerts.all(database.read, sql`${from} order by created_at desc, id desc limit ${limit}`)
      return found.map(toAlert)
    },

    async due(limit) {
      const rows = await database.read.all(sql<{ id: string }>`select id from alerts
        where due_at is not null and due_at <= ${timeIn(0)} order by due_at, id limit ${limit}`)
      return rows.map(({ id }) => decodeText(id))
    },

    async claim(id, { worker, leaseMs }) {
      const row = await database.write((tx) =>
        alerts.returning(
          tx,
          sql`update alerts set worker = ${worker}, attempts = attempts + 1, due_at = ${timeIn(leaseMs)}
            where id = ${encodeText(id)} and delivery = 'pending' and due_at <= ${timeIn(0)}`,
        ),
      )
      return row && toAlert(row)
    },

    extend: (id, { worker, leaseMs }) => changeLeased(id, worker, sql`due_at = ${timeIn(leaseMs)}`),

    settle: (id, worker, end) => changeLeased(id, worker, sql`${alerts.set(end)}, due_at = null, worker = null`),

    postpone: (id, worker, { afterMs, lastError }) =>
      changeLeased(id, worker, sql`${alerts.set({ lastError })}, due_at = ${timeIn(afterMs)}, worker = null`),

    async sweep(before) {
      const time = before.toISOString()
      const { changes } = await database.write((tx) =>
        tx.run(sql`delete from alerts where created_at < ${time} and delivery <> 'pending'`),
      )
      return changes
    },
  }
}
