// Sessions in SQL: their rows and who holds them. Their messages are in session-transcripts.ts,
// what programs keep of them, and in session-participants.ts whose Secrets they were given.
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Session, SessionKey, Sessions, StoredProgramSession } from '../../ports/chat/sessions.ts'
import type { Database, Reader, Tx } from '../database/database.ts'
import { type Fragment, joinSql, listSql, sql } from '../database/statement.ts'
import { decodeCursor, decodeText, encodeCursor, encodeText } from '../database/stored-text.ts'
import { createSessionParticipants, sweepParticipants } from './session-participants.ts'
import {
  claimRow,
  deleteSessionRows,
  insertSessionRow,
  isOver,
  lockRow,
  matchKey,
  releaseRow,
  type SessionRow,
  toSession,
} from './session-rows.ts'
import { createSessionTranscripts } from './session-transcripts.ts'

/** What an agent program keeps of a session: the newest alone. */
type ProgramRow = { id: string; body: string }

async function replaceProgram(
  tx: Tx,
  key: SessionKey,
  { session, holder, more }: { session: StoredProgramSession; holder: string; more: number },
): Promise<void> {
  const row = await lockRow(tx, key)
  if (row?.active_task !== encodeText(holder))
    throw new SvcError('Conflict', `session ${key.name} is not in use by ${holder}`)
  const { program, id, text } = session
  await tx.run(sql`delete from session_programs where ${matchKey(key)}`)
  await tx.run(sql`insert into session_programs (namespace, name, program, id, body, message_count)
    values (${encodeText(key.namespace)}, ${encodeText(key.name)}, ${encodeText(program)}, ${encodeText(id)},
      ${encodeText(text)}, ${Number(row.message_count) + more})`)
}

function createProgramSessions({ database }: { database: Database }): Pick<Sessions, 'keepProgram' | 'findProgram'> {
  return {
    keepProgram: (key, session, by) => database.write((tx) => replaceProgram(tx, key, { session, ...by })),

    async findProgram(key, program) {
      const { namespace, name } = key
      const row = await database.read.first(sql<ProgramRow>`select id, body from session_programs
        where ${matchKey(key)} and program = ${encodeText(program)} and message_count =
          (select message_count from sessions
            where namespace = ${encodeText(namespace)} and name = ${encodeText(name)})`)
      return row && { program, id: decodeText(row.id), text: decodeText(row.body) }
    },
  }
}

const SWEEP_BATCH = 200

/** Expired sessions do not count, even if they have not been swept yet. */
function isUnexpired(now: string): Fragment {
  return sql`(expires_at is null or expires_at > ${now} or active_task is not null)`
}

async function findRow(reader: Reader, key: SessionKey, now: string): Promise<SessionRow | undefined> {
  return reader.first(sql<SessionRow>`select * from sessions where ${matchKey(key)} and ${isUnexpired(now)}`)
}

/** A page token belongs to the namespace it was made for. */
function readCursor(token: string, namespace: string): Fragment {
  const [scope = '', createdAt = '', afterNamespace = '', afterName = ''] = decodeCursor(token, 4)
  if (scope !== namespace) {
    throw new SvcError('InvalidRequest', 'continue belongs to a list of another namespace: start again without it')
  }
  return sql`(created_at, namespace, name) < (${createdAt}, ${afterNamespace}, ${afterName})`
}

/** An empty list of namespaces matches nothing; PostgreSQL does not accept `in ()`. */
function isIn(namespaces: readonly string[]): Fragment {
  return namespaces.length === 0 ? sql`1 = 0` : sql`namespace in (${listSql(namespaces.map(encodeText))})`
}

function selectPage(query: Parameters<Sessions['list']>[0], now: string) {
  const scope = encodeText(query.namespace ?? '')
  const conditions = [isUnexpired(now)]
  if (query.namespace !== undefined) conditions.push(sql`namespace = ${scope}`)
  if (query.sessionType !== undefined) conditions.push(sql`session_type = ${query.sessionType}`)
  if (query.namespaces !== undefined) conditions.push(isIn(query.namespaces))
  if (query.continue !== undefined) conditions.push(readCursor(query.continue, scope))
  return sql<SessionRow>`select * from sessions where ${joinSql(conditions, ' and ')}
    order by created_at desc, namespace desc, name desc limit ${query.limit + 1}`
}

type LockRequest = {
  holder: string
  replaced: string | undefined
  create: Session['sessionType'] | undefined
  now: string
}

