// Secrets: they can be written, listed and removed, but their values are never returned.
import { z } from 'zod'
import { ForeignName, Name, Timestamp } from '../../kinds/resources/metadata.ts'
import { EntryKey } from '../../kinds/resources/references.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { listOf, NamespaceQuery, ObjectListQuery } from './list.ts'
import { errorResponses, routesOf } from './route.ts'

const params = z.object({ name: field(ForeignName, 'Name of the Secret.', 'main-key') })

/** What the API shows of a Secret. */
export const SecretItem = z
  .object({
    name: field(z.string(), 'Name of the Secret.', 'main-key'),
    namespace: field(z.string(), 'Namespace of the Secret.', 'default'),
    type: field(z.string(), 'Type of the Secret.', 'Opaque'),
    keys: field(z.array(z.string()), 'Names of the entries; the values are never shown.', ['api-key']),
    allowedHosts: field(
      z.array(z.string()).optional(),
      'Hosts that the values may be sent to (annotation `svc.ai/allowed-hosts`). Absent: all hosts.',
      ['api.example.com'],
    ),
    createdAt: field(Timestamp, 'When it was created.'),
  })
  .meta({ id: 'Secret' })
export type SecretItem = z.infer<typeof SecretItem>

/** A Secret to store. */
export const SecretCreate = z
  .strictObject({
    name: field(ForeignName, 'Name of the Secret.', 'main-key'),
    namespace: field(Name.optional(), "Namespace of the Secret. Without it: the caller's own.", 'default'),
    stringData: field(
      z
        .record(EntryKey, z.string().min(1, 'must not be empty'))
        .refine((data) => Object.keys(data).length > 0, 'must have at least one entry'),
      'Values by name of the entry.',
      { 'api-key': 'key-of-the-vendor' },
    ),
    allowedHosts: field(
      z
        .array(limitedText(253).regex(/^[A-Za-z0-9*?.-]+(:\d+)?$/, 'must be a host name, with * and ? as wildcards'))
        .optional(),
      'Hosts that the values may be sent to, with `*` and `?` as wildcards. Without it: all hosts.',
      ['api.example.com'],
    ),
  })
  .meta({ id: 'SecretCreate' })
export type SecretCreate = z.infer<typeof SecretCreate>

/** Changes to a Secret; entries that are not named stay. */
export const SecretUpdate = z
  .strictObject({
    stringData: field(
      z.record(EntryKey, z.string().min(1, 'must not be empty')).default({}),
      'New values by name of the entry; entries that are not there yet are added.',
      { 'api-key': 'new-key-of-the-vendor' },
    ),
    remove: field(z.array(EntryKey).max(1000).default([]), 'Names of entries to remove.', ['old-key']),
  })
  .refine(
    ({ stringData, remove }) => Object.keys(stringData).length + remove.length > 0,
    'must change at least one entry',
  )
  .refine(
    ({ stringData, remove }) => remove.every((key) => !Object.hasOwn(stringData, key)),
    'must not change and remove the same entry',
  )
  .meta({ id: 'SecretUpdate' })
export type SecretUpdate = z.infer<typeof SecretUpdate>

/** One page of Secrets, without values. */
export const SecretList = listOf(SecretItem, 'SecretList')

const all = routesOf({ tag: 'Secrets', base: '/api/v1/secrets', kind: 'Secret' })

export const listSecrets = all.list('', {
  summary: 'List secrets, without their values',
  description: 'Lists names and entries of Secrets. The values are never answered.',
  query: ObjectListQuery,
  responses: { 200: { description: 'Names and entries', schema: SecretList } },
})

export const createSecret = all.create('', {
  summary: 'Create a secret',
  description:
    'Stores a Secret. Its values can be used by tasks, providers and tools, and are never answered. `Idempotency-Key` has no effect.',
  ignoresIdempotencyKey: true,
  query: NamespaceQuery,
  body: SecretCreate,
  responses: { ...errorResponses(409), 201: { description: 'Created; without the values', schema: SecretItem } },
})

const one = routesOf({ tag: 'Secrets', base: '/api/v1/secrets/:name', kind: 'Secret', params, query: NamespaceQuery })

export const updateSecret = one.put('', {
  summary: 'Replace values of a secret',
  description:
    'Replaces, adds and removes entries of the Secret; the others keep their values, and the hosts that they may be sent to stay as ' +
    'they are. The values are never answered.',
  body: SecretUpdate,
  responses: { ...errorResponses(404, 409), 200: { description: 'Changed; without the values', schema: SecretItem } },
})

export const deleteSecret = one.delete('', {
  summary: 'Delete a secret',
  description: 'Deletes the Secret. What refers to it reports that it is missing.',
  responses: { ...errorResponses(404), 204: { description: 'Deleted' } },
})
