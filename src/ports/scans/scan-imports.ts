// Imports of findings of scanners: what was given, until it has been taken in, and what came of it. They belong to one scan by
// its uid; `Scans.removeScan` removes them.
import type { ScanImport } from '../../contract/api/scans/imports.ts'
import type { PageQuery, RecordPage, ScanKey } from './scans.ts'

export type { ScanImport }

export type NewImport = Pick<
  ScanImport,
  'id' | 'tools' | 'resultCount' | 'skippedResults' | 'createdBy' | 'commitSHA'
> & {
  /** What is to be taken in; kept until the import has ended. */
  content: string
}

export type ImportEnd = Pick<ScanImport, 'phase'> &
  Partial<
    Pick<
      ScanImport,
      'commitSHA' | 'acceptedFindings' | 'newFindings' | 'droppedFindings' | 'fixedFindings' | 'errorMessage'
    >
  >

export interface ScanImports {
  /** Conflict while another import of the scan is under way; the same content again: the import that there is. */
  startImport(scan: ScanKey, draft: NewImport): Promise<ScanImport>
  /** The import that is under way. */
  pendingImport(scanUid: string): Promise<{ record: ScanImport; content: string } | undefined>
  /** What was given is removed. An import that has ended stays as it is. */
  endImport(scanUid: string, id: string, end: ImportEnd): Promise<void>
  getImport(scanUid: string, id: string): Promise<ScanImport | undefined>
  /** Newest first. */
  listImports(scanUid: string, page: PageQuery): Promise<RecordPage<ScanImport>>
}
