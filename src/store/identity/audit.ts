// The audit log in SQL: one row per record, newest first by time and id.
import type { CallerKind } from '../../contract/api/identity/caller.ts'
import { dropUndefined } from '../../lib/json.ts'
import type { Audit, AuditQuery, AuditRecord } from '../../ports/identity/audit.ts'
import type { Database, Tx } from '../database/database.ts'
import { type Fragment, joinSql, sql } from '../database/statement.ts'
import { encodeText } from '../database/stored-text.ts'
import { column, flag, number, optional, type RecordOf, Table, text, word, wordOf } from '../database/table.ts'

const SWEEP_BATCH = 1000

const audit = new Table('audit_records', {
  id: text,
  createdAt: word,
  callerName: column('caller', optional(text)),
  callerKind: column('auth_type', optional(wordOf<CallerKind>())),
  callerId: optional(text),
  via: wordOf<AuditRecord['via']>(),
  verb: wordOf<AuditRecord['verb']>(),
  kind: optional(wordOf<NonNullable<AuditRecord['kind']>>()),
  namespace: optional(text),
  name: optional(text),
  route: optional(text),
  address: optional(text),
  allowed: flag,
  status: optional(number),
  requestId: optional(text),
  session: optional(text),
  taskUid: optional(text),
})

function toRecord({
  callerName: name,
  callerKind: kind,
  callerId: id,
  ...record
}: RecordOf<typeof audit>): AuditRecord {
  return name === undefined ? record : { ...record, caller: { ...dropUndefined({ kind, id }), name } }
}

async function insertRecord(tx: Tx, { caller, ...record }: AuditRecord): Promise<void> {
  const named = { callerName: caller?.name, callerKind: caller?.kind, callerId: caller?.id }
  const createdAt = new Date(record.createdAt).toISOString()
  await tx.run(sql`${audit.insert({ ...record, ...named, createdAt })} on conflict (id) do nothing`)
}

function selectConditions(query: AuditQuery): Fragment[] {
  const { namespace, caller, kind, verb, allowed, since, until, before } = query
  const conditions = [audit.match({ namespace, allowed })]
  if (caller !== undefined) {
    const wanted = encodeText(caller)
    conditions.push(sql`(caller_id = ${wanted} or (caller_id is null and caller = ${wanted}))`)
  }
  if (kind !== undefined) conditions.push(sql`kind = ${encodeText(kind)}`)
  if (verb !== undefined) conditions.push(sql`verb = ${encodeText(verb)}`)
  if (since !== undefined) conditions.push(sql`created_at >= ${since.toISOString()}`)
  if (until !== undefined) conditions.push(sql`created_at < ${until.toISOString()}`)
  if (before !== undefined) conditions.push(sql`(created_at, id) < (${before.createdAt}, ${encodeText(before.id)})`)
  return conditions
}

export function createAudit({ database }: { database: Database }): Audit {
  async function sweepBatch(before: string): Promise<number> {
    const { changes } = await database.write((tx) =>
      tx.run(sql`delete from audit_records where id in
        (select id from audit_records where created_at < ${before} limit ${SWEEP_BATCH})`),
    )
    return changes
  }

  return {
    async append(records) {
      if (records.length === 0) return
      await database.write(async (tx) => {
        for (const record of records) await insertRecord(tx, record)
      })
    },

    async list(query) {
      const where = joinSql(selectConditions(query), ' and ')
      const rest = sql`where ${where} order by created_at desc, id desc limit ${query.limit}`
      return (await audit.all(database.read, rest)).map(toRecord)
    },

    async sweep(before) {
      let removed = 0
      for (let batch = SWEEP_BATCH; batch === SWEEP_BATCH; removed += batch) {
        batch = await sweepBatch(before.toISOString())
      }
      return removed
    },
  }
}
