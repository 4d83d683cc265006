// Waits for a Lease to be free: given up, or not renewed for its whole time as measured here, whatever the clocks say.
import { isSvcError, type SvcError } from '../../../errors.ts'
import type { Clock, Ids } from '../../../ports/clock.ts'
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
  /** Milliseconds that rise steadily. */
  elapsed: () => number
  onFault: ((error: SvcError) => void) | undefined
}

export type Campaign = {
  /** Resolves with what `take` gives, once that succeeds; `take` is tried whenever the lease looks free. */
  win<T>(signal: AbortSignal, take: (current: Lease | undefined) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** What was seen last; `at` is when the version was first seen. */
type Sight = { lease: Lease | undefined; at: number }

const pauseAfterFaultMs = 500

/** Follows the lease and remembers since when it is as it is. */
function followLease({ api, clock, ids, namespace, name, elapsed, onFault }: CampaignOptions) {
  let sight: Sight | undefined
  let changed = Promise.withResolvers<void>()

  function see(lease: Lease | undefined): void {
    // The same version listed again is no sign of life.
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
    ...(onFault && { onFault }),
  })
  return {
    ready: reflector.ready,
    close: reflector.close,
    sight: () => sight,
    /** Another was faster: what it wrote is seen in a moment. */
    touch: () => {
      if (sight !== undefined) sight.at = elapsed()
    },
    changed: () => changed.promise,
  }
}

export function createCampaign(options: CampaignOptions): Campaign {
  const { clock, identity, elapsed, onFault } = options
  const followed = followLease(options)

  /** Resolves when the lease was seen to change, or after the time; rejects when the signal aborts. */
  async function waitForChange(ms: number, signal: AbortSignal): Promise<void> {
    const done = new AbortController()
    const slept = clock.sleep(ms, AbortSignal.any([signal, done.signal]))
    // Whoever comes second ends with its own rejection, which nobody needs.
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

/** Also when it has aborted already. */
function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
