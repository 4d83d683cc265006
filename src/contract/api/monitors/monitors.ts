// Monitors of repositories: the five routes of every kind, runs, and what a monitor has seen and done.
import { z } from 'zod'
import { Name } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { integerParameter, limitParameter, listOf, NamespaceQuery } from '../resources/list.ts'
import {
  defineCreate,
  defineDelete,
  defineGet,
  defineObjectList,
  defineUpdate,
  resourceSchemaOf,
} from '../resources/resource-routes.ts'
import { errorResponses, ReadHeaders, routesOf } from '../resources/route.ts'
import {
  MonitorEvent,
  MonitorItem,
  MonitorReviewRecord,
  MonitorRun,
  runTarget,
  runTriggers,
} from './monitor-records.ts'

const tag = 'Monitors'
const base = '/api/v1/monitors/repositories'
const routesAt = { tag, base, noun: 'a repository monitor' }
const kind = 'RepositoryMonitor'
const params = z.object({ name: field(Name, 'Name of the monitor.', 'reviews') })

export const createMonitor = defineCreate(kind, routesAt)
export const listMonitors = defineObjectList(kind, routesAt)
export const getMonitor = defineGet(kind, routesAt, resourceSchemaOf(kind))
export const updateMonitor = defineUpdate(kind, routesAt)
export const deleteMonitor = defineDelete(kind, routesAt)

const maxItems = 200

function pageOf(standard: number) {
  const cursor = limitedText(4096).optional()
  return NamespaceQuery.extend({
    limit: field(limitParameter(standard, maxItems), 'Entries of one page at most.', standard),
    continue: field(cursor, 'Cursor of the page, from `metadata.continue` of the page before.', 'bW9uaXRvcnM6MQ'),
    cursor: field(cursor, 'Another name of `continue`.', 'bW9uaXRvcnM6MQ'),
  })
}

const word = limitedText(253).min(1, 'must not be empty')
const number = integerParameter({ min: 1, max: 2_147_483_647 })
const itemKind = field(word.optional(), 'Only those of this kind: `pull_request`.', 'pull_request')

/** What a run is asked to look at; an empty one: everything. */
export const MonitorRunRequest = z
  .strictObject(runTarget)
  .refine(({ targetNumber, targetSHA }) => targetSHA === undefined || targetNumber !== undefined, {
    path: ['targetNumber'],
    message: 'is required with targetSHA: a commit belongs to one pull request',
  })
  .meta({ id: 'MonitorRunRequest' })
export type MonitorRunRequest = z.infer<typeof MonitorRunRequest>

const one = routesOf({
  tag,
  base: `${base}/:name`,
  kind,
  params,
  query: NamespaceQuery,
})

export const createMonitorRun = one.post('/runs', {
  summary: 'Start a run',
  description:
    'Queues a run. Without a body it looks at every open pull request; with `targetNumber` at one, and the others stay as they are. Refused with 409 while a run is queued or running.',
  body: MonitorRunRequest,
  bodyOptional: true,
  responses: { ...errorResponses(404, 409), 201: { description: 'The queued run', schema: MonitorRun } },
  verb: 'operate',
})

const MonitorRunQuery = pageOf(20).extend({
  trigger: field(z.enum(runTriggers).optional(), 'Only runs that this started.'),
  targetKind: field(word.optional(), 'Only runs with this kind of target.', 'pull_request'),
})

export const listMonitorRuns = one.get('/runs', {
  summary: 'List the runs of a monitor',
  description: 'Lists runs, the last queued first.',
  query: MonitorRunQuery,
  headers: ReadHeaders,
  responses: { ...errorResponses(404), 200: { description: 'Runs', schema: listOf(MonitorRun, 'MonitorRunList') } },
})

const MonitorItemQuery = pageOf(50).extend({
  kind: itemKind,
  number: field(number.optional(), 'Only this pull request.', 42),
  state: field(word.optional(), 'Only those in this state: `open` or `out_of_scope`.', 'open'),
  verdict: field(word.optional(), 'Only those with this verdict.', 'needs_changes'),
  repairState: field(word.optional(), 'Only those whose repair is so far.', 'queued'),
  automergeState: field(word.optional(), 'Only those whose merge is so far.', 'pending'),
})

export const listMonitorItems = one.get('/items', {
  summary: 'List the pull requests of a monitor',
  description: 'Lists what the monitor knows of each pull request, the last changed first.',
  query: MonitorItemQuery,
  headers: ReadHeaders,
  responses: { ...errorResponses(404), 200: { description: 'Items', schema: listOf(MonitorItem, 'MonitorItemList') } },
})

const MonitorReviewQuery = pageOf(50).extend({
  number: field(number.optional(), 'Only those of this pull request.', 42),
})

export const listMonitorReviews = one.get('/reviews', {
  summary: 'List the reviews of a monitor',
  description: 'Lists reviews with their findings and the outcome of the validation commands, newest first.',
  query: MonitorReviewQuery,
  headers: ReadHeaders,
  responses: {
    ...errorResponses(404),
    200: { description: 'Reviews', schema: listOf(MonitorReviewRecord, 'MonitorReviewList') },
  },
})

/** A finding that a person has judged. */
export const FindingDismissal = z
  .strictObject({ dismissed: field(z.boolean(), 'Whether the finding is dismissed: no later review shows it again.') })
  .meta({ id: 'FindingDismissal' })

export const dismissMonitorFinding = one.put('/items/:number/findings/:id', {
  summary: 'Dismiss a finding, or take that back',
  description: 'Later reviews of the pull request do not show a dismissed finding, and the reviewer is told of it.',
  params: params.extend({
    number: field(number, 'Number of the pull request.', 42),
    id: field(limitedText(64).min(1), 'Id of the finding.', 'find-1f6c2a9b04d1'),
  }),
  body: FindingDismissal,
  responses: { ...errorResponses(404), 204: { description: 'Noted' } },
  verb: 'operate',
})

export const publishMonitorReview = one.post('/items/:number/publish', {
  summary: 'Post the last review of a pull request',
  description:
    'Posts the review that the pull request has, also where the monitor posts none by itself. What becomes of it stands in `lastPublishPhase`. 409 where there is none of its present head, or it is posted already.',
  params: params.extend({ number: field(number, 'Number of the pull request.', 42) }),
  responses: {
    ...errorResponses(404, 409),
    202: { description: 'The pull request, whose review is going to be posted', schema: MonitorItem },
  },
})

const MonitorEventQuery = pageOf(50).extend({
  name: field(Name, 'Name of the monitor; required.', 'reviews'),
  runID: field(word.optional(), 'Only events of this run.', 'monrun-0192f0c1'),
  itemKind,
  itemNumber: field(number.optional(), 'Only events about this pull request.', 42),
  eventType: field(word.optional(), 'Only events of this type.', 'item_skipped'),
})

export const listMonitorEvents = routesOf({ tag, kind }).get('/api/v1/monitors/events', {
  summary: 'List what a monitor has done',
  description: 'Lists audit events of one monitor, newest first.',
  query: MonitorEventQuery,
  headers: ReadHeaders,
  responses: {
    ...errorResponses(404),
    200: { description: 'Events', schema: listOf(MonitorEvent, 'MonitorEventList') },
  },
})
