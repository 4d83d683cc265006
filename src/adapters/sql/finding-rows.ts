// Rows of findings: the body as JSON, and the columns that lists filter and sort by.
import type { Finding } from '../../contract/api/security/findings.ts'
import { rankOf } from '../../rules/scans/finding-state.ts'
import type { Tx } from './database.ts'
import { sql } from './statement.ts'
import { encodeOptional, encodeText } from './stored-text.ts'

export type FindingRow = { scan_uid: string; body: string }

export async function writeFinding(tx: Tx, scanUid: string, finding: Finding): Promise<void> {
  const { id, severity, validationStatus, state, updatedAt } = finding
  await tx.run(sql`insert into findings (id, scan_uid, namespace, severity, validation_status, state, slice, file_path,
      category, rank, dismissed_until, updated_at, body)
    values (${id}, ${scanUid}, ${encodeText(finding.namespace)}, ${severity}, ${validationStatus}, ${state},
      ${encodeOptional(finding.sliceID)}, ${encodeOptional(finding.filePath)}, ${encodeOptional(finding.category)},
      ${rankOf(finding) ?? null}, ${finding.dismissal?.until ?? null}, ${updatedAt}, ${JSON.stringify(finding)})
    on conflict (id) do update set severity = excluded.severity, validation_status = excluded.validation_status,
      state = excluded.state, slice = excluded.slice, file_path = excluded.file_path, category = excluded.category,
      rank = excluded.rank, dismissed_until = excluded.dismissed_until, updated_at = excluded.updated_at,
      body = excluded.body`)
}

/** The finding, locked to the end of the transaction. */
export async function lockFinding(tx: Tx, id: string): Promise<{ scanUid: string; finding: Finding } | undefined> {
  const row = await tx.first(
    sql<FindingRow>`update findings set id = id where id = ${encodeText(id)} returning scan_uid, body`,
  )
  return row && { scanUid: row.scan_uid, finding: JSON.parse(row.body) as Finding }
}
