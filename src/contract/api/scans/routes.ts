// Repository security scans: the resource, its runs and slices.
import { z } from 'zod'
import { Name } from '../../kinds/resources/metadata.ts'
import { RepositoryScan, severities } from '../../kinds/scans/repository-scan.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { booleanParameter, limitParameter, listOf, NamespaceQuery } from '../resources/list.ts'
import { defineCreate, defineDelete, defineGet, defineObjectList, defineUpdate } from '../resources/resource-routes.ts'
import { errorResponses, ReadHeaders, routesOf } from '../resources/route.ts'
import { Finding, findingStates, validationStatuses } from './findings.ts'
import { DroppedFinding, dropLayers, ReviewSlice, ScanRun, sliceStatuses, ThreatModel } from './runs.ts'

const routesAt = { tag: 'Security', base: '/api/v1/security/repositories', noun: 'a repository scan' }
export const scanParams = z.object({ name: field(Name, 'Name of the scan.', 'shop') })
const cursor = limitedText(4096).optional()

/** Query of a list of records, which takes its cursor by two names. */
export function recordQuery(limit: number) {
  return NamespaceQuery.extend({
    limit: field(limitParameter(limit, 500), 'Records of one page at most.', limit),
    cursor: field(cursor, 'Cursor of the page, from `metadata.continue` of the page before.', 'c2xpY2U6MQ'),
    continue: field(cursor, 'The same as `cursor`.', 'c2xpY2U6MQ'),
  })
}

const word = limitedText(512).min(1).optional()

/** One page of runs. */
export const ScanRunList = listOf(ScanRun, 'ScanRunList')
/** One page of slices. */
export const ReviewSliceList = listOf(ReviewSlice, 'ReviewSliceList')
/** One page of findings that were dropped. */
export const DroppedFindingList = listOf(DroppedFinding, 'DroppedFindingList')
/** One page of findings. */
export const FindingList = listOf(Finding, 'FindingList')

/** Which findings are listed. */
export const FindingQuery = recordQuery(50).extend({
  severity: field(z.enum(severities).optional(), 'Only findings of this severity.'),
  validationStatus: field(z.enum(validationStatuses).optional(), 'Only findings in this state of validation.'),
  state: field(z.enum(findingStates).optional(), 'Only findings in this state.'),
  sliceID: field(word, 'Only findings of this slice.', 'slice_0f1e2d'),
  category: field(word, 'Only findings of this category, as it is written.', 'injection'),
  recommended: field(booleanParameter(false), 'Only candidates for a remedy, the most pressing first.'),
})

/** Which dropped findings are listed. */
export const DroppedQuery = recordQuery(50).extend({
  scanRunID: field(word, 'Only those of this run.', 'scan_0f1e2d3c4b5a'),
  sliceID: field(word, 'Only those of this slice.', 'slice_0f1e2d'),
  layer: field(z.enum(dropLayers).optional(), 'Only those that this check dropped.'),
  reason: field(
    limitedText(1024).min(1).optional(),
    'Only those with exactly this reason; `contains=TEXT`: with TEXT in it, in any case.',
    'contains=quote',
  ),
})

/** What may be said about a run that is started on request. */
export const ScanRequest = z
  .strictObject({
    retryFailed: field(
      z.boolean().default(false),
      'Review only the slices that failed or were not reached in the last run, at the same commit.',
    ),
  })
  .meta({ id: 'ScanRequest' })
export type ScanRequest = z.infer<typeof ScanRequest>

/** A threat model as a person writes it. */
export const ThreatModelUpdate = z
  .strictObject({
    content: field(
      limitedText(262_144, 'must have at most 262144 characters').refine(
        (text) => text.trim() !== '',
        'content is required',
      ),
      'The text, in Markdown.',
      '# Threat model',
    ),
    source: field(limitedText(64).min(1).default('edited'), 'Where it came from.', 'edited'),
  })
  .meta({ id: 'ThreatModelUpdate' })
export type ThreatModelUpdate = z.infer<typeof ThreatModelUpdate>

export const createRepositoryScan = defineCreate('RepositoryScan', routesAt)
export const listRepositoryScans = defineObjectList('RepositoryScan', routesAt)
export const getRepositoryScan = defineGet('RepositoryScan', routesAt, RepositoryScan)
export const updateRepositoryScan = defineUpdate('RepositoryScan', routesAt)
export const deleteRepositoryScan = defineDelete('RepositoryScan', routesAt)

/** The routes of one scan. */
export const scanRoutes = routesOf({
  tag: routesAt.tag,
  base: `${routesAt.base}/:name`,
  kind: 'RepositoryScan',
  params: scanParams,
  query: NamespaceQuery,
})

export const getThreatModel = scanRoutes.get('/threat-model', {
  summary: 'Get the threat model',
  description: 'Answers the newest threat model of the scan.',
  headers: ReadHeaders,
  responses: { ...errorResponses(404), 200: { description: 'The threat model', schema: ThreatModel } },
})

export const updateThreatModel = scanRoutes.put('/threat-model', {
  summary: 'Change the threat model',
  description: 'Stores a new version. A run that began earlier does not replace it.',
  body: ThreatModelUpdate,
  responses: { ...errorResponses(404), 200: { description: 'The threat model as stored', schema: ThreatModel } },
})

export const listScanRuns = scanRoutes.get('/scans', {
  summary: 'List runs',
  description: 'Lists the runs of the scan, those that started last first.',
  headers: ReadHeaders,
  query: recordQuery(20),
  responses: { ...errorResponses(404), 200: { description: 'Runs', schema: ScanRunList } },
})

export const startScanRun = scanRoutes.post('/scans', {
  summary: 'Start a run',
  description: 'Starts a run of the whole repository, or of what failed in the last one. One run is active at a time.',
  body: ScanRequest,
  bodyOptional: true,
  responses: { ...errorResponses(404, 409), 201: { description: 'The run', schema: ScanRun } },
})

export const listReviewSlices = scanRoutes.get('/slices', {
  summary: 'List review slices',
  description: 'Lists the slices of the last run, those that changed last first.',
  headers: ReadHeaders,
  query: recordQuery(100).extend({
    status: field(z.enum(sliceStatuses).optional(), 'Only slices with this status.'),
  }),
  responses: { ...errorResponses(404), 200: { description: 'Slices', schema: ReviewSliceList } },
})

export const getReviewSlice = scanRoutes.get('/slices/:sliceID', {
  summary: 'Get a review slice',
  description: 'Answers a slice with its files.',
  headers: ReadHeaders,
  params: scanParams.extend({ sliceID: field(limitedText(128).min(1), 'Id of the slice.', 'slice_0f1e2d') }),
  responses: { ...errorResponses(404), 200: { description: 'The slice', schema: ReviewSlice } },
})

export const listDroppedFindings = scanRoutes.get('/dropped-findings', {
  summary: 'List dropped findings',
  description: 'Lists what models reported and was not kept, with the reason, the newest first.',
  headers: ReadHeaders,
  query: DroppedQuery,
  responses: { ...errorResponses(404), 200: { description: 'Dropped findings', schema: DroppedFindingList } },
})

export const listFindings = scanRoutes.get('/findings', {
  summary: 'List findings',
  description: 'Lists findings, those that changed last first.',
  headers: ReadHeaders,
  query: FindingQuery,
  responses: { ...errorResponses(404), 200: { description: 'Findings', schema: FindingList } },
})
