// Deliveries of the webhook in SQL. While a worker has one, `due_at` is the end of its lease.
import type { DeliveryOutcome, DeliveryState } from '../../contract/api/codehost/deliveries.ts'
import type { CodeHostEvent } from '../../contract/api/codehost/events.ts'
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Deliveries, Delivery, DeliveryQuery } from '../../ports/codehost/deliveries.ts'
import type { Database } from '../database/database.ts'
import { type Fragment, joinSql, listSql, sql } from '../database/statement.ts'
import { decodeText, encodeText } from '../database/stored-text.ts'
import { escapedJson, number, optional, Table, text, word, wordOf } from '../database/table.ts'

const sweepBatch = 1000
/** Actions after which nothing that a label started goes on. */
const endings = ['closed', 'deleted', 'transferred']

const deliveries = new Table('deliveries', {
  id: text,
  namespace: text,
  receivedAt: word,
  event: text,
  action: optional(text),
  repository: optional(text),
  number: optional(number),
  sender: optional(text),
  label: optional(text),
  happenedAt: optional(word),
  state: wordOf<DeliveryState>(),
  outcome: escapedJson<DeliveryOutcome>(),
  facts: optional(escapedJson<CodeHostEvent>()),
  attempts: number,
  dueAt: optional(word),
})

function whereQuery(query: DeliveryQuery): Fragment {
  const { namespaces, repository, number: wanted, event, state, before } = query
  const parts = [
    deliveries.match({ repository, number: wanted, event, state }),
    ...(namespaces === undefined ? [] : [deliveries.oneOf('namespace', namespaces)]),
    ...(before === undefined ? [] : [sql`(received_at, id) < (${before.receivedAt}, ${encodeText(before.id)})`]),
  ]
  return joinSql(parts, ' and ')
}

export function createDeliveries({ database, clock }: { database: Database; clock: Clock }): Deliveries {
  const timeIn = (ms: number) => new Date(clock.now().getTime() + ms).toISOString()

  const find = (id: string): Promise<Delivery | undefined> =>
    deliveries.first(database.read, sql`where id = ${encodeText(id)}`)

  /** Changes deliveries that meet the condition; the one that was changed. */
  const change = (set: Fragment, where: Fragment): Promise<Delivery | undefined> =>
    database.write((tx) => deliveries.returning(tx, sql`update deliveries set ${set} where ${where}`))

  /** Changes a delivery that the worker still holds. */
  async function changeLeased(id: string, worker: string, change: Fragment): Promise<boolean> {
    const { changes } = await database.write((tx) =>
      tx.run(sql`update deliveries set ${change}
        where id = ${encodeText(id)} and worker = ${worker} and state = 'pending'`),
    )
    return changes > 0
  }

  return {
    async accept(draft) {
      const now = timeIn(0)
      const accepted = { ...draft, receivedAt: now, attempts: 0, dueAt: draft.state === 'pending' ? now : undefined }
      const added = await database.write((tx) =>
        deliveries.returning(tx, sql`${deliveries.insert(accepted)} on conflict (id) do nothing`),
      )
      if (added !== undefined) return { delivery: added, isNew: true }
      const delivery = await find(draft.id)
      if (delivery === undefined) throw new SvcError('Unavailable', 'the delivery was removed while it came again')
      return { delivery, isNew: false }
    },

    get: find,

    async list(query) {
      const page = sql`order by received_at desc, id desc limit ${query.limit}`
      return deliveries.all(database.read, sql`where ${whereQuery(query)} ${page}`)
    },

    async due(limit) {
      const rows = await database.read.all(sql<{ id: string }>`select id from deliveries
        where due_at is not null and due_at <= ${timeIn(0)} order by due_at, id limit ${limit}`)
      return rows.map((row) => decodeText(row.id))
    },

    claim: (id, { worker, leaseMs }) =>
      change(
        sql`worker = ${worker}, attempts = attempts + 1, due_at = ${timeIn(leaseMs)}`,
        sql`id = ${encodeText(id)} and state = 'pending' and due_at <= ${timeIn(0)}`,
      ),

    extend: (id, { worker, leaseMs }) => changeLeased(id, worker, sql`due_at = ${timeIn(leaseMs)}`),

    settle: (id, worker, { state, outcome }) =>
      changeLeased(id, worker, sql`${deliveries.set({ state, outcome })}, due_at = null, worker = null`),

    postpone: (id, worker, { afterMs, outcome }) =>
      changeLeased(id, worker, sql`${deliveries.set({ outcome })}, due_at = ${timeIn(afterMs)}, worker = null`),

    async reopen(id) {
      const reopened = await change(
        sql`state = 'pending', attempts = 0, due_at = ${timeIn(0)}`,
        sql`id = ${encodeText(id)} and state <> 'pending' and facts is not null`,
      )
      if (reopened !== undefined) return reopened
      const found = await find(id)
      if (found === undefined) throw new SvcError('NotFound', `there is no delivery "${id}"`)
      const why =
        found.state === 'pending' ? 'it is pending already' : `there is nothing to do: ${found.outcome.message}`
      throw new SvcError('Conflict', `delivery "${id}" cannot be worked off again: ${why}`)
    },

    findRemoval({ repository, number: wanted, label, after }) {
      const rest = sql`where repository = ${encodeText(repository)} and number = ${wanted} and happened_at > ${after}
          and (action in (${listSql(endings)}) or (action = 'unlabeled' and label = ${encodeText(label)}))
        order by happened_at desc, id limit 1`
      return deliveries.first(database.read, rest)
    },

    async sweep(before) {
      let removed = 0
      for (let changes = sweepBatch; changes === sweepBatch; removed += changes) {
        const removal = sql`delete from deliveries where id in (select id from deliveries
          where received_at < ${before.toISOString()} and state <> 'pending' limit ${sweepBatch})`
        changes = (await database.write((tx) => tx.run(removal))).changes
      }
      return removed
    },
  }
}
