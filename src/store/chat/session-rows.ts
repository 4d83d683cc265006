// Rows of sessions and of their messages, and their conversion to and from the port's shapes.
import type { NewMessage, Session, SessionKey, StoredMessage } from '../../ports/chat/sessions.ts'
import { stepsKeyOf } from '../../rules/chat/session-steps.ts'
import type { Tx } from '../database/database.ts'
import { type Fragment, sql } from '../database/statement.ts'
import { decodeOptional, decodeText, encodeText } from '../database/stored-text.ts'
import { deleteSteps } from '../tasks/steps.ts'

export type SessionRow = {
  namespace: string
  name: string
  session_type: Session['sessionType']
  active_task: string | null
  message_count: number
  last_message_id: number
  /** The last message that the index of transcripts has. */
  indexed_through: number
  input_tokens: number
  output_tokens: number
  created_at: string
  updated_at: string
  /** Null: the usual retention. */
  expires_at: string | null
  provider_namespace: string | null
  provider_name: string | null
  model: string | null
  title: string | null
}

export type MessageRow = { id: number; body: string }

function toAnsweredBy(row: SessionRow): Pick<Session, 'answeredBy'> {
  const { provider_namespace: namespace, provider_name: name, model } = row
  if (namespace === null || name === null || model === null) return {}
  return { answeredBy: { namespace: decodeText(namespace), name: decodeText(name), model: decodeText(model) } }
}

export function toSession(row: SessionRow): Session {
  const activeTask = decodeOptional(row.active_task)
  return {
    namespace: decodeText(row.namespace),
    name: decodeText(row.name),
    sessionType: row.session_type,
    ...(row.title !== null && { title: decodeText(row.title) }),
    activeTask,
    ...toAnsweredBy(row),
    messageCount: Number(row.message_count),
    inputTokens: Number(row.input_tokens),
    outputTokens: Number(row.output_tokens),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

export function toStoredMessage(row: MessageRow): StoredMessage {
  return { ...(JSON.parse(row.body) as NewMessage & { ts: string }), id: Number(row.id) }
}

/** `namespace = ... and name = ...` for any table of sessions. */
export function matchKey(key: SessionKey): Fragment {
  return sql`namespace = ${encodeText(key.namespace)} and name = ${encodeText(key.name)}`
}

/** The session's row, locked to the end of the transaction: writers of one session take turns. */
export async function lockRow(tx: Tx, key: SessionKey): Promise<SessionRow | undefined> {
  return tx.first(sql<SessionRow>`update sessions set updated_at = updated_at where ${matchKey(key)} returning *`)
}

type NewSession = { sessionType: Session['sessionType']; now: string }

function insertSession(key: SessionKey, { sessionType, now }: NewSession): Fragment {
  return sql`insert into sessions (namespace, name, session_type, message_count, last_message_id, input_tokens,
      output_tokens, created_at, updated_at)
    values (${encodeText(key.namespace)}, ${encodeText(key.name)}, ${sessionType}, 0, 0, 0, 0, ${now}, ${now})`
}

/** Creates the session if it is missing. */
export async function insertSessionRow(tx: Tx, key: SessionKey, create: NewSession): Promise<void> {
  await tx.run(sql`${insertSession(key, create)} on conflict (namespace, name) do nothing`)
}

/** The session's row, created if it was missing, locked like `lockRow`. */
export async function claimRow(tx: Tx, key: SessionKey, create: NewSession): Promise<SessionRow | undefined> {
  return tx.first(sql<SessionRow>`${insertSession(key, create)}
    on conflict (namespace, name) do update set updated_at = sessions.updated_at returning *`)
}

/** Whether it has expired and nobody holds it. */
export function isOver(row: SessionRow, now: string): boolean {
  return row.expires_at !== null && row.expires_at <= now && row.active_task === null
}

/** Releases the session if the holder holds it; returns whether it did. */
export async function releaseRow(tx: Tx, key: SessionKey, holder: string, expiresAt?: Date): Promise<boolean> {
  const until = expiresAt?.toISOString() ?? null
  const { changes } = await tx.run(sql`update sessions set active_task = null, expires_at = ${until}
    where ${matchKey(key)} and active_task = ${encodeText(holder)}`)
  return changes === 1
}

/** Inserts the messages under the ids from `firstId` on. JSON escapes NUL and lone surrogates by itself (ECMA-404). */
export async function insertMessages(
  tx: Tx,
  key: SessionKey,
  batch: { firstId: number; messages: NewMessage[]; now: string },
): Promise<void> {
  let id = batch.firstId
  for (const message of batch.messages) {
    const body = JSON.stringify({ ...message, id: undefined, ts: message.ts ?? batch.now })
    await tx.run(sql`insert into session_messages (namespace, name, id, body)
      values (${encodeText(key.namespace)}, ${encodeText(key.name)}, ${id}, ${body})`)
    id += 1
  }
}

/** Removes the session from the index. */
export async function deletePieces(tx: Tx, key: SessionKey): Promise<void> {
  await tx.run(sql`delete from transcript_grams
    where rowid in (select id from transcript_pieces where ${matchKey(key)})`)
  await tx.run(sql`delete from transcript_pieces where ${matchKey(key)}`)
}

export async function deleteSessionRows(tx: Tx, key: SessionKey): Promise<void> {
  await deletePieces(tx, key)
  await tx.run(sql`delete from session_messages where ${matchKey(key)}`)
  await tx.run(sql`delete from session_appends where ${matchKey(key)}`)
  await tx.run(sql`delete from session_programs where ${matchKey(key)}`)
  await tx.run(sql`delete from session_participants where ${matchKey(key)}`)
  await deleteSteps(tx, stepsKeyOf(key))
  await tx.run(sql`delete from sessions where ${matchKey(key)}`)
}
