// Findings as SARIF 2.1.0, the format in which scanners, editors and code hosts exchange them: out and in.
import { z } from 'zod'
import { Timestamp } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { listOf, NamespaceQuery } from '../resources/list.ts'
import { errorResponses, ReadHeaders } from '../resources/route.ts'
import { recordQuery, scanParams, scanRoutes } from './routes.ts'

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
    skippedReasons: field(z.record(z.string(), z.int()).optional(), 'How many of them for which reason.', {
      suppressed: 1,
    }),
    commitSHA: field(z.string().optional(), 'Commit that the results are checked against.', commit),
    acceptedFindings: field(z.int().min(0), 'Findings that were kept, known ones too.', 9),
    newFindings: field(z.int().min(0), 'Those that were not known before.', 4),
    droppedFindings: field(z.int().min(0), 'Results that were dropped; `dropped-findings` says why.', 3),
    duplicateResults: field(
      z.int().min(0).optional(),
      'Results that are the same as another one of the file: of one rule, at one place, with one text.',
      2,
    ),
    fixedFindings: field(z.int().min(0), 'Earlier findings of the same scanners that are not there any more.', 2),
    errorMessage: field(z.string().optional(), 'Why it failed and what to do.', 'there is no commit 4b825dc'),
    createdBy: field(z.string(), 'Who gave the file.', 'ada'),
    createdAt: field(Timestamp, 'When the file came.'),
    completedAt: field(Timestamp.optional(), 'When it ended.'),
  })
  .meta({ id: 'ScanImport' })
export type ScanImport = z.infer<typeof ScanImport>

export const sarifType = 'application/sarif+json'
/** Bytes of one file. */
export const maxSarifBytes = 33_554_432

/** One page of imports. */
export const ScanImportList = listOf(ScanImport, 'ScanImportList')

export const exportFindings = scanRoutes.get('/sarif', {
  summary: 'Export findings as SARIF',
  description:
    'Answers everything that was found and is not fixed as one SARIF 2.1.0 log; findings that were dismissed are suppressed. ' +
    'It is written as it is read, so that any number of findings can be exported.',
  responses: { ...errorResponses(404), 200: { description: 'The log', contentType: sarifType } },
})

export const importFindings = scanRoutes.post('/imports', {
  summary: 'Import findings of a scanner',
  description:
    'Takes a SARIF 2.1.0 file of up to 32 MiB and 25000 results. Each result is checked against the file that it names at the commit: ' +
    'what is not there is dropped, with the reason. Of a name from another machine, the longest end that is a file of the tree counts. ' +
    'Every result is kept, dropped, skipped or a duplicate. Again, the same results are the same findings. ' +
    'One import of a scan is under way at a time.',
  query: NamespaceQuery.extend({
    commit: field(
      z
        .string()
        .regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/, 'must be the full id of a commit')
        .optional(),
      'Commit that was scanned. Without it: the one that the file names, else the head of the branch of the scan.',
      '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
    ),
    root: field(
      limitedText(4096).min(1).optional(),
      'Folder in which the scanner ran. It decides where names could be of several files.',
      '/home/ada/shop',
    ),
  }),
  rawBody: sarifType,
  bodyLimit: maxSarifBytes,
  responses: {
    ...errorResponses(404, 409),
    201: { description: 'The import, which is under way', schema: ScanImport },
  },
})

export const listScanImports = scanRoutes.get('/imports', {
  summary: 'List imports',
  description: 'Lists the imports of the scan, the newest first.',
  headers: ReadHeaders,
  query: recordQuery(20),
  responses: { ...errorResponses(404), 200: { description: 'Imports', schema: ScanImportList } },
})

export const getScanImport = scanRoutes.get('/imports/:importID', {
  summary: 'Get an import',
  description: 'Answers an import and what came of it.',
  headers: ReadHeaders,
  params: scanParams.extend({ importID: field(limitedText(64).min(1), 'Id of the import.', 'import_0f1e2d3c4b5a') }),
  responses: { ...errorResponses(404), 200: { description: 'The import', schema: ScanImport } },
})
