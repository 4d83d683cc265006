// What lists have in common: the envelope, and the query parameters.
import { z } from 'zod'
import { Name, ObjectMeta } from '../../kinds/resources/metadata.ts'
import { field, publishedMark } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { documentAs } from './route.ts'

/** Where the next page of a list starts. */
export const ListMetadata = z
  .object({
    continue: field(
      z.string().optional(),
      'Cursor of the next page; absent on the last page.',
      'eyJuIjoiZGVmYXVsdC9hIn0',
    ),
    remainingItemCount: field(z.int().min(0).optional(), 'How many items follow, where it is known.', 120),
  })
  .meta({ id: 'ListMetadata' })
export type ListMetadata = z.infer<typeof ListMetadata>

/** The envelope of every list (HTTP-020). */
export function listOf<S extends z.ZodType>(item: S, id: string) {
  return z
    .object({
      items: field(z.array(item), 'The objects of this page.'),
      metadata: field(ListMetadata, 'Where the next page starts.'),
    })
    .meta({ id })
}

/** A page as a client reads it. */
export type ListBody<T> = { items: T[]; metadata: ListMetadata }

export const defaultLimit = 100
export const maxLimit = 500

/** Text of digits to a number; anything else is refused with `message`. */
export function integerParameter(range: { min: number; max: number }) {
  const message = `must be a whole number from ${range.min} to ${range.max}`
  const schema = z
    .string(message)
    .regex(/^\d{1,15}$/, message)
    .transform(Number)
    .pipe(z.int().min(range.min, message).max(range.max, message))
  return documentAs(schema, z.int().min(range.min).max(range.max))
}

/** Page size: below 1 is refused, above the maximum is the maximum. */
export function limitParameter(standard: number, max: number) {
  return documentAs(
    z
      .string()
      .default(String(standard))
      .transform((text, context) => {
        const limit = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
        if (limit >= 1) return Math.min(limit, max)
        context.addIssue({ code: 'custom', message: 'must be a whole number of at least 1' })
        return z.NEVER
      }),
    z.int().min(1).default(standard),
  )
}

/** Page size: default 100, below 1 is refused, above 500 is 500 (HTTP-023, HTTP-024). */
export const LimitParameter = limitParameter(defaultLimit, maxLimit)

/** Exactly `true` or `false`. */
export function booleanParameter(standard: boolean) {
  return documentAs(
    z
      .enum(['true', 'false'])
      .default(standard ? 'true' : 'false')
      .transform((text) => text === 'true'),
    z.boolean().default(standard),
  )
}

/** A time (RFC 3339). */
export const TimeParameter = z.iso.datetime({ offset: true })

/** Query of all routes within a namespace; absent: the caller's own, else `default`. */
export const NamespaceQuery = z.object({
  namespace: field(Name.optional(), "Namespace to act in. Without it: the caller's own, else `default`.", 'default'),
})

/** Query of every list. */
export const ListQuery = NamespaceQuery.extend({
  limit: field(LimitParameter, 'Items of one page at most.', 100),
  continue: field(
    limitedText(4096).optional(),
    'Cursor of the page, from `metadata.continue` of the page before.',
    'eyJuIjoiZGVmYXVsdC9hIn0',
  ),
})
export type ListQuery = z.infer<typeof ListQuery>

/** Query of a list that can go over all namespaces. */
export const NamespacesListQuery = ListQuery.extend({
  allNamespaces: field(
    booleanParameter(false),
    'List every namespace that the caller may list, instead of one. What lies in others is left out.',
  ),
})

/** The orders of a list. */
export const listOrders = ['name', 'created', '-created'] as const

/** The order of a list. */
export const SortParameter = z.enum(listOrders).default('name')

/** Query of a list of objects. */
export const ObjectListQuery = NamespacesListQuery.extend({
  sort: field(
    SortParameter,
    'Order of the list: by namespace and name, or by time of creation, oldest (`created`) or newest (`-created`) first.',
  ),
})

/** How much of each object the answer contains. */
export const ViewParameter = field(
  z.enum(['full', 'summary']).default('full'),
  'How much of each object: all of it, or (`summary`) names, labels and the fields that tables show.',
)

/** An object with only the fields that tables show. */
export const ResourceSummary = z
  .object({
    apiVersion: field(z.string(), 'Version of the API.', 'core.svc.ai/v1alpha1'),
    kind: field(z.string(), 'Kind of the object.', 'Task'),
    metadata: field(
      ObjectMeta.omit({ annotations: true, finalizers: true }),
      'Name, labels, of tasks their owners, and what the service keeps about the object.',
    ),
    spec: field(z.record(z.string(), z.unknown()).optional(), 'Some of what is wanted.', { type: 'ai' }),
    status: field(z.record(z.string(), z.unknown()).optional(), 'Some of what is.', { phase: 'Running' }),
  })
  .meta({ id: 'ResourceSummary' })
export type ResourceSummary = z.infer<typeof ResourceSummary>

/** Labels to select by, as Kubernetes writes them. */
export const LabelSelector = limitedText(4096).meta({ [publishedMark]: { format: 'label-selector' } })

/** Text to find objects by. */
export const SearchParameter = field(
  limitedText(63).min(1).optional(),
  'Only objects with this text in their names, in any case.',
  'report',
)

/** A comma-separated list without repetitions. */
export const Words = limitedText(4096).transform((text): unknown[] => [...new Set(text.split(','))])

/** Some of these words, with commas between them. */
export function someOf<const T extends readonly [string, ...string[]]>(words: T) {
  const any = words.join('|')
  const documented = limitedText(4096)
    .min(1)
    .regex(new RegExp(`^(${any})(,(${any}))*$`))
  return documentAs(Words.pipe(z.array(z.enum(words))), documented)
}

/** Query of a list of resources. */
export const ResourceListQuery = ObjectListQuery.extend({
  labelSelector: field(LabelSelector.optional(), 'Only objects whose labels match.', 'team=search,env!=test'),
  search: SearchParameter,
})
export type ResourceListQuery = z.infer<typeof ResourceListQuery>

/** Query of a list of whole resources. */
export const WholeListQuery = ResourceListQuery.extend({ view: ViewParameter })

/** An entry of such a list. Its type is that of the whole object, which callers get unless they ask for summaries. */
export function orSummary<S extends z.ZodType>(schema: S): S {
  return z.union([schema, ResourceSummary]) as unknown as S
}
