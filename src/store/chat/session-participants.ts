// Whose Secrets were given to sessions, in SQL. Whoever joins one first takes its row without a word, so that joins take turns.
import { createHash } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import type { SessionKey, SessionParticipant, Sessions } from '../../ports/chat/sessions.ts'
import type { Database, Tx } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { json, optional, Table, text, word } from '../database/table.ts'
import { matchKey } from './session-rows.ts'

const participants = new Table('session_participants', {
  namespace: text,
  name: text,
  word,
  requester: optional(text),
  secrets: json<SessionParticipant['secrets']>(),
  since: word,
})

/** Names a participant among those of a session. */
function wordOf({ requester, secrets }: SessionParticipant): string {
  const paths = secrets.map(({ namespace, name }) => `${namespace}/${name}`).sort()
  return createHash('sha256')
    .update(JSON.stringify([requester ?? null, ...paths]))
    .digest('hex')
}

async function listOthers(
  reader: Pick<Tx, 'all' | 'first'>,
  key: SessionKey,
  own: string,
): Promise<SessionParticipant[]> {
  const rows = await participants.all(
    reader,
    sql`where ${matchKey(key)} and word <> ${''} and word <> ${own} order by since, word`,
  )
  return rows.map(({ requester, secrets }) => ({ requester, secrets }))
}

async function noteParticipant(tx: Tx, key: SessionKey, { requester, secrets }: SessionParticipant, since: string) {
  const { namespace, name } = key
  const turn = { namespace, name, word: '', secrets: [], since }
  await tx.run(
    sql`${participants.insert(turn)} on conflict (namespace, name, word) do update set since = excluded.since`,
  )
  const own = wordOf({ requester, secrets })
  const others = await listOthers(tx, key, own)
  const row = { namespace, name, word: own, requester, secrets, since }
  const { changes } = await tx.run(sql`${participants.insert(row)} on conflict (namespace, name, word) do nothing`)
  return { others, added: changes === 1 }
}

export function createSessionParticipants({
  database,
  clock,
}: {
  database: Database
  clock: Clock
}): Pick<Sessions, 'join' | 'leave'> {
  return {
    async join(key, participant) {
      if (participant.secrets.length === 0) return { others: await listOthers(database.read, key, ''), added: false }
      const now = clock.now().toISOString()
      return database.write((tx) => noteParticipant(tx, key, participant, now))
    },
    async leave(key, participant) {
      const own = wordOf(participant)
      await database.write((tx) =>
        tx.run(sql`delete from session_participants where ${matchKey(key)} and word = ${own}`),
      )
    },
  }
}

/** Those of sessions that are not there, since before that time. */
export async function sweepParticipants(tx: Tx, before: string): Promise<void> {
  await tx.run(sql`delete from session_participants where since < ${before} and not exists (
    select 1 from sessions where sessions.namespace = session_participants.namespace
      and sessions.name = session_participants.name)`)
}
