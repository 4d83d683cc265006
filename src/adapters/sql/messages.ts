// Messages between siblings in SQL, with one read mark per message and reader.
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Message, Messages } from '../../ports/messages.ts'
import type { Database, Tx } from './database.ts'
import { sql } from './statement.ts'
import { decodeText, encodeText } from './stored-text.ts'

type MessageRow = {
  id: number
  namespace: string
  parent_task: string
  from_task: string
  to_task: string
  content: string
  created_at: string
}

function toMessage(row: MessageRow): Message {
  return {
    id: Number(row.id),
    namespace: decodeText(row.namespace),
    fromTask: decodeText(row.from_task),
    toTask: decodeText(row.to_task),
    parentTask: decodeText(row.parent_task),
    content: decodeText(row.content),
    read: false,
    createdAt: row.created_at,
  }
}

function selectUnread(query: { namespace: string; reader: string; parentTask: string }) {
  const reader = encodeText(query.reader)
  return sql<MessageRow>`select * from messages
    where namespace = ${encodeText(query.namespace)} and parent_task = ${encodeText(query.parentTask)}
      and to_task in (${reader}, '*') and from_task <> ${reader}
      and not exists (select 1 from message_reads where message_id = messages.id and reader = ${reader})
    order by id`
}

/** Marks and gives back those that nobody else marked for this reader in the meantime. */
async function markRead(tx: Tx, rows: MessageRow[], reader: string): Promise<MessageRow[]> {
  const marked: MessageRow[] = []
  for (const row of rows) {
    const { changes } = await tx.run(sql`insert into message_reads (message_id, reader)
      values (${row.id}, ${encodeText(reader)}) on conflict (message_id, reader) do nothing`)
    if (changes === 1) marked.push(row)
  }
  return marked
}

export function createMessages(deps: { database: Database; clock: Clock }): Messages {
  const { database, clock } = deps
  return {
    async send(draft) {
      const row = await database.write((tx) =>
        tx.first(sql<MessageRow>`insert into messages (namespace, parent_task, from_task, to_task, content, created_at)
          values (${encodeText(draft.namespace)}, ${encodeText(draft.parentTask)}, ${encodeText(draft.fromTask)},
            ${encodeText(draft.toTask)}, ${encodeText(draft.content)}, ${clock.now().toISOString()})
          returning *`),
      )
      if (row === undefined) throw new SvcError('Internal', 'the message was not stored')
      return toMessage(row)
    },

    async unread(query) {
      const rows = await database.read.all(selectUnread(query))
      if (!query.markRead || rows.length === 0) return rows.map(toMessage)
      const marked = await database.write(async (tx) => markRead(tx, await tx.all(selectUnread(query)), query.reader))
      return marked.map(toMessage)
    },

    async removeTask(namespace, taskName) {
      const task = encodeText(taskName)
      await database.write(async (tx) => {
        await tx.run(sql`delete from messages where namespace = ${encodeText(namespace)}
          and (from_task = ${task} or to_task = ${task} or parent_task = ${task})`)
        await tx.run(sql`delete from message_reads where reader = ${task}
          and message_id in (select id from messages where namespace = ${encodeText(namespace)})`)
      })
    },
  }
}
