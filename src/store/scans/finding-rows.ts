// Rows of findings: the body as JSON, and the columns that lists filter and sort by.
import type { Finding } from '../../contract/api/scans/findings.ts'
import { rankOf } from '../../rules/scans/finding-state.ts'
import type { Tx } from '../database/database.ts'
import { type Fragment, joinSql, listSql, sql } from '../database/statement.ts'
import { encodeOptional, encodeText } from '../database/stored-text.ts'

export type FindingRow = { scan_uid: string; body: string }

/** Neither dismissed nor fixed. */
export const isOpen = sql`state in ('open', 'patch_pending', 'patch_ready', 'pr_open')`

/** Rows of one statement: databases bound their parameters, and their work for one text. */
const rowsAtOnce = 200

function inGroups<T>(items: readonly T[]): T[][] {
  const count = Math.ceil(items.length / rowsAtOnce)
  return Array.from({ length: count }, (_, at) => items.slice(at * rowsAtOnce, (at + 1) * rowsAtOnce))
}

function rowSql(scanUid: string, finding: Finding): Fragment {
  const { id, severity, validationStatus, state, updatedAt } = finding
  return sql`(${id}, ${scanUid}, ${encodeText(finding.namespace)}, ${severity}, ${validationStatus}, ${state},
    ${encodeOptional(finding.sliceID)}, ${encodeOptional(finding.filePath)}, ${encodeOptional(finding.category)},
    ${rankOf(finding) ?? null}, ${finding.dismissal?.until ?? null}, ${updatedAt}, ${JSON.stringify(finding)})`
}

/** New ones, or in place of those that were there. Each of them once. */
export async function writeFindings(tx: Tx, scanUid: string, findings: readonly Finding[]): Promise<void> {
  for (const group of inGroups(findings)) {
    const rows = group.map((finding) => rowSql(scanUid, finding))
    await tx.run(sql`insert into findings (id, scan_uid, namespace, severity, validation_status, state, slice, file_path,
        category, rank, dismissed_until, updated_at, body)
      values ${joinSql(rows, ', ')}
      on conflict (id) do update set severity = excluded.severity, validation_status = excluded.validation_status,
        state = excluded.state, slice = excluded.slice, file_path = excluded.file_path, category = excluded.category,
        rank = excluded.rank, dismissed_until = excluded.dismissed_until, updated_at = excluded.updated_at,
        body = excluded.body`)
  }
}

export function writeFinding(tx: Tx, scanUid: string, finding: Finding): Promise<void> {
  return writeFindings(tx, scanUid, [finding])
}

/** Those of the findings that there are, by id, locked to the end of the transaction. */
export async function lockFindings(tx: Tx, ids: readonly string[]): Promise<Map<string, Finding>> {
  const found = new Map<string, Finding>()
  // In order, as everybody does: two who lock the same ones do not wait for each other.
  for (const group of inGroups(ids.toSorted())) {
    const rows =
      await tx.all(sql<FindingRow>`update findings set id = id where id in (${listSql(group.map(encodeText))})
      returning scan_uid, body`)
    for (const { body } of rows) {
      const finding = JSON.parse(body) as Finding
      found.set(finding.id, finding)
    }
  }
  return found
}

/** The finding, locked to the end of the transaction. */
export async function lockFinding(tx: Tx, id: string): Promise<{ scanUid: string; finding: Finding } | undefined> {
  const row = await tx.first(
    sql<FindingRow>`update findings set id = id where id = ${encodeText(id)} returning scan_uid, body`,
  )
  return row && { scanUid: row.scan_uid, finding: JSON.parse(row.body) as Finding }
}
