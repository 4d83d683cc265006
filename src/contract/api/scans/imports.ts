// What scanners found, given as SARIF: each import, and what came of it.

import { z } from 'zod'
import { Timestamp } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'

export const importPhases = ['pending', 'succeeded', 'failed'] as const
/** How far an import is. */
export type ImportPhase = (typeof importPhases)[number]

const commit = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

/** One import of findings of scanners. */
export const ScanImport = z
  .object({
    id: field(z.string(), '`import_` and 12 hex digits; the run of the findings that it kept.', 'import_0f1e2d3c4b5a'),
    namespace: field(z.string(), 'Namespace of the scan.', 'default'),
    repositoryScan: field(z.string(), 'Scan that it belongs to.', 'shop'),
    phase: field(z.enum(importPhases), 'How far it is.'),
    tools: field(z.array(z.string()), 'Scanners that the file is from.', ['semgrep']),
    resultCount: field(z.int().min(0), 'Results of the file that are candidates.', 12),
    skippedResults: field(z.int().min(0), 'Results that the file itself says are none, such as suppressed ones.', 1),
    commitSHA: field(z.string().optional(), 'Commit that the results are checked against.', commit),
    acceptedFindings: field(z.int().min(0), 'Findings that were kept, known ones too.', 9),
    newFindings: field(z.int().min(0), 'Those that were not known before.', 4),
    droppedFindings: field(z.int().min(0), 'Results that were dropped; `dropped-findings` says why.', 3),
    fixedFindings: field(z.int().min(0), 'Earlier findings of the same scanners that are not there any more.', 2),
    errorMessage: field(z.string().optional(), 'Why it failed and what to do.', 'there is no commit 4b825dc'),
    createdBy: field(z.string(), 'Who gave the file.', 'ada'),
    createdAt: field(Timestamp, 'When the file came.'),
    completedAt: field(Timestamp.optional(), 'When it ended.'),
  })
  .meta({ id: 'ScanImport' })
export type ScanImport = z.infer<typeof ScanImport>
