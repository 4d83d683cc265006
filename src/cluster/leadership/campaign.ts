// Waits for a Lease to be free: released, or not renewed for its whole duration as measured here, whatever the clocks
// say.
import { isSvcError, type SvcError } from '../../errors.ts'
import type { Clock, Ids } from '../../lib/clock.ts'
import { collections } from '../api/paths.ts'
import type { KubernetesApi } from '../api.ts'
import { type ApiObject, createReflector } from '../reflector.ts'
import { countLeft, type Lease } from './lease.ts'

export type CampaignOptions = {
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

export type Campaign = {
  /** Resolves with the result of `take` once that succeeds; `take` is tried whenever the lease looks free. */
  win<T>(signal: AbortSignal, take: (current: Lease | undefined) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** The last observation; `at` is when this version was first seen. */
type Sight = { lease: Lease | undefined; at: number }

const pauseAfterFaultMs = 500

/** Follows the lease, and records when each version appeared. */
function followLease({ api, clock, ids, namespace, name, elapsed, onFault }: CampaignOptions) {
  let sight: Sight | undefined
  let changed = Promise.withResolvers<void>()

  function see(lease: Lease | undefined): void {
    // The same version listed again does not mean that the holder is alive.
    const isSame = sight !== undefined && sight.lease?.metadata.resourceVersion === lease?.metadata.resourceVersion
    if (isSame) return
    sight = { lease, at: elapsed() }
    changed.resolve()
    changed = Promise.withResolvers()
  }

  const reflector = createReflector<Lease>({
    api,
    clock,
    ids,
    collection: collections.leases,
    namespace,
    fieldSelector: `metadata.name=${name}`,
    convert: (object: ApiObject) => object as unknown as Lease,
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

  async function waitUntilFree(signal: AbortSignal): Promise<Lease | undefined> {
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
      await Promise.race([followed.ready, rejectOnAbort(signal)])
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

/** Also when it has already aborted. */
function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
