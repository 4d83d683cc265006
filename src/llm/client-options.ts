// What a vendor client needs to be made.
import type { Clock } from '../ports/clock.ts'
import type { CallTarget } from './vendor-error.ts'

export type ClientOptions = {
  /** Under the provider's egress policy. */
  fetch: typeof globalThis.fetch
  /** Absent: the vendor's own address. */
  baseUrl?: string
  apiKey?: string
  azure?: { deploymentName: string; apiVersion: string }
  /** Who is asked, and for which model. */
  target: CallTarget
  clock: Clock
  /** Silence after which a call is given up. */
  idleTimeoutMs: number
}
