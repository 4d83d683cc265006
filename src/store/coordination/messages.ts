// Messages between siblings in SQL, with one read mark per message and reader.
import type { AgentMessage } from '../../contract/api/tasks/task-records.ts'
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { type Messages, messagesAtOnce } from '../../ports/coordination/coordination.ts'
import type { Database, Tx } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { encodeText } from '../database/stored-text.ts'
import { generated, number, optional, type RecordOf, Table, text, word } from '../database/table.ts'

const messageTable = new Table('messages', {
  id: generated(number),
  namespace: text,
  parentTask: text,
  parentUid: optional(word),
  fromTask: text,
  fromUid: optional(word),
  toTask: text,
  toUid: optional(word),
  content: text,
  createdAt: word,
})
type StoredMessage = RecordOf<typeof messageTable>

function describeStored({ parentUid: _parent, fromUid: _from, toUid: _to, ...message }: StoredMessage) {
  return message
}

const toMessage = (stored: StoredMessage, read: boolean): AgentMessage => ({ ...describeStored(stored), read })

type Unread = Parameters<Messages['unread']>[0]

/** A message without uids was sent before messages had them, and its marks contain the reader's name. */
function selectUnread({ namespace, reader, parent, upTo = Number.MAX_SAFE_INTEGER }: Unread) {
  const name = encodeText(reader.name)
  return sql`where (parent_uid = ${parent.uid} and (to_uid = ${reader.uid} or to_task = '*') and from_uid <> ${reader.uid}
      or parent_uid is null and namespace = ${encodeText(namespace)} and parent_task = ${encodeText(parent.name)}
        and to_task in (${name}, '*') and from_task <> ${name})
      and not exists (select 1 from message_reads where message_id = messages.id
        and (reader = ${reader.uid} or parent_uid is null and reader = ${name}))
      and id <= ${upTo}
    order by id limit ${messagesAtOnce}`
}

/** Marks and returns those that nobody else has marked for this reader in the meantime. */
async function markRead(tx: Tx, rows: StoredMessage[], reader: string): Promise<StoredMessage[]> {
  const marked: StoredMessage[] = []
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
      const receiver = to === '*' ? { uid: undefined, name: '*' } : to
      const insert = messageTable.insert({
        namespace,
        parentTask: parent.name,
        parentUid: parent.uid,
        fromTask: from.name,
        fromUid: from.uid,
        toTask: receiver.name,
        toUid: receiver.uid,
        content,
        createdAt: clock.now().toISOString(),
      })
      const row = await database.write((tx) => messageTable.returning(tx, insert))
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
      const rows = await messageTable.all(database.read, selectUnread(query))
      if (!query.markRead || rows.length === 0) return rows.map((row) => toMessage(row, false))
      const { uid } = query.reader
      const marked = await database.write(async (tx) =>
        markRead(tx, await messageTable.all(tx, selectUnread(query)), uid),
      )
      return marked.map((row) => toMessage(row, true))
    },

    async sentBelow(parentUid, { limit, before = Number.MAX_SAFE_INTEGER }) {
      const below = sql`where parent_uid = ${parentUid} and id < ${before} order by id desc limit ${limit}`
      return (await messageTable.all(database.read, below)).map(describeStored)
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
