// The index of transcripts: pieces of sessions with their parts of words, written after the messages and never with
// them, so that appends stay as quick as without it.
import type { SessionKey, Transcripts } from '../../ports/chat/sessions.ts'
import { listGrams } from '../../rules/memory/term-matches.ts'
import type { Database, Tx } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { decodeText, encodeText } from '../database/stored-text.ts'
import { lockRow, type MessageRow, matchKey, type SessionRow, toStoredMessage } from './session-rows.ts'

const pieceMessages = 16
const pieceBytes = 32_768

/** The last of the next messages that make a piece together. */
async function findPieceEnd(tx: Tx, key: SessionKey, after: number): Promise<number | undefined> {
  const rows = await tx.all(sql<{ id: number; size: number }>`select id, octet_length(body) as size
    from session_messages where ${matchKey(key)} and id > ${after} order by id limit ${pieceMessages}`)
  let bytes = 0
  let end: number | undefined
  for (const { id, size } of rows) {
    bytes += Number(size)
    if (end !== undefined && bytes > pieceBytes) break
    end = Number(id)
  }
  return end
}

async function insertPiece(tx: Tx, key: SessionKey, rows: MessageRow[], grams: string): Promise<void> {
  const [first, last] = [rows[0], rows.at(-1)]
  if (first === undefined || last === undefined) return
  const piece = await tx.first(sql<{ id: number }>`insert into transcript_pieces (namespace, name, first_id, last_id)
    values (${encodeText(key.namespace)}, ${encodeText(key.name)}, ${first.id}, ${last.id}) returning id`)
  await tx.run(sql`insert into transcript_grams (rowid, grams) values (${piece?.id ?? null}, ${grams})`)
}

type Encode = Database['dialect']['encodeGrams']

/** Adds the next piece of the session. */
async function indexPiece(tx: Tx, key: SessionKey, encode: Encode): Promise<void> {
  const session = await lockRow(tx, key)
  if (session === undefined) return
  const after = Number(session.indexed_through)
  const end = (await findPieceEnd(tx, key, after)) ?? Number(session.last_message_id)
  const rows = await tx.all(sql<MessageRow>`select id, body from session_messages
    where ${matchKey(key)} and id > ${after} and id <= ${end} order by id`)
  const grams = listGrams(rows.map((row) => toStoredMessage(row).content))
  await insertPiece(tx, key, rows, encode(grams))
  await tx.run(sql`update sessions set indexed_through = ${end} where ${matchKey(key)}`)
}

export function createTranscriptIndex({
  database,
}: {
  database: Database
}): Pick<Transcripts, 'index' | 'countUnindexed'> {
  return {
    async index() {
      const row = await database.read.first(sql<Pick<SessionRow, 'namespace' | 'name'>>`select namespace, name
        from sessions where last_message_id > indexed_through limit 1`)
      if (row === undefined) return false
      const key = { namespace: decodeText(row.namespace), name: decodeText(row.name) }
      await database.write((tx) => indexPiece(tx, key, database.dialect.encodeGrams))
      return true
    },
    async countUnindexed() {
      const row = await database.read.first(sql<{ count: number }>`select
        coalesce(sum(last_message_id - indexed_through), 0) as count
        from sessions where last_message_id > indexed_through`)
      return Number(row?.count ?? 0)
    },
  }
}
