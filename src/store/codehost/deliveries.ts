// Deliveries of the webhook in SQL. While a worker has one, `due_at` is the end of its lease.
import type { DeliveryOutcome, DeliveryState } from '../../contract/api/codehost/deliveries.ts'
import type { CodeHostEvent } from '../../contract/api/codehost/events.ts'
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Deliveries, Delivery, DeliveryDraft, DeliveryQuery } from '../../ports/codehost/deliveries.ts'
import type { Database, Tx } from '../database/database.ts'
import { type Fragment, joinSql, listSql, sql } from '../database/statement.ts'
import { decodeOptional, decodeText, encodeOptional, encodeText } from '../database/stored-text.ts'

const sweepBatch = 1000
/** Actions after which nothing that a label started goes on. */
const endings = ['closed', 'deleted', 'transferred']

type DeliveryRow = {
  id: string
  namespace: string
  received_at: string
  event: string
  action: string | null
  repository: string | null
  number: number | null
  sender: string | null
  label: string | null
  happened_at: string | null
  state: DeliveryState
  outcome: string
  facts: string | null
  attempts: number
  due_at: string | null
}

const columns = sql`id, namespace, received_at, event, action, repository, number, sender, label, happened_at, state,
  outcome, facts, attempts, due_at`

function toDelivery(row: DeliveryRow): Delivery {
  const optional = {
    action: decodeOptional(row.action),
    repository: decodeOptional(row.repository),
    number: row.number === null ? undefined : Number(row.number),
    sender: decodeOptional(row.sender),
    label: decodeOptional(row.label),
    happenedAt: row.happened_at ?? undefined,
    facts: row.facts === null ? undefined : (JSON.parse(decodeText(row.facts)) as CodeHostEvent),
    dueAt: row.due_at ?? undefined,
  }
  return {
    id: decodeText(row.id),
    namespace: decodeText(row.namespace),
    receivedAt: row.received_at,
    event: decodeText(row.event),
    state: row.state,
    outcome: JSON.parse(decodeText(row.outcome)) as DeliveryOutcome,
    attempts: Number(row.attempts),
    ...(Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)) as object),
  }
}

const encodeOutcome = (outcome: DeliveryOutcome) => encodeText(JSON.stringify(outcome))

function insert(tx: Tx, draft: DeliveryDraft, now: string) {
  const { facts, state, number } = draft
  return tx.first(sql<DeliveryRow>`insert into deliveries (id, namespace, received_at, event, action, repository, number,
      sender, label, happened_at, state, outcome, facts, attempts, due_at)
    values (${encodeText(draft.id)}, ${encodeText(draft.namespace)}, ${now}, ${encodeText(draft.event)},
      ${encodeOptional(draft.action)}, ${encodeOptional(draft.repository)}, ${number ?? null},
      ${encodeOptional(draft.sender)}, ${encodeOptional(draft.label)}, ${draft.happenedAt ?? null}, ${state},
      ${encodeOutcome(draft.outcome)}, ${facts === undefined ? null : encodeText(JSON.stringify(facts))}, 0,
      ${state === 'pending' ? now : null})
    on conflict (id) do nothing returning ${columns}`)
}

function whereQuery(query: DeliveryQuery): Fragment {
  const { namespaces, repository, number, event, state, before } = query
  const parts = [
    sql`1 = 1`,
    ...(namespaces === undefined ? [] : [sql`namespace in (${listSql(namespaces.map(encodeText))})`]),
    ...(repository === undefined ? [] : [sql`repository = ${encodeText(repository)}`]),
    ...(number === undefined ? [] : [sql`number = ${number}`]),
    ...(event === undefined ? [] : [sql`event = ${encodeText(event)}`]),
    ...(state === undefined ? [] : [sql`state = ${state}`]),
    ...(before === undefined ? [] : [sql`(received_at, id) < (${before.receivedAt}, ${encodeText(before.id)})`]),
  ]
  return joinSql(parts, ' and ')
}

