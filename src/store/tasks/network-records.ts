// What programs reached, in SQL: one row for each host of an attempt, to which every writer adds.
import type { NetworkRecords } from '../../ports/tasks/network-records.ts'
import type { Database } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { number, optional, Table, text, word } from '../database/table.ts'

const hosts = new Table('network_hosts', {
  taskUid: word,
  attempt: number,
  host: text,
  port: number,
  connections: number,
  refused: number,
  unlisted: number,
  sent: number,
  received: number,
  firstAt: word,
  lastAt: word,
  reason: optional(text),
})

/** Replicas add in any order, so the times are compared. */
const adding = sql` on conflict (task_uid, attempt, host, port) do update set
  connections = network_hosts.connections + excluded.connections,
  refused = network_hosts.refused + excluded.refused,
  unlisted = network_hosts.unlisted + excluded.unlisted,
  sent = network_hosts.sent + excluded.sent,
  received = network_hosts.received + excluded.received,
  first_at = case when excluded.first_at < network_hosts.first_at then excluded.first_at else network_hosts.first_at end,
  last_at = case when excluded.last_at > network_hosts.last_at then excluded.last_at else network_hosts.last_at end,
  reason = coalesce(excluded.reason, network_hosts.reason)`

export function createNetworkRecords({ database }: { database: Database }): NetworkRecords {
  return {
    async add({ taskUid, attempt }, added) {
      if (added.length === 0) return
      await database.write(async (tx) => {
        for (const host of added) await tx.run(sql`${hosts.insert({ ...host, taskUid, attempt })}${adding}`)
      })
    },
    async list({ taskUid, attempt }) {
      const chosen = hosts.match({ taskUid, attempt })
      const found = await hosts.all(database.read, sql`where ${chosen} order by attempt, host, port`)
      return found.map(({ taskUid: _, ...host }) => host)
    },
    async removeTask(taskUid) {
      await database.write((tx) => tx.run(sql`delete from network_hosts where task_uid = ${taskUid}`))
    },
  }
}
