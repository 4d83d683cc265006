// The token that a list returns for its next page.
import { createHash } from 'node:crypto'
import type { Kind } from '../../contract/kinds/index.ts'
import { SvcError } from '../../errors.ts'
import type { ResourceQuery } from '../../ports/resources/resources.ts'
import type { Position } from './list-order.ts'

export type PageToken = {
  /** Where the last object of the page before stands; `created` is empty where the order is by name. */
  after: Position
  /** The version that the listing reads. */
  snapshot: number
  /** Objects after that page in the snapshot, if they are counted. */
  remaining?: number
}

type Encoded = {
  key: [namespace: string, name: string, created?: string]
  filter: string
  version: number
  remaining?: number
}

/** Stands for what is listed: kind, namespace, filters and order (HTTP-025). */
export function hashFilter(kind: Kind, query: ResourceQuery): string {
  const fields = Object.entries(query.fields ?? {}).sort(([left], [right]) => (left < right ? -1 : 1))
  const { namespace = null, labelSelector = '', sort = 'name', names, search } = query
  const order = sort === 'name' ? [] : [sort]
  const named = names === undefined ? [] : [{ names }]
  const searched = search === undefined ? [] : [{ search }]
  const filter = JSON.stringify([kind, namespace, labelSelector, fields, ...order, ...named, ...searched])
  return createHash('sha256').update(filter).digest('base64url').slice(0, 16)
}

export function encodePageToken(token: PageToken, filter: string): string {
  const { after, snapshot, remaining } = token
  const encoded: Encoded = {
    key: [after.namespace, after.name, ...(after.created === '' ? [] : [after.created])] as Encoded['key'],
    filter,
    version: snapshot,
    remaining,
  }
  return Buffer.from(JSON.stringify(encoded)).toString('base64url')
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function isEncoded(value: unknown): value is Encoded {
  if (typeof value !== 'object' || value === null) return false
  const { key, filter, version, remaining } = value as Partial<Encoded>
  const isKey =
    Array.isArray(key) && (key.length === 2 || key.length === 3) && key.every((part) => typeof part === 'string')
  return isKey && typeof filter === 'string' && isCount(version) && (remaining === undefined || isCount(remaining))
}

function parseToken(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    return undefined
  }
}

/** InvalidRequest when the text is not a token, or belongs to another listing. */
export function decodePageToken(text: string, filter: string): PageToken {
  const encoded = parseToken(text)
  if (!isEncoded(encoded)) {
    throw new SvcError('InvalidRequest', 'continue is not a token of a list: start again without it')
  }
  if (encoded.filter !== filter) {
    throw new SvcError('InvalidRequest', 'continue belongs to a list with other filters: repeat those, or start again')
  }
  const [namespace, name, created = ''] = encoded.key
  const { version, remaining } = encoded
  return { after: { namespace, name, created }, snapshot: version, remaining }
}
