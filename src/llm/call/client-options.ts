// What it takes to create a vendor client.
import type { Clock } from '../../lib/clock.ts'
import type { Dialects } from '../llmo/dialect.ts'
import type { Family, ModelRequest } from '../messages/messages.ts'
import type { VendorFetch } from './piped-fetch.ts'
import type { CallTarget } from './vendor-error.ts'

export type ClientOptions = {
  /** Follows the provider's egress policy. */
  fetch: VendorFetch
  /** Absent: the vendor's own address. */
  baseUrl?: string
  apiKey?: string
  azure?: { deploymentName: string; apiVersion: string }
  /** Which provider is called, and for which model. */
  target: CallTarget
  /** What is known about servers of family llmo; absent: nothing. */
  dialects?: Dialects
  clock: Clock
  /** Time without data after which a call is given up. */
  idleTimeoutMs: number
}

/** Long answers in one piece come after a long silence; the vendors' own clients wait this long. */
const wholeTimeoutMs = 600_000

/** Time without data after which this call is given up. */
export function patienceFor({ whole }: ModelRequest, idleTimeoutMs: number): number {
  return whole ? Math.max(idleTimeoutMs, wholeTimeoutMs) : idleTimeoutMs
}

/** Sent with every call. A compressed answer could not be read frame by frame. */
export const plainHeaders = { 'content-type': 'application/json', 'accept-encoding': 'identity' }

/** Headers that the client itself sets; a caller's values for them are never sent on. */
const reserved = ['authorization', 'x-api-key', 'api-key', 'content-type', 'content-length', 'host', 'connection']

/** The caller's headers for an upstream that speaks the caller's language. */
export function ownHeaders({ headers = {}, raw }: ModelRequest, family: Family): Record<string, string> {
  if (raw?.family !== family) return {}
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !reserved.includes(name)))
}
