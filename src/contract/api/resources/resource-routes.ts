// The five routes that every kind with full CRUD has.
import { z } from 'zod'
import { type Kind, kinds, type ResourceOf } from '../../kinds/index.ts'
import { Name } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { listOf, NamespaceQuery, orSummary, ResourceListQuery, WholeListQuery } from './list.ts'
import { createBodyOf, updateBodyOf } from './resource-body.ts'
import { CreateHeaders, defineRoute, errorResponses, ReadHeaders, WriteHeaders } from './route.ts'

/** Schema of a stored object of the kind. */
export function resourceSchemaOf<K extends Kind>(kind: K) {
  return kinds[kind].schema as unknown as z.ZodType<ResourceOf<K>>
}

/** Path of the routes of a kind, and how OpenAPI groups and names them. */
export type KindRoutes = { tag: string; base: string; noun: string }

const params = z.object({ name: field(Name, 'Name of the object.', 'nightly-report') })

/** POST base: creates an object. */
export function defineCreate<K extends Kind>(kind: K, { tag, base, noun }: KindRoutes) {
  return defineRoute({
    method: 'POST',
    path: base,
    tag,
    summary: `Create ${noun}`,
    description: `Stores ${noun}. A name that is taken is refused with 409.`,
    headers: CreateHeaders,
    query: NamespaceQuery,
    body: createBodyOf(kind),
    responses: {
      ...errorResponses(409),
      201: { description: 'The object as stored', schema: resourceSchemaOf(kind) },
    },
    auth: 'user',
    verb: { verb: 'create', kind },
  })
}

/** GET base: lists objects in a form of their own. */
export function defineList<S extends z.ZodType>(kind: Kind, routes: KindRoutes, item: S) {
  return defineListBy(kind, routes, { item, query: ResourceListQuery })
}

/** GET base: lists objects, or summaries of them. */
export function defineObjectList<K extends Kind>(kind: K, routes: KindRoutes) {
  return defineListBy(kind, routes, { item: orSummary(resourceSchemaOf(kind)), query: WholeListQuery })
}

function defineListBy<S extends z.ZodType, Q extends z.ZodObject>(
  kind: Kind,
  { tag, base }: KindRoutes,
  { item, query }: { item: S; query: Q },
) {
  return defineRoute({
    method: 'GET',
    path: base,
    tag,
    summary: `List ${kinds[kind].plural}`,
    description: `Lists ${kinds[kind].plural}, one page at a time.`,
    query,
    headers: ReadHeaders,
    responses: {
      200: { description: 'One page, in the order asked for', schema: listOf(item, `${kind}List`) },
      ...errorResponses(410),
    },
    auth: 'user',
    verb: { verb: 'list', kind },
  })
}

/** GET base/:name: one object. */
export function defineGet<S extends z.ZodType>(kind: Kind, { tag, base, noun }: KindRoutes, schema: S) {
  return defineRoute({
    method: 'GET',
    path: `${base}/:name`,
    tag,
    summary: `Get ${noun}`,
    description: `Answers ${noun} with its status.`,
    params,
    query: NamespaceQuery,
    headers: ReadHeaders,
    responses: { ...errorResponses(404), 200: { description: 'The object', schema } },
    auth: 'user',
    verb: { verb: 'get', kind },
  })
}

/** PUT base/:name: replaces the spec. */
export function defineUpdate<K extends Kind>(kind: K, { tag, base, noun }: KindRoutes) {
  return defineRoute({
    method: 'PUT',
    path: `${base}/:name`,
    tag,
    summary: `Replace the spec of ${noun}`,
    description: `Replaces the whole spec of ${noun}, and its labels and annotations where they are given.`,
    params,
    query: NamespaceQuery,
    headers: WriteHeaders,
    body: updateBodyOf(kind),
    responses: {
      ...errorResponses(404, 409),
      200: { description: 'The object as stored', schema: resourceSchemaOf(kind) },
    },
    auth: 'user',
    verb: { verb: 'update', kind },
  })
}

/** DELETE base/:name: removes the object. */
export function defineDelete(kind: Kind, { tag, base, noun }: KindRoutes) {
  return defineRoute({
    method: 'DELETE',
    path: `${base}/:name`,
    tag,
    summary: `Delete ${noun}`,
    description: `Deletes ${noun}. What refers to it reports that it is missing.`,
    params,
    query: NamespaceQuery,
    headers: WriteHeaders,
    responses: { ...errorResponses(404, 409), 204: { description: 'Deleted, or about to be' } },
    auth: 'user',
    verb: { verb: 'delete', kind },
  })
}