export function createDeliveries({ database, clock }: { database: Database; clock: Clock }): Deliveries {
  const timeIn = (ms: number) => new Date(clock.now().getTime() + ms).toISOString()

  async function find(id: string): Promise<Delivery | undefined> {
    const row = await database.read.first(
      sql<DeliveryRow>`select ${columns} from deliveries where id = ${encodeText(id)}`,
    )
    return row && toDelivery(row)
  }

  /** Changes a delivery that the worker still holds. */
  async function changeHeld(id: string, worker: string, change: Fragment): Promise<boolean> {
    const { changes } = await database.write((tx) =>
      tx.run(sql`update deliveries set ${change}
        where id = ${encodeText(id)} and worker = ${worker} and state = 'pending'`),
    )
    return changes > 0
  }

  return {
    async accept(draft) {
      const row = await database.write((tx) => insert(tx, draft, timeIn(0)))
      if (row !== undefined) return { delivery: toDelivery(row), isNew: true }
      const delivery = await find(draft.id)
      if (delivery === undefined) throw new SvcError('Unavailable', 'the delivery was removed while it came again')
      return { delivery, isNew: false }
    },

    get: find,

    async list(query) {
      if (query.namespaces?.length === 0) return []
      const rows = await database.read.all(sql<DeliveryRow>`select ${columns} from deliveries
        where ${whereQuery(query)} order by received_at desc, id desc limit ${query.limit}`)
      return rows.map(toDelivery)
    },

    async due(limit) {
      const rows = await database.read.all(sql<{ id: string }>`select id from deliveries
        where due_at is not null and due_at <= ${timeIn(0)} order by due_at, id limit ${limit}`)
      return rows.map((row) => decodeText(row.id))
    },

    async claim(id, { worker, leaseMs }) {
      const row = await database.write((tx) =>
        tx.first(sql<DeliveryRow>`update deliveries
          set worker = ${worker}, attempts = attempts + 1, due_at = ${timeIn(leaseMs)}
          where id = ${encodeText(id)} and state = 'pending' and due_at <= ${timeIn(0)} returning ${columns}`),
      )
      return row && toDelivery(row)
    },

    extend: (id, { worker, leaseMs }) => changeHeld(id, worker, sql`due_at = ${timeIn(leaseMs)}`),

    settle: (id, worker, { state, outcome }) =>
      changeHeld(id, worker, sql`state = ${state}, outcome = ${encodeOutcome(outcome)}, due_at = null, worker = null`),

    postpone: (id, worker, { afterMs, outcome }) =>
      changeHeld(id, worker, sql`outcome = ${encodeOutcome(outcome)}, due_at = ${timeIn(afterMs)}, worker = null`),

    async reopen(id) {
      const row = await database.write((tx) =>
        tx.first(sql<DeliveryRow>`update deliveries set state = 'pending', attempts = 0, due_at = ${timeIn(0)}
          where id = ${encodeText(id)} and state <> 'pending' and facts is not null returning ${columns}`),
      )
      if (row !== undefined) return toDelivery(row)
      const found = await find(id)
      if (found === undefined) throw new SvcError('NotFound', `there is no delivery "${id}"`)
      const why =
        found.state === 'pending' ? 'it is pending already' : `there is nothing to do: ${found.outcome.message}`
      throw new SvcError('Conflict', `delivery "${id}" cannot be worked off again: ${why}`)
    },

    async findRemoval({ repository, number, label, after }) {
      const row = await database.read.first(sql<DeliveryRow>`select ${columns} from deliveries
        where repository = ${encodeText(repository)} and number = ${number} and happened_at > ${after}
          and (action in (${listSql(endings)}) or (action = 'unlabeled' and label = ${encodeText(label)}))
        order by happened_at desc, id limit 1`)
      return row && toDelivery(row)
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
