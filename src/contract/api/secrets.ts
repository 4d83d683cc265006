// Secrets: written, listed and removed, never read back.
import { z } from 'zod'
import { ForeignName, Name, Timestamp } from '../resources/metadata.ts'
import { EntryKey } from '../resources/references.ts'
import { ListQuery, listOf, NamespaceQuery } from './list.ts'
import { defineRoute, errorResponses } from './route.ts'

const tag = 'Secrets'

/** What may be known about a Secret. */
export const SecretItem = z
  .object({
    name: z.string(),
    namespace: z.string(),
    type: z.string(),
    /** Names of the entries, never their values. */
    keys: z.array(z.string()),
    /** Hosts that the values may be sent to (annotation `svc.ai/allowed-hosts`). Absent: any. */
    allowedHosts: z.array(z.string()).optional(),
    createdAt: Timestamp,
  })
  .meta({ id: 'Secret' })
export type SecretItem = z.infer<typeof SecretItem>

export const SecretCreate = z
  .strictObject({
    name: ForeignName,
    namespace: Name.optional(),
    stringData: z
      .record(EntryKey, z.string().min(1, 'must not be empty'))
      .refine((data) => Object.keys(data).length > 0, 'must have at least one entry'),
    /** Hosts that the values may be sent to. */
    allowedHosts: z
      .array(
        z
          .string()
          .max(253)
          .regex(/^[A-Za-z0-9*?.-]+(:\d+)?$/, 'must be a host name, with * and ? as wildcards'),
      )
      .optional(),
  })
  .meta({ id: 'SecretCreate' })
export type SecretCreate = z.infer<typeof SecretCreate>

export const SecretList = listOf(SecretItem, 'SecretList')

export const listSecrets = defineRoute({
  method: 'GET',
  path: '/api/v1/secrets',
  tag,
  summary: 'List secrets, without their values',
  query: ListQuery,
  responses: { 200: { description: 'Names and entries', schema: SecretList } },
  auth: 'user',
  verb: { verb: 'list', kind: 'Secret' },
})

export const createSecret = defineRoute({
  method: 'POST',
  path: '/api/v1/secrets',
  tag,
  summary: 'Create a secret',
  query: NamespaceQuery,
  body: SecretCreate,
  responses: { ...errorResponses(409), 201: { description: 'Created; without the values', schema: SecretItem } },
  auth: 'user',
  verb: { verb: 'create', kind: 'Secret' },
})

export const deleteSecret = defineRoute({
  method: 'DELETE',
  path: '/api/v1/secrets/:name',
  tag,
  summary: 'Delete a secret',
  params: z.object({ name: ForeignName }),
  query: NamespaceQuery,
  responses: { ...errorResponses(404), 204: { description: 'Deleted' } },
  auth: 'user',
  verb: { verb: 'delete', kind: 'Secret' },
})
