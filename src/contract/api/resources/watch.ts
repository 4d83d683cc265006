// The one live stream: changes of objects as they happen.
import { z } from 'zod'
import { type Kind, kindNames } from '../../kinds/index.ts'
import { Name } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { taskFilters } from '../tasks/tasks.ts'
import { booleanParameter, LabelSelector, SearchParameter, someOf, ViewParameter, Words } from './list.ts'
import { documentAs, errorResponses, routesOf, StreamHeaders } from './route.ts'

const documented = limitedText(4096).min(1)
const documentedNames = documented.regex(
  /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(,[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?){0,49}$/,
)
const KindWords = someOf(kindNames as [Kind, ...Kind[]])
const NameWords = documentAs(Words.pipe(z.array(Name).max(50)), documentedNames)

/** Records that a watch can report; they are not objects, and are listed by routes of their own. */
export const recordKinds = [
  ...(['Approval', 'Audit', 'Budget', 'Delivery', 'Finding', 'Memory', 'MemoryProposal'] as const),
  ...(['Message', 'Monitor', 'Plan', 'Scan', 'Session', 'Usage', 'Workspace'] as const),
] as const
/** One of them. */
export type RecordKind = (typeof recordKinds)[number]

/** Which changes a watch reports. */
export const WatchQuery = z.object({
  kinds: field(KindWords, 'Kinds of the objects, separated by commas.', 'Task,Agent'),
  namespaces: field(
    NameWords.optional(),
    "Namespaces of the objects, separated by commas. Without them: the caller's own, else `default`.",
    'default,team',
  ),
  allNamespaces: field(
    booleanParameter(false),
    'Watch every namespace that the caller may list, instead of some. What lies in others is left out.',
  ),
  names: field(NameWords.optional(), 'Only objects of these names, separated by commas.', 'nightly-report'),
  labelSelector: field(
    LabelSelector.optional(),
    'Only objects whose labels match; one that no longer matches is told as `deleted`.',
    'team=search,env!=test',
  ),
  search: SearchParameter,
  ...taskFilters,
  view: ViewParameter,
  records: field(
    someOf(recordKinds).optional(),
    'Records to tell of besides, separated by commas: `records` events say that some of a kind have changed.',
    'Approval,Finding',
  ),
  present: field(
    booleanParameter(true),
    'Whether to begin with an `added` for each object there is. `false`: `synced` comes at once, and then what changes.',
  ),
  resourceVersion: field(
    z
      .string()
      .regex(/^\d{1,15}$/, 'must be a number')
      .optional(),
    'Tell what changed after this version, of an object or of an event. Without it, and without `Last-Event-ID`: first an `added` for each object there is, then `synced`, then what changes.',
    '1042',
  ),
})
export type WatchQuery = z.infer<typeof WatchQuery>

/** Names of the events about an object. */
export const changeTypes = ['added', 'modified', 'deleted'] as const
/** How an object has changed. */
export type ChangeType = (typeof changeTypes)[number]

/** Data of `added`, `modified` and `deleted`. */
export type WatchedChange<R = unknown> = {
  kind: Kind
  /** The object after the change, or its last state when it was deleted. */
  object: R
}

/** Data of `records`: records of the kind have changed in the namespace; without one: perhaps anywhere. */
export type WatchedRecords = { kind: RecordKind; namespace?: string }

/** Data of `synced` (all existing objects have been sent) and of `bookmark` (no further changes up to this version). */
export type WatchedPosition = { resourceVersion: string }

export const watchResources = routesOf({ tag: 'Watch', kind: 'Task' }).list('/api/v1/watch', {
  summary: 'Changes of objects as they come',
  description: [
    'An event stream of what happens to objects of the API, each as the caller may list it. Events are `added`, `modified` and `deleted`,',
    'with `{"kind","object"}` as data; `synced` after the objects that were there at the beginning; and `bookmark` in silence.',
    '`records` has `{"kind","namespace"}` and says that records of the kind have changed, at most once a second for each; without a',
    'namespace: perhaps anywhere, as after a stream is taken up again. Records that the caller may not list are left out.',
    '`synced` and `bookmark` have `{"resourceVersion"}`. The id of an event is a version up to which everything was told: `Last-Event-ID`',
    'goes on after it, on any replica, and can repeat events, whose objects have the same `metadata.resourceVersion`.',
    'A version that is too old is answered 410, and a stream whose reader is too slow is ended: begin without a version.',
    'Credential and rights are asked again while the stream lives; it is ended when the credential is no longer good, or may no longer list a namespace that is named.',
  ].join(' '),
  query: WatchQuery,
  headers: StreamHeaders,
  responses: { ...errorResponses(410), 200: { description: 'The events', contentType: 'text/event-stream' } },
  stream: 'sse',
})
