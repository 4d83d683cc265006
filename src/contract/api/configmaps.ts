// Config maps: named maps of plain text, in the form that kubectl writes. On a cluster they are its own and only read here.
import { z } from 'zod'
import { Annotations, countBytes, ForeignName, Labels, MetadataInput, Name, Timestamp } from '../resources/metadata.ts'
import { EntryKey } from '../resources/references.ts'
import { listOf, NamespaceQuery, ResourceListQuery } from './list.ts'
import { ignoredShape } from './resource-body.ts'
import { defineRoute, errorResponses, ReadHeaders, WriteHeaders } from './route.ts'

const tag = 'ConfigMaps'
const base = '/api/v1/configmaps'
const params = z.object({ name: ForeignName })

/** As in Kubernetes: 1 MiB over all entries. */
const mostBytes = 1_048_576

const metadata = z.object({
  name: z.string(),
  namespace: z.string(),
  /** Opaque; another one with every write. */
  resourceVersion: z.string(),
  creationTimestamp: Timestamp,
  labels: Labels.optional(),
  annotations: Annotations.optional(),
})

export const ConfigMapObject = z
  .object({
    apiVersion: z.literal('v1'),
    kind: z.literal('ConfigMap'),
    metadata,
    /** Texts by entry. */
    data: z.record(z.string(), z.string()),
  })
  .meta({ id: 'ConfigMap' })
export type ConfigMapObject = z.infer<typeof ConfigMapObject>

/** What a list shows of one. */
export const ConfigMapItem = z
  .object({
    metadata,
    /** Names of the entries. */
    keys: z.array(z.string()),
  })
  .meta({ id: 'ConfigMapItem' })
export type ConfigMapItem = z.infer<typeof ConfigMapItem>

/** `name` and `namespace` may stand in the metadata or beside it. */
export const ConfigMapBody = z
  .strictObject({
    apiVersion: ignoredShape.apiVersion,
    kind: ignoredShape.kind,
    name: ForeignName.optional(),
    namespace: Name.optional(),
    /** `resourceVersion` of a PUT is a precondition; what the server sets is ignored. */
    metadata: MetadataInput.extend({ name: ForeignName.optional(), uid: z.unknown().optional() }).optional(),
    data: z
      .record(EntryKey, z.string())
      .refine((data) => countBytes(data) <= mostBytes, 'must be at most 1 MiB over all entries')
      .default({}),
  })
  .meta({ id: 'ConfigMapBody' })
export type ConfigMapBody = z.infer<typeof ConfigMapBody>

export const ConfigMapList = listOf(ConfigMapItem, 'ConfigMapList')

const stored = { description: 'The config map as stored', schema: ConfigMapObject }
/** Where kubectl writes them. */
const elsewhere = errorResponses(501)

export const listConfigMaps = defineRoute({
  method: 'GET',
  path: base,
  tag,
  summary: 'List config maps, without their texts',
  query: ResourceListQuery,
  headers: ReadHeaders,
  responses: { 200: { description: 'One page, in order of name', schema: ConfigMapList } },
  auth: 'user',
  verb: { verb: 'list', kind: 'ConfigMap' },
})

export const getConfigMap = defineRoute({
  method: 'GET',
  path: `${base}/:name`,
  tag,
  summary: 'Get a config map',
  params,
  query: NamespaceQuery,
  headers: ReadHeaders,
  responses: { ...errorResponses(404), 200: { description: 'The config map', schema: ConfigMapObject } },
  auth: 'user',
  verb: { verb: 'get', kind: 'ConfigMap' },
})

export const createConfigMap = defineRoute({
  method: 'POST',
  path: base,
  tag,
  summary: 'Create a config map',
  query: NamespaceQuery,
  body: ConfigMapBody,
  responses: { ...elsewhere, ...errorResponses(409), 201: stored },
  auth: 'user',
  verb: { verb: 'create', kind: 'ConfigMap' },
})

export const updateConfigMap = defineRoute({
  method: 'PUT',
  path: `${base}/:name`,
  tag,
  summary: 'Replace the texts of a config map',
  params,
  query: NamespaceQuery,
  headers: WriteHeaders,
  body: ConfigMapBody,
  responses: { ...elsewhere, ...errorResponses(404, 409), 200: stored },
  auth: 'user',
  verb: { verb: 'update', kind: 'ConfigMap' },
})

export const deleteConfigMap = defineRoute({
  method: 'DELETE',
  path: `${base}/:name`,
  tag,
  summary: 'Delete a config map',
  params,
  query: NamespaceQuery,
  responses: { ...elsewhere, ...errorResponses(404), 204: { description: 'Deleted' } },
  auth: 'user',
  verb: { verb: 'delete', kind: 'ConfigMap' },
})
