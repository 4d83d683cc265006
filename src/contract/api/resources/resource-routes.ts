// The five routes that every kind with full CRUD has.
import { z } from 'zod'
import { type Kind, kinds, type ResourceOf } from '../../kinds/index.ts'
import { Name } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { listOf, NamespaceQuery, orSummary, ResourceListQuery, WholeListQuery } from './list.ts'
import { createBodyOf, updateBodyOf } from './resource-body.ts'
import { CreateHeaders, errorResponses, ReadHeaders, routesOf, WriteHeaders } from './route.ts'

/** Schema of a stored object of the kind. */
export function resourceSchemaOf<K extends Kind>(kind: K) {
  return kinds[kind].schema as unknown as z.ZodType<ResourceOf<K>>
}

/** Path of the routes of a kind, and how OpenAPI groups and names them. */
export type KindRoutes = { tag: string; base: string; noun: string }

const params = z.object({ name: field(Name, 'Name of the object.', 'nightly-report') })

const allOf = (kind: Kind, { tag, base }: KindRoutes) => routesOf({ tag, base, kind, query: NamespaceQuery })
const oneOf = (kind: Kind, { tag, base }: KindRoutes) =>
  routesOf({ tag, base: `${base}/:name`, kind, params, query: NamespaceQuery })

/** POST base: creates an object. */
export function defineCreate<K extends Kind>(kind: K, routes: KindRoutes) {
  return allOf(kind, routes).create('', {
    summary: `Create ${routes.noun}`,
    description: `Stores ${routes.noun}. A name that is taken is refused with 409.`,
    headers: CreateHeaders,
    body: createBodyOf(kind),
    responses: {
      ...errorResponses(409),
      201: { description: 'The object as stored', schema: resourceSchemaOf(kind) },
    },
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
  routes: KindRoutes,
  { item, query }: { item: S; query: Q },
) {
  const { plural } = kinds[kind]
  return allOf(kind, routes).list('', {
    summary: `List ${plural}`,
    description: `Lists ${plural}, one page at a time.`,
    query,
    headers: ReadHeaders,
    responses: {
      200: { description: 'One page, in the order asked for', schema: listOf(item, `${kind}List`) },
      ...errorResponses(410),
    },
  })
}

/** GET base/:name: one object. */
export function defineGet<S extends z.ZodType>(kind: Kind, routes: KindRoutes, schema: S) {
  return oneOf(kind, routes).get('', {
    summary: `Get ${routes.noun}`,
    description: `Answers ${routes.noun} with its status.`,
    headers: ReadHeaders,
    responses: { ...errorResponses(404), 200: { description: 'The object', schema } },
  })
}

/** PUT base/:name: replaces the spec. */
export function defineUpdate<K extends Kind>(kind: K, routes: KindRoutes) {
  return oneOf(kind, routes).put('', {
    summary: `Replace the spec of ${routes.noun}`,
    description: `Replaces the whole spec of ${routes.noun}, and its labels and annotations where they are given.`,
    headers: WriteHeaders,
    body: updateBodyOf(kind),
    responses: {
      ...errorResponses(404, 409),
      200: { description: 'The object as stored', schema: resourceSchemaOf(kind) },
    },
  })
}

/** DELETE base/:name: removes the object. */
export function defineDelete(kind: Kind, routes: KindRoutes) {
  return oneOf(kind, routes).delete('', {
    summary: `Delete ${routes.noun}`,
    description: `Deletes ${routes.noun}. What refers to it reports that it is missing.`,
    headers: WriteHeaders,
    responses: { ...errorResponses(404, 409), 204: { description: 'Deleted, or about to be' } },
  })
}
