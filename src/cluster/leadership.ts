// One replica drives the controllers: the one that holds a Lease and keeps renewing it (coordination.k8s.io/v1).
import { isSvcError, messageOf, SvcError } from '../errors.ts'
import type { Clock, Ids } from '../lib/clock.ts'
import type { Leadership } from '../ports/service/leadership.ts'
import { collections } from './api/paths.ts'
import type { KubernetesApi } from './api.ts'
import {
  createCampaign,
  type LeaseObject,
  type LeaseTiming,
  makeLease,
  releaseLease,
  renewLease,
} from './leadership/lease.ts'

export type KubernetesLeadershipOptions = {
  api: KubernetesApi
  clock: Clock
  ids: Ids
  /** Name of the Lease; the same for all replicas of one installation. */
  name: string
  /** Where the Lease is; default: the namespace of the service. */
  namespace?: string
  /** The holder's name for people: the pod's name, plus a random part, because containers can be restarted. */
  identity: string
  timing?: LeaseTiming
  /** Milliseconds of a monotonic clock, independent of the machine's date. */
  elapsed?: () => number
  onFault?: (error: SvcError) => void
}

/**
 * A leader that could not renew for 4 seconds stops; another may take over 2 seconds later (fencing). A leader that
 * dies is replaced after 6 seconds, one that releases the lease at once.
 */
const defaultTiming: LeaseTiming = { leaseSeconds: 6, renewWithinMs: 4000, renewEveryMs: 1500 }
const minPauseMs = 50
/** Other writers of the lease are rare, for example somebody who labels it. */
const writeTries = 3

type Term = { lease: LeaseObject; lost: AbortController; renewedAt: number }

/** Reads and writes of the lease, each tried once: the caller knows how much time is left. */
function createLeaseStore({ api, name, namespace = api.namespace }: KubernetesLeadershipOptions) {
  const collection = { collection: collections.leases, namespace }
  return {
    create: (body: LeaseObject, signal: AbortSignal) =>
      api.request<LeaseObject>({ verb: 'create', ...collection, body, signal, tries: 1 }),
    put: (body: LeaseObject, signal: AbortSignal) =>
      api.request<LeaseObject>({ verb: 'update', ...collection, name, body, signal, tries: 1 }),
    read: (signal: AbortSignal) => api.request<LeaseObject>({ verb: 'get', ...collection, name, signal, tries: 1 }),
  }
}

type LeaseStore = ReturnType<typeof createLeaseStore>
type Parts = KubernetesLeadershipOptions & {
  store: LeaseStore
  holder: string
  timing: LeaseTiming
  elapsed: () => number
}

/** The lease after another writer's change; undefined when that took it over. */
async function findOwn({ store, holder }: Parts, signal: AbortSignal): Promise<LeaseObject | undefined> {
  const live = await store.read(signal)
  return live.spec.holderIdentity === holder ? live : undefined
}

/** Writes the lease, and again after a concurrent write. False when the lease is no longer ours. */
async function writeOwn(
  parts: Parts,
  term: Term,
  change: (lease: LeaseObject) => LeaseObject,
  signal: AbortSignal,
): Promise<boolean> {
  let current: LeaseObject | undefined = term.lease
  for (let tried = 1; current !== undefined; tried += 1) {
    try {
      term.lease = await parts.store.put(change(current), signal)
      return true
    } catch (error) {
      if (!isSvcError(error, 'Conflict') || tried === writeTries) throw error
      current = await findOwn(parts, signal)
    }
  }
  return false
}

/** Milliseconds until the leader stops unless it renews before. */
function countLeft({ timing, elapsed }: Parts, { renewedAt }: Term): number {
  return renewedAt + timing.renewWithinMs - elapsed()
}

/** Renews as long as that succeeds in time; resolves with the reason for the end. */
async function keepRenewing(parts: Parts, term: Term): Promise<string> {
  const { clock, timing, elapsed, onFault } = parts
  const { signal } = term.lost

  /** False when another holds the lease. */
  async function renew(): Promise<boolean> {
    const startedAt = elapsed()
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(Math.max(0, Math.floor(countLeft(parts, term))))])
    try {
      const isOurs = await writeOwn(parts, term, (lease) => renewLease(lease, clock.now()), inTime)
      // Counted from before it was sent, because the others count from when they see it.
      term.renewedAt = startedAt
      return isOurs
    } catch (error) {
      if (isSvcError(error, 'NotFound')) return false
      if (isSvcError(error)) onFault?.(error)
      return true
    }
  }

  while (!signal.aborted) {
    const left = countLeft(parts, term)
    if (left <= 0) return 'the lease could not be renewed in time'
    // After a failed try the next one follows sooner, as long as there is time.
    const pause = Math.max(minPauseMs, Math.min(timing.renewEveryMs, left / 2))
    await clock.sleep(pause, signal).catch(() => undefined)
    if (!signal.aborted && !(await renew())) return 'another replica holds the lease'
  }
  return 'it was given up'
}

async function campaignFor(parts: Parts, signal: AbortSignal): Promise<Term> {
  const { api, clock, ids, name, holder, timing, elapsed, onFault, store, namespace = api.namespace } = parts
  const campaign = createCampaign({ api, clock, ids, namespace, name, identity: holder, elapsed, onFault })
  try {
    return await campaign.win(signal, async (current) => {
      const renewedAt = elapsed()
      const draft = { name, identity: holder, current, now: clock.now(), seconds: timing.leaseSeconds }
      const lease = await (current === undefined ? store.create : store.put)(makeLease(draft), signal)
      return { lease, lost: new AbortController(), renewedAt }
    })
  } finally {
    await campaign.close()
  }
}

export function createKubernetesLeadership(options: KubernetesLeadershipOptions): Leadership {
  const parts: Parts = {
    ...options,
    store: createLeaseStore(options),
    holder: `${options.identity}_${options.ids.hex(8)}`,
    timing: options.timing ?? defaultTiming,
    elapsed: options.elapsed ?? (() => performance.now()),
  }
  let leading: Term | undefined

  function end(term: Term, cause: string): void {
    if (leading === term) leading = undefined
    term.lost.abort(new SvcError('Unavailable', `leadership was lost: ${cause}`))
  }

  return {
    acquire: async (signal) => {
      signal.throwIfAborted()
      if (leading !== undefined) return leading.lost.signal
      const term = await campaignFor(parts, signal)
      leading = term
      void keepRenewing(parts, term).then(
        (cause) => end(term, cause),
        (error: unknown) => end(term, messageOf(error)),
      )
      return term.lost.signal
    },
    requireTerm: () => {
      if (leading !== undefined && countLeft(parts, leading) > 0) return
      throw new SvcError('Unavailable', 'this replica does not lead any more')
    },
    release: async () => {
      const term = leading
      if (term === undefined) return
      end(term, 'it was given up')
      const signal = AbortSignal.timeout(parts.timing.renewWithinMs)
      try {
        await writeOwn(parts, term, (lease) => releaseLease(lease, parts.clock.now()), signal)
      } catch (error) {
        // Then nobody is notified; the lease expires by itself.
        if (isSvcError(error)) options.onFault?.(error)
      }
    },
  }
}
