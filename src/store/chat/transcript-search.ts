// Search in transcripts: the index says where terms may be, the messages themselves decide.
import type { Clock } from '../../lib/clock.ts'
import type { StoredMessage, TranscriptMatch, TranscriptQuery, Transcripts } from '../../ports/chat/sessions.ts'
import {
  compileTerms,
  cutSnippet,
  listTermGrams,
  type Match,
  matchTerms,
  scoreMatch,
  type TermPattern,
} from '../../rules/memory/term-matches.ts'
import type { Database, Reader } from '../database/database.ts'
import { type Fragment, joinSql, listSql, sql } from '../database/statement.ts'
import { decodeText, encodeText } from '../database/stored-text.ts'
import { type MessageRow, toStoredMessage } from './session-rows.ts'
import { createTranscriptIndex } from './transcript-index.ts'

/** Pieces that are found, and those that are read together. */
const maxPieces = 20_000
const pageSize = 64
/** Messages that are compared with each other. */
const maxCompared = 500
/** Text that is read at most, in UTF-16 code units: first until there are enough messages, then in any case. */
const usualText = 8_000_000
const maxText = 64_000_000
/** Messages that the index does not have yet and that are read all the same. */
const maxUnindexed = 5000
const maxGrams = 16

type Row = MessageRow & { namespace: string; name: string }
type Found = { row: Row; message: StoredMessage; match: Match }

/** Conditions on sessions `s`. */
function limitSessions(query: TranscriptQuery, now: string): Fragment {
  const { namespace, namespaces, sessionName, excludeSessionName } = query
  const conditions = [sql`(s.expires_at is null or s.expires_at > ${now} or s.active_task is not null)`]
  if (namespace !== undefined) conditions.push(sql`s.namespace = ${encodeText(namespace)}`)
  if (namespaces?.length === 0) conditions.push(sql`1 = 0`)
  else if (namespaces !== undefined) conditions.push(sql`s.namespace in (${listSql(namespaces.map(encodeText))})`)
  if (sessionName !== undefined) conditions.push(sql`s.name = ${encodeText(sessionName)}`)
  if (excludeSessionName !== undefined) conditions.push(sql`s.name <> ${encodeText(excludeSessionName)}`)
  return joinSql(conditions, ' and ')
}

/** Collects the messages that match, until it has seen enough. */
function createCollector(patterns: readonly TermPattern[], { roles, limit }: TranscriptQuery) {
  const found = new Map<string, Found>()
  let text = 0
  return {
    take(rows: readonly Row[]): void {
      for (const row of rows) {
        const message = toStoredMessage(row)
        text += message.content.length
        const match = roles?.includes(message.role) === false ? undefined : matchTerms(message.content, patterns)
        if (match !== undefined) found.set(`${row.namespace}/${row.id}/${row.name}`, { row, message, match })
      }
    },
    isEnough: () => found.size >= maxCompared || text >= (found.size >= limit ? usualText : maxText),
    found: () => [...found.values()],
  }
}

type Collector = ReturnType<typeof createCollector>

async function readUnindexed(reader: Reader, scope: Fragment, collector: Collector): Promise<void> {
  type Pending = { namespace: string; name: string; indexed_through: number }
  const sessions = await reader.all(sql<Pending>`select s.namespace, s.name, s.indexed_through from sessions s
    where s.last_message_id > s.indexed_through and ${scope} order by s.updated_at desc limit ${maxUnindexed}`)
  let left = maxUnindexed
  for (const { namespace, name, indexed_through } of sessions) {
    if (left <= 0) return
    const rows = await reader.all(sql<Row>`select namespace, name, id, body from session_messages
      where namespace = ${namespace} and name = ${name} and id > ${indexed_through} order by id desc limit ${left}`)
    collector.take(rows)
    left -= rows.length
  }
}

/** Pieces that may contain every term, the newest first. */
async function findPieces(reader: Reader, scope: Fragment, match: Fragment | undefined): Promise<number[]> {
  // Materialized: the index of numbers says more than any other, which planners without statistics do not know.
  const found =
    match === undefined
      ? sql``
      : sql`with found as materialized
    (select rowid as id from transcript_grams where ${match}) `
  const from = match === undefined ? sql`` : sql` join found on found.id = p.id`
  const pieces = await reader.all(sql<{ id: number }>`${found}select p.id from transcript_pieces p
    join sessions s on s.namespace = p.namespace and s.name = p.name${from}
    where ${scope} order by p.id desc limit ${maxPieces}`)
  return pieces.map(({ id }) => id)
}

async function readPieces(reader: Reader, pieces: readonly number[], collector: Collector): Promise<void> {
  for (let at = 0; at < pieces.length && !collector.isEnough(); at += pageSize) {
    const rows = await reader.all(sql<Row>`select m.namespace, m.name, m.id, m.body from transcript_pieces p
      join session_messages m on m.namespace = p.namespace and m.name = p.name and m.id between p.first_id and p.last_id
      where p.id in (${listSql(pieces.slice(at, at + pageSize))})`)
    collector.take(rows)
  }
}

function present({ row, message, match }: Found, maxSnippetLength: number): TranscriptMatch {
  return {
    namespace: decodeText(row.namespace),
    sessionName: decodeText(row.name),
    messageId: message.id,
    role: message.role,
    ...(message.name === undefined ? {} : { name: message.name }),
    snippet: cutSnippet(message.content, match.at, maxSnippetLength),
    createdAt: message.ts,
  }
}

function rank(found: readonly Found[]): Found[] {
  const average = found.reduce((sum, { match }) => sum + match.length, 0) / Math.max(found.length, 1)
  const scored = found.map((one) => ({ one, score: Math.round(scoreMatch(one.match, average) * 100) }))
  const age = ({ message, row }: Found) => `${message.ts} ${row.namespace} ${row.name}`
  scored.sort((a, b) => {
    if (a.score !== b.score) return b.score - a.score
    const [first, second] = [age(a.one), age(b.one)]
    return first === second ? b.one.message.id - a.one.message.id : first < second ? 1 : -1
  })
  return scored.map(({ one }) => one)
}

export function createTranscripts({ database, clock }: { database: Database; clock: Clock }): Transcripts {
  return {
    ...createTranscriptIndex({ database }),
    async search(query) {
      const scope = limitSessions(query, clock.now().toISOString())
      const collector = createCollector(compileTerms(query.terms), query)
      const grams = [...new Set(query.terms.flatMap((term) => listTermGrams(term, maxGrams)))].slice(0, maxGrams)
      const match = grams.length === 0 ? undefined : database.dialect.matchGrams(grams)
      // First what the index does not have: what it takes in meanwhile is then seen twice rather than never.
      await readUnindexed(database.read, scope, collector)
      await readPieces(database.read, await findPieces(database.read, scope, match), collector)
      const best = rank(collector.found()).slice(0, query.limit)
      return best.map((one) => present(one, query.maxSnippetLength))
    },
  }
}
