// Findings as SARIF 2.1.0, the format in which scanners, editors and code hosts exchange them: out and in.

import { z } from 'zod'
import { field } from '../../schema/field.ts'
import { listOf, NamespaceQuery } from '../resources/list.ts'
import { defineRoute, errorResponses, ReadHeaders } from '../resources/route.ts'
import { ScanImport } from './imports.ts'
import { scanBase as base, scanParams as params, recordQuery, tag } from './routes.ts'

export const sarifType = 'application/sarif+json'
/** Bytes of one file. */
export const largestSarif = 33_554_432

/** One page of imports. */
export const ScanImportList = listOf(ScanImport, 'ScanImportList')

const reading = { auth: 'user', verb: { verb: 'get', kind: 'RepositoryScan' } } as const

export const exportFindings = defineRoute({
  ...reading,
  method: 'GET',
  path: `${base}/sarif`,
  tag,
  summary: 'Export findings as SARIF',
  description:
    'Answers everything that was found and is not fixed as one SARIF 2.1.0 log; findings that were dismissed are suppressed. ' +
    'It is written as it is read, so that any number of findings can be exported.',
  params,
  query: NamespaceQuery,
  responses: { ...errorResponses(404), 200: { description: 'The log', contentType: sarifType } },
})

export const importFindings = defineRoute({
  method: 'POST',
  path: `${base}/imports`,
  tag,
  summary: 'Import findings of a scanner',
  description:
    'Takes a SARIF 2.1.0 file of up to 32 MiB and 25000 results. Each result is checked against the file that it names at the commit, ' +
    'like what a reviewer reports; what is not there is dropped, with the reason. Again, the same results are the same findings. ' +
    'One import of a scan is under way at a time.',
  params,
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
      z.string().min(1).max(4096).optional(),
      'Folder in which the scanner ran, for files that name places by absolute paths.',
      '/home/ada/shop',
    ),
  }),
  rawBody: sarifType,
  bodyLimit: largestSarif,
  responses: {
    ...errorResponses(404, 409),
    201: { description: 'The import, which is under way', schema: ScanImport },
  },
  auth: 'user',
  verb: { verb: 'update', kind: 'RepositoryScan' },
})

export const listScanImports = defineRoute({
  ...reading,
  headers: ReadHeaders,
  method: 'GET',
  path: `${base}/imports`,
  tag,
  summary: 'List imports',
  description: 'Lists the imports of the scan, the newest first.',
  params,
  query: recordQuery(20),
  responses: { ...errorResponses(404), 200: { description: 'Imports', schema: ScanImportList } },
})

export const getScanImport = defineRoute({
  ...reading,
  headers: ReadHeaders,
  method: 'GET',
  path: `${base}/imports/:importID`,
  tag,
  summary: 'Get an import',
  description: 'Answers an import and what came of it.',
  params: params.extend({ importID: field(z.string().min(1).max(64), 'Id of the import.', 'import_0f1e2d3c4b5a') }),
  query: NamespaceQuery,
  responses: { ...errorResponses(404), 200: { description: 'The import', schema: ScanImport } },
})