async function lockSession(tx: Tx, key: SessionKey, { holder, replaced, create, now }: LockRequest): Promise<boolean> {
  const claim = () => (create === undefined ? lockRow(tx, key) : claimRow(tx, key, { sessionType: create, now }))
  let row = await claim()
  if (row !== undefined && isOver(row, now)) {
    await deleteSessionRows(tx, key)
    row = await claim()
  }
  if (row === undefined) throw new SvcError('NotFound', `there is no session ${key.name} in namespace ${key.namespace}`)
  const isOthers = row.active_task !== null && (replaced === undefined || row.active_task !== encodeText(replaced))
  if (isOthers) return row.active_task === encodeText(holder)
  await tx.run(sql`update sessions set active_task = ${encodeText(holder)} where ${matchKey(key)}`)
  return true
}

async function removeSession(tx: Tx, key: SessionKey): Promise<boolean> {
  const row = await lockRow(tx, key)
  if (row === undefined) return false
  if (row.active_task !== null) {
    throw new SvcError('Conflict', `session ${key.name} is in use by ${decodeText(row.active_task)}: end that first`)
  }
  await deleteSessionRows(tx, key)
  return true
}

async function sweepBatch(tx: Tx, ages: { before: string; now: string }, claimRows: Fragment): Promise<number> {
  const rows = await tx.all(sql<SessionRow>`select * from sessions
    where (updated_at < ${ages.before} or expires_at <= ${ages.now}) and active_task is null limit ${SWEEP_BATCH}${claimRows}`)
  for (const row of rows) {
    await deleteSessionRows(tx, { namespace: decodeText(row.namespace), name: decodeText(row.name) })
  }
  return rows.length
}

export function createSessions(deps: { database: Database; clock: Clock }): Sessions {
  const { database, clock } = deps
  return {
    ...createSessionTranscripts(deps),
    ...createProgramSessions(deps),
    ...createSessionParticipants(deps),

    async ensure(key, { create, sessionType }) {
      const now = clock.now().toISOString()
      const found = await findRow(database.read, key, now)
      if (found !== undefined || !create) return found === undefined ? undefined : toSession(found)
      const row = await database.write(async (tx) => {
        const present = await lockRow(tx, key)
        if (present !== undefined && isOver(present, now)) await deleteSessionRows(tx, key)
        await insertSessionRow(tx, key, { sessionType, now })
        return findRow(tx, key, now)
      })
      return row === undefined ? undefined : toSession(row)
    },

    async get(key) {
      const row = await findRow(database.read, key, clock.now().toISOString())
      return row === undefined ? undefined : toSession(row)
    },

    async list(query) {
      const rows = await database.read.all(selectPage(query, clock.now().toISOString()))
      const items = rows.slice(0, query.limit)
      const last = items.at(-1)
      const page = { items: items.map(toSession) }
      if (rows.length <= query.limit || last === undefined) return page
      const scope = encodeText(query.namespace ?? '')
      return { ...page, continue: encodeCursor([scope, last.created_at, last.namespace, last.name]) }
    },

    async rename(key, title) {
      const now = clock.now().toISOString()
      const row = await database.write((tx) =>
        tx.first(sql<SessionRow>`update sessions set title = ${encodeText(title)}
          where ${matchKey(key)} and ${isUnexpired(now)} returning *`),
      )
      return row === undefined ? undefined : toSession(row)
    },

    async namespaces() {
      const rows = await database.read.all(sql<{ namespace: string }>`select distinct namespace from sessions`)
      return rows.map(({ namespace }) => decodeText(namespace)).sort()
    },

    lock: (key, holder, { replaces: replaced, create } = {}) => {
      const now = clock.now().toISOString()
      return database.write((tx) => lockSession(tx, key, { holder, replaced, create, now }))
    },

    async unlock(key, holder, { expiresAt } = {}) {
      await database.write(async (tx) => void (await releaseRow(tx, key, holder, expiresAt)))
    },

    remove: (key) => database.write((tx) => removeSession(tx, key)),

    async sweep(before) {
      const ages = { before: before.toISOString(), now: clock.now().toISOString() }
      let removed = 0
      for (let batch = SWEEP_BATCH; batch === SWEEP_BATCH; removed += batch) {
        batch = await database.write((tx) => sweepBatch(tx, ages, database.dialect.claimRows))
      }
      await database.write((tx) => sweepParticipants(tx, ages.before))
      return removed
    },
  }
}
