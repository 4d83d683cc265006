// What a vendor client needs to be made.
import type { Clock } from '../ports/clock.ts'
import type { Dialects } from './llmo/dialect.ts'
import type { Family, ModelRequest } from './messages.ts'
import type { VendorFetch } from './piped-fetch.ts'
import type { CallTarget } from './vendor-error.ts'

export type ClientOptions = {
  /** Under the provider's egress policy. */
  fetch: VendorFetch
  /** Absent: the vendor's own address. */
  baseUrl?: string
  apiKey?: string
  azure?: { deploymentName: string; apiVersion: string }
  /** Who is asked, and for which model. */
  target: CallTarget
  /** What is known of servers of family llmo; absent: nothing. */
  dialects?: Dialects
  clock: Clock
  /** Silence after which a call is given up. */
  idleTimeoutMs: number
}

/** Long answers in one piece come after a long silence; the vendors' own clients wait as long. */
const wholeTimeoutMs = 600_000

/** Silence after which this call is given up. */
export function patienceFor({ whole }: ModelRequest, idleTimeoutMs: number): number {
  return whole ? Math.max(idleTimeoutMs, wholeTimeoutMs) : idleTimeoutMs
}

/** Of every call. What is compressed could not be read frame by frame. */
export const plainHeaders = { 'content-type': 'application/json', 'accept-encoding': 'identity' }

/** Set by the client itself: a caller's word for them is never sent on. */
const reserved = ['authorization', 'x-api-key', 'api-key', 'content-type', 'content-length', 'host', 'connection']

/** The caller's headers for an upstream that speaks the caller's language. */
export function ownHeaders({ headers = {}, raw }: ModelRequest, family: Family): Record<string, string> {
  if (raw?.family !== family) return {}
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !reserved.includes(name)))
}
