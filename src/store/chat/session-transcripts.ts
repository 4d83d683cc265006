// The messages of sessions in SQL: numbered from 1 per session, so that a reader never misses one.
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { NewMessage, SessionKey, Sessions } from '../../ports/chat/sessions.ts'
import type { Database, Tx } from '../database/database.ts'
import { type Fragment, sql } from '../database/statement.ts'
import { encodeText } from '../database/stored-text.ts'
import {
  deletePieces,
  insertMessages,
  lockRow,
  type MessageRow,
  matchKey,
  releaseRow,
  type SessionRow,
  toStoredMessage,
} from './session-rows.ts'

type AppendOptions = NonNullable<Parameters<Sessions['append']>[2]>

async function requireRow(tx: Tx, key: SessionKey): Promise<SessionRow> {
  const row = await lockRow(tx, key)
  if (row === undefined) throw new SvcError('NotFound', `there is no session ${key.name} in namespace ${key.namespace}`)
  return row
}

/** True when the word was not used in the session before. */
async function claimWord(tx: Tx, key: SessionKey, word: string): Promise<boolean> {
  const { changes } = await tx.run(sql`insert into session_appends (namespace, name, word)
    values (${encodeText(key.namespace)}, ${encodeText(key.name)}, ${encodeText(word)})
    on conflict (namespace, name, word) do nothing`)
  return changes === 1
}

function setAnsweredBy({ answeredBy }: AppendOptions): Fragment {
  if (answeredBy === undefined) return sql``
  const { namespace, name, model } = answeredBy
  return sql`, provider_namespace = ${encodeText(namespace)}, provider_name = ${encodeText(name)}, model = ${encodeText(model)}`
}

const titleLength = 80

/** Of a session that has none: how the first message of a user begins. */
function setTitle({ title }: SessionRow, messages: readonly NewMessage[]): Fragment {
  const words =
    messages
      .find(({ role }) => role === 'user')
      ?.content.trim()
      .replaceAll(/\s+/g, ' ') ?? ''
  if (title !== null || words === '') return sql``
  const begin = words.length <= titleLength ? words : `${words.slice(0, titleLength - 1).trimEnd()}…`
  return sql`, title = ${encodeText(begin)}`
}

async function appendMessages(
  tx: Tx,
  key: SessionKey,
  request: { messages: NewMessage[]; options: AppendOptions; now: string },
): Promise<{ released: boolean }> {
  const { messages, options, now } = request
  const row = await requireRow(tx, key)
  if (options.dedupe !== undefined && !(await claimWord(tx, key, options.dedupe))) return { released: false }
  await insertMessages(tx, key, { firstId: Number(row.last_message_id) + 1, messages, now })
  await tx.run(sql`update sessions set updated_at = ${now}, message_count = message_count + ${messages.length},
      last_message_id = last_message_id + ${messages.length},
      input_tokens = input_tokens + ${options.usage?.inputTokens ?? 0},
      output_tokens = output_tokens + ${options.usage?.outputTokens ?? 0}${setAnsweredBy(options)}${setTitle(row, messages)}
    where ${matchKey(key)}`)
  return { released: options.release !== undefined && (await releaseRow(tx, key, options.release)) }
}

async function compactMessages(
  tx: Tx,
  key: SessionKey,
  request: { throughId: number; replacement: NewMessage[]; now: string },
): Promise<void> {
  const { replacement, now } = request
  const row = await requireRow(tx, key)
  const throughId = Math.min(request.throughId, Number(row.last_message_id))
  if (replacement.length > throughId) {
    throw new SvcError('InvalidRequest', 'the replacement has more messages than what it replaces: shorten it')
  }
  const { changes } = await tx.run(sql`delete from session_messages where ${matchKey(key)} and id <= ${throughId}`)
  await insertMessages(tx, key, { firstId: throughId - replacement.length + 1, messages: replacement, now })
  await deletePieces(tx, key)
  await tx.run(sql`update sessions set updated_at = ${now}, indexed_through = 0,
      message_count = message_count + ${replacement.length - changes}
    where ${matchKey(key)}`)
}

export function createSessionTranscripts(deps: {
  database: Database
  clock: Clock
}): Pick<Sessions, 'append' | 'transcript' | 'compact'> {
  const { database, clock } = deps
  const now = () => clock.now().toISOString()
  return {
    append: (key, messages, options = {}) =>
      database.write((tx) => appendMessages(tx, key, { messages, options, now: now() })),

    async transcript(key, { limit, beforeId, withSeals = false } = {}) {
      const before = beforeId === undefined ? sql`` : sql` and id < ${beforeId}`
      const page = limit === undefined ? sql`` : sql` limit ${limit}`
      const rows = await database.read.all(sql<MessageRow>`select id, body from session_messages
        where ${matchKey(key)}${before} order by id desc${page}`)
      const messages = rows.reverse().map(toStoredMessage)
      return withSeals ? messages : messages.map(({ sealed: _sealed, ...message }) => message)
    },

    compact: (key, throughId, replacement) =>
      database.write((tx) => compactMessages(tx, key, { throughId, replacement, now: now() })),
  }
}
