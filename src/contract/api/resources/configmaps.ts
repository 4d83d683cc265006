// Config maps: named maps of plain text, in the form that kubectl writes. On a cluster they are the cluster's own, and this API only reads them.
import { z } from 'zod'
import {
  Annotations,
  countBytes,
  ForeignName,
  Labels,
  MetadataInput,
  Name,
  Timestamp,
} from '../../kinds/resources/metadata.ts'
import { EntryKey } from '../../kinds/resources/references.ts'
import { field, publishedMark } from '../../schema/field.ts'
import { listOf, NamespaceQuery, ResourceListQuery } from './list.ts'
import { ignoredShape, nameRequired } from './resource-body.ts'
import { errorResponses, ReadHeaders, routesOf, WriteHeaders } from './route.ts'

const params = z.object({ name: field(ForeignName, 'Name of the ConfigMap.', 'prompts') })

/** 1 MiB over all entries, as in Kubernetes. */
const maxBytes = 1_048_576

const metadata = z.object({
  name: field(z.string(), 'Name of the ConfigMap.', 'prompts'),
  namespace: field(z.string(), 'Namespace of the ConfigMap.', 'default'),
  resourceVersion: field(z.string(), 'Changes with every write; compare it for equality only.', '1042'),
  creationTimestamp: field(Timestamp, 'When it was created.'),
  labels: field(Labels.optional(), 'Labels to select by.', { team: 'search' }),
  annotations: field(Annotations.optional(), 'Notes that are not selected by.', { 'example.com/owner': 'ada' }),
})

/** A ConfigMap with its texts. */
export const ConfigMapObject = z
  .object({
    apiVersion: field(z.literal('v1'), 'Version of the API.'),
    kind: field(z.literal('ConfigMap'), 'Kind of the object.'),
    metadata: field(metadata, 'Name, labels and what the service keeps about the object.'),
    data: field(z.record(z.string(), z.string()), 'Texts by name of the entry.', {
      'reviewer.md': 'You are a careful reviewer.',
    }),
  })
  .meta({ id: 'ConfigMap' })
export type ConfigMapObject = z.infer<typeof ConfigMapObject>

/** An entry of the list. */
export const ConfigMapItem = z
  .object({
    metadata: field(metadata, 'Name, labels and what the service keeps about the object.'),
    keys: field(z.array(z.string()), 'Names of the entries.', ['reviewer.md']),
  })
  .meta({ id: 'ConfigMapItem' })
export type ConfigMapItem = z.infer<typeof ConfigMapItem>

/** `name` and `namespace` may be in the metadata or next to it. */
export const ConfigMapBody = z
  .strictObject({
    apiVersion: field(ignoredShape.apiVersion, 'Accepted so that manifests can be sent as they are.', 'v1'),
    kind: field(ignoredShape.kind, 'Accepted so that manifests can be sent as they are.', 'ConfigMap'),
    name: field(ForeignName.optional(), 'Name of the ConfigMap; the same as `metadata.name`.', 'prompts'),
    namespace: field(Name.optional(), 'Namespace; the same as `metadata.namespace`.', 'default'),
    metadata: field(
      MetadataInput.extend({
        name: field(ForeignName.optional(), 'Name of the ConfigMap.', 'prompts'),
        uid: field(z.unknown().optional(), 'Ignored; the service sets it.'),
      }).optional(),
      'Name, namespace, labels and annotations. In a PUT, `resourceVersion` is the version that the stored object must have.',
    ),
    data: field(
      z
        .record(EntryKey, z.string())
        .refine((data) => countBytes(data) <= maxBytes, 'must be at most 1 MiB over all entries')
        .default({}),
      'Texts by name of the entry, at most 1 MiB in all.',
      { 'reviewer.md': 'You are a careful reviewer.' },
    ),
  })
  .meta({ id: 'ConfigMapBody' })
export type ConfigMapBody = z.infer<typeof ConfigMapBody>

/** A ConfigMap to store; the same with a name. */
export const ConfigMapCreate = ConfigMapBody.meta({ id: 'ConfigMapCreate', [publishedMark]: nameRequired })

/** One page of ConfigMaps. */
export const ConfigMapList = listOf(ConfigMapItem, 'ConfigMapList')

const stored = { description: 'The config map as stored', schema: ConfigMapObject }
/** On a cluster, where kubectl writes config maps. */
const elsewhere = errorResponses(501)

const all = routesOf({ tag: 'ConfigMaps', base: '/api/v1/configmaps', kind: 'ConfigMap' })

export const listConfigMaps = all.list('', {
  summary: 'List config maps, without their texts',
  description: 'Lists ConfigMaps with the names of their entries.',
  query: ResourceListQuery,
  headers: ReadHeaders,
  responses: { 200: { description: 'One page, in order of name', schema: ConfigMapList } },
})

const one = routesOf({
  tag: 'ConfigMaps',
  base: '/api/v1/configmaps/:name',
  kind: 'ConfigMap',
  params,
  query: NamespaceQuery,
})

export const getConfigMap = one.get('', {
  summary: 'Get a config map',
  description: 'Answers the ConfigMap with its texts.',
  headers: ReadHeaders,
  responses: { ...errorResponses(404), 200: { description: 'The config map', schema: ConfigMapObject } },
})

export const createConfigMap = all.create('', {
  summary: 'Create a config map',
  description: 'Stores a ConfigMap: prompts, policies and other texts that resources refer to.',
  query: NamespaceQuery,
  body: ConfigMapCreate,
  responses: { ...elsewhere, ...errorResponses(409), 201: stored },
})

export const updateConfigMap = one.put('', {
  summary: 'Replace the texts of a config map',
  description: 'Replaces all texts of the ConfigMap, and its labels and annotations where they are given.',
  headers: WriteHeaders,
  body: ConfigMapBody,
  responses: { ...elsewhere, ...errorResponses(404, 409), 200: stored },
})

export const deleteConfigMap = one.delete('', {
  summary: 'Delete a config map',
  description: 'Deletes the ConfigMap. What refers to it reports that it is missing.',
  responses: { ...elsewhere, ...errorResponses(404), 204: { description: 'Deleted' } },
})
