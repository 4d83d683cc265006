// The audit log in SQL: one row per record, newest first by time and id.
import type { CallerKind, RecordedCaller } from '../../contract/api/identity/caller.ts'
import type { Audit, AuditQuery, AuditRecord } from '../../ports/identity/audit.ts'
import type { Database, Tx } from '../database/database.ts'
import { type Fragment, joinSql, sql } from '../database/statement.ts'
import { decodeOptional, decodeText, encodeOptional, encodeText } from '../database/stored-text.ts'

const SWEEP_BATCH = 1000

type AuditRow = {
  id: string
  created_at: string
  caller: string | null
  auth_type: CallerKind | null
  caller_id: string | null
  via: AuditRecord['via']
  verb: AuditRecord['verb']
  kind: AuditRecord['kind'] | null
  namespace: string | null
  name: string | null
  route: string | null
  address: string | null
  allowed: number
  status: number | null
  request_id: string | null
  session: string | null
  task_uid: string | null
}

function omitAbsent<T extends object>(fields: T): { [P in keyof T]?: Exclude<T[P], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}

function toCaller({ caller, auth_type: kind, caller_id }: AuditRow): RecordedCaller | undefined {
  if (caller === null) return undefined
  return { ...omitAbsent({ kind: kind ?? undefined, id: decodeOptional(caller_id) }), name: decodeText(caller) }
}

function toRecord(row: AuditRow): AuditRecord {
  const { created_at: createdAt, via, verb } = row
  const optional = {
    caller: toCaller(row),
    kind: row.kind ?? undefined,
    namespace: decodeOptional(row.namespace),
    name: decodeOptional(row.name),
    route: decodeOptional(row.route),
    address: decodeOptional(row.address),
    status: row.status ?? undefined,
    requestId: decodeOptional(row.request_id),
    session: decodeOptional(row.session),
    taskUid: decodeOptional(row.task_uid),
  }
  return { id: decodeText(row.id), createdAt, via, verb, allowed: row.allowed === 1, ...omitAbsent(optional) }
}

async function insertRecord(tx: Tx, record: AuditRecord): Promise<void> {
  await tx.run(sql`insert into audit_records
      (id, created_at, caller, auth_type, caller_id, via, verb, kind, namespace, name, route, address, allowed, status,
      request_id, session, task_uid)
    values (${encodeText(record.id)}, ${new Date(record.createdAt).toISOString()}, ${encodeOptional(record.caller?.name)},
      ${record.caller?.kind ?? null}, ${encodeOptional(record.caller?.id)}, ${record.via}, ${record.verb},
      ${record.kind ?? null},
      ${encodeOptional(record.namespace)}, ${encodeOptional(record.name)}, ${encodeOptional(record.route)},
      ${encodeOptional(record.address)}, ${record.allowed ? 1 : 0}, ${record.status ?? null},
      ${encodeOptional(record.requestId)}, ${encodeOptional(record.session)}, ${encodeOptional(record.taskUid)})
    on conflict (id) do nothing`)
}

function selectConditions(query: AuditQuery): Fragment[] {
  const { namespace, caller, kind, verb, allowed, since, until, before } = query
  const conditions: Fragment[] = []
  if (namespace !== undefined) conditions.push(sql`namespace = ${encodeText(namespace)}`)
  if (caller !== undefined) {
    const wanted = encodeText(caller)
    conditions.push(sql`(caller_id = ${wanted} or (caller_id is null and caller = ${wanted}))`)
  }
  if (kind !== undefined) conditions.push(sql`kind = ${encodeText(kind)}`)
  if (verb !== undefined) conditions.push(sql`verb = ${encodeText(verb)}`)
  if (allowed !== undefined) conditions.push(sql`allowed = ${allowed ? 1 : 0}`)
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
      const conditions = selectConditions(query)
      const where = conditions.length === 0 ? sql`` : sql`where ${joinSql(conditions, ' and ')}`
      const rows = await database.read.all(sql<AuditRow>`select * from audit_records ${where}
        order by created_at desc, id desc limit ${query.limit}`)
      return rows.map(toRecord)
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
