// The Lease of the leader: who holds it, for how long, since when; and waiting for it to be free: released, or not
// renewed for its whole duration as measured here, whatever the clocks say.
import { isSvcError, type SvcError } from '../../errors.ts'
import { abortable } from '../../lib/abort.ts'
import type { Clock, Ids } from '../../lib/clock.ts'
import { collections } from '../api/paths.ts'
import type { KubernetesApi } from '../api.ts'
import { type ApiObject, createReflector } from '../reflector.ts'

export type LeaseTiming = {
  /** How long after a renewal nobody else may take the lease. */
  leaseSeconds: number
  /**
   * How long a leader continues without a renewal: less than the lease, so that it has stopped when another takes over.
   */
  renewWithinMs: number
  renewEveryMs: number
}

/** coordination.k8s.io/v1. */
export type LeaseObject = {
  apiVersion: string
  kind: string
  metadata: { name: string; resourceVersion?: string; [field: string]: unknown }
  spec: {
    holderIdentity?: string
    leaseDurationSeconds?: number
    acquireTime?: string
    renewTime?: string
    leaseTransitions?: number
  }
}

export type LeaseDraft = {
  name: string
  identity: string
  seconds: number
  now: Date
  current: LeaseObject | undefined
}

/** MicroTime of the Kubernetes API, which requires six digits. */
function formatMicroTime(now: Date): string {
  return now.toISOString().replace('Z', '000Z')
}

/** The lease as `identity` takes it: a new one, or the current one at its version. */
export function makeLease({ name, identity, seconds, now, current }: LeaseDraft): LeaseObject {
  const transitions = current === undefined ? 0 : (current.spec.leaseTransitions ?? 0) + 1
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: current?.metadata ?? { name },
    spec: {
      holderIdentity: identity,
      leaseDurationSeconds: seconds,
      acquireTime: formatMicroTime(now),
      renewTime: formatMicroTime(now),
      leaseTransitions: transitions,
    },
  }
}

export function renewLease(lease: LeaseObject, now: Date): LeaseObject {
  return { ...lease, spec: { ...lease.spec, renewTime: formatMicroTime(now) } }
}

/** The lease without a holder. */
export function releaseLease(lease: LeaseObject, now: Date): LeaseObject {
  return { ...renewLease(lease, now), spec: { ...lease.spec, renewTime: formatMicroTime(now), holderIdentity: '' } }
}

/** Milliseconds until the lease may be taken, given that it was last seen to change `age` ago. */
export function countLeft(lease: LeaseObject | undefined, identity: string, age: number): number {
  const holder = lease?.spec.holderIdentity
  // A holder with our own name is this replica before it lost the lease: it knows that it has stopped.
  if (!holder || holder === identity) return 0
  return Math.max(0, (lease.spec.leaseDurationSeconds ?? 0) * 1000 - age)
}

type CampaignOptions = {
  api: KubernetesApi
  clock: Clock
  ids: Ids
  namespace: string
  name: string
  identity: string
  /** Milliseconds of a monotonic clock. */
  elapsed: () => number
  onFault: ((error: SvcError) => void) | undefined
}

type Campaign = {
  /** Resolves with the result of `take` once that succeeds; `take` is tried whenever the lease looks free. */
  win<T>(signal: AbortSignal, take: (current: LeaseObject | undefined) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** The last observation; `at` is when this version was first seen. */
type Sight = { lease: LeaseObject | undefined; at: number }

const pauseAfterFaultMs = 500

/** Follows the lease, and records when each version appeared. */
function followLease({ api, clock, ids, namespace, name, elapsed, onFault }: CampaignOptions) {
  let sight: Sight | undefined
  let changed = Promise.withResolvers<void>()

  function see(lease: LeaseObject | undefined): void {
    // The same version listed again does not mean that the holder is alive.
    const isSame = sight !== undefined && sight.lease?.metadata.resourceVersion === lease?.metadata.resourceVersion
    if (isSame) return
    sight = { lease, at: elapsed() }
    changed.resolve()
    changed = Promise.withResolvers()
  }

  const reflector = createReflector<LeaseObject>({
    api,
    clock,
    ids,
    collection: collections.leases,
    namespace,
    fieldSelector: `metadata.name=${name}`,
    convert: (object: ApiObject) => object as unknown as LeaseObject,
    onReset: ([lease]) => see(lease),
    onEvent: (type, lease) => see(type === 'DELETED' ? undefined : lease),
    onFault,
  })
  return {
    ready: reflector.ready,
    close: reflector.close,
    sight: () => sight,
    /** Another replica was faster: its write will be seen in a moment. */
    touch: () => {
      if (sight !== undefined) sight.at = elapsed()
    },
    changed: () => changed.promise,
  }
}

export function createCampaign(options: CampaignOptions): Campaign {
  const { clock, identity, elapsed, onFault } = options
  const followed = followLease(options)

  /** Resolves when the lease changes, or after the time; rejects when the signal aborts. */
  async function waitForChange(ms: number, signal: AbortSignal): Promise<void> {
    const done = new AbortController()
    const slept = clock.sleep(ms, AbortSignal.any([signal, done.signal]))
    // The loser of the race rejects too, which is ignored.
    slept.catch(() => undefined)
    await Promise.race([followed.changed(), slept]).finally(() => done.abort())
    signal.throwIfAborted()
  }

  async function waitUntilFree(signal: AbortSignal): Promise<LeaseObject | undefined> {
    for (let sight = followed.sight(); sight !== undefined; sight = followed.sight()) {
      const left = countLeft(sight.lease, identity, elapsed() - sight.at)
      if (left <= 0) break
      await waitForChange(left, signal)
    }
    return followed.sight()?.lease
  }

  function noteFailure(error: unknown): void {
    if (!isSvcError(error)) throw error
    if (error.reason === 'Conflict' || error.reason === 'AlreadyExists') followed.touch()
    else onFault?.(error)
  }

  return {
    async win(signal, take) {
      await abortable(followed.ready, signal)
      for (;;) {
        signal.throwIfAborted()
        const lease = await waitUntilFree(signal)
        try {
          return await take(lease)
        } catch (error) {
          noteFailure(error)
        }
        await waitForChange(pauseAfterFaultMs, signal)
      }
    },
    close: followed.close,
  }
}
