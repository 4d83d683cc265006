// Messages between siblings in SQL, with one read mark per message and reader.
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { type Message, type Messages, messagesAtOnce } from '../../ports/coordination/messages.ts'
import type { Database, Tx } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { decodeText, encodeText } from '../database/stored-text.ts'

type MessageRow = {
  id: number
  namespace: string
  parent_task: string
  from_task: string
  to_task: string
  content: string
  created_at: string
}

function readMessage(row: MessageRow): Omit<Message, 'read'> {
  return {
    id: Number(row.id),
    namespace: decodeText(row.namespace),
    fromTask: decodeText(row.from_task),
    toTask: decodeText(row.to_task),
    parentTask: decodeText(row.parent_task),
    content: decodeText(row.content),
    createdAt: row.created_at,
  }
}

const toMessage = (row: MessageRow, read: boolean): Message => ({ ...readMessage(row), read })

type Unread = Parameters<Messages['unread']>[0]

/** A message without uids was sent before messages had them, and its marks contain the reader's name. */
function selectUnread({ namespace, reader, parent, upTo = Number.MAX_SAFE_INTEGER }: Unread) {
  const name = encodeText(reader.name)
  return sql<MessageRow>`select * from messages
    where (parent_uid = ${parent.uid} and (to_uid = ${reader.uid} or to_task = '*') and from_uid <> ${reader.uid}
      or parent_uid is null and namespace = ${encodeText(namespace)} and parent_task = ${encodeText(parent.name)}
        and to_task in (${name}, '*') and from_task <> ${name})
      and not exists (select 1 from message_reads where message_id = messages.id
        and (reader = ${reader.uid} or parent_uid is null and reader = ${name}))
      and id <= ${upTo}
    order by id limit ${messagesAtOnce}`
}

/** Marks and returns those that nobody else has marked for this reader in the meantime. */
async function markRead(tx: Tx, rows: MessageRow[], reader: string): Promise<MessageRow[]> {
  const marked: MessageRow[] = []
  for (const row of rows) {
    const { changes } = await tx.run(sql`insert into message_reads (message_id, reader)
      values (${row.id}, ${reader}) on conflict (message_id, reader) do nothing`)
    if (changes === 1) marked.push(row)
  }
  return marked
}

export function createMessages(deps: { database: Database; clock: Clock }): Messages {
  const { database, clock } = deps
  return {
    async send({ namespace, from, to, parent, content }) {
      const receiver = to === '*' ? { uid: null, name: '*' } : to
      const row = await database.write((tx) =>
        tx.first(sql<MessageRow>`insert into messages
            (namespace, parent_task, parent_uid, from_task, from_uid, to_task, to_uid, content, created_at)
          values (${encodeText(namespace)}, ${encodeText(parent.name)}, ${parent.uid}, ${encodeText(from.name)}, ${from.uid},
            ${encodeText(receiver.name)}, ${receiver.uid}, ${encodeText(content)}, ${clock.now().toISOString()})
          returning *`),
      )
      if (row === undefined) throw new SvcError('Internal', 'the message was not stored')
      return toMessage(row, false)
    },

    async countSent(uid) {
      const row = await database.read.first(
        sql<{ count: number }>`select count(*) as count from messages where from_uid = ${uid}`,
      )
      return Number(row?.count ?? 0)
    },

    async unread(query) {
      const rows = await database.read.all(selectUnread(query))
      if (!query.markRead || rows.length === 0) return rows.map((row) => toMessage(row, false))
      const { uid } = query.reader
      const marked = await database.write(async (tx) => markRead(tx, await tx.all(selectUnread(query)), uid))
      return marked.map((row) => toMessage(row, true))
    },

    async sentBelow(parentUid, { limit, before = Number.MAX_SAFE_INTEGER }) {
      const rows = await database.read.all(sql<MessageRow>`select * from messages
        where parent_uid = ${parentUid} and id < ${before} order by id desc limit ${limit}`)
      return rows.map(readMessage)
    },

    async removeTask(uid) {
      await database.write(async (tx) => {
        await tx.run(sql`delete from messages where from_uid = ${uid} or to_uid = ${uid} or parent_uid = ${uid}`)
        await tx.run(sql`delete from message_reads where reader = ${uid}`)
      })
    },

    async sweep(before) {
      const { changes } = await database.write((tx) =>
        tx.run(sql`delete from messages where created_at < ${before.toISOString()}`),
      )
      return changes
    },
  }
}
