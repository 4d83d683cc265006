// Watches: what there is (unless resuming), then every change in order, or an error that says to list again.
import type { Kind, ResourceOf } from '../../contract/kinds/index.ts'
import { SvcError } from '../../errors.ts'
import { onAbort } from '../../lib/abort.ts'
import type { ResourcePage, ResourceReader, WatchEvent, WatchOptions } from '../../ports/resources/resources.ts'
import type { Change, ChangeRing, Follower, Scope } from './change-ring.ts'

/** Objects of the initial listing read at a time. */
export const listingPage = 250

export type WatchParts = { ring: ChangeRing; list: ResourceReader['list'] }

function freezeDeep(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  Object.freeze(value)
  for (const part of Object.values(value)) freezeDeep(part)
}

// Parsed once for all watches, kept only as long as one of them holds it, and frozen because they share it.
const shared = new WeakMap<Change, WeakRef<object>>()

function readObject<K extends Kind>(_kind: K, change: Change): ResourceOf<K> {
  const known = shared.get(change)?.deref()
  if (known !== undefined) return known as ResourceOf<K>
  const parsed: ResourceOf<K> & object = JSON.parse(change.object)
  freezeDeep(parsed)
  shared.set(change, new WeakRef(parsed))
  return parsed
}

export function describeExpired(): SvcError {
  return new SvcError('Expired', 'the changes after this resourceVersion are no longer remembered: list again')
}

export function parseVersion(text: string): number {
  const version = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(version)) return version
  throw new SvcError('InvalidRequest', `resourceVersion "${text}" is not one that this service gave`)
}

export function createWatches({ ring, list }: WatchParts) {
  function follow(scope: Scope, version: number): Follower {
    const follower = ring.follow(scope, version)
    if (follower === undefined) throw describeExpired()
    return follower
  }

  /** Every object there is, at the version that the follower starts from: nothing is awaited between the two. */
  async function* listPresent<K extends Kind>(kind: K, namespace: string | undefined) {
    const query = { namespace, limit: listingPage }
    let token: string | undefined
    do {
      const page: ResourcePage<ResourceOf<K>> = await list(
        kind,
        token === undefined ? query : { ...query, continue: token },
      )
      for (const object of page.items) yield { type: 'ADDED' as const, object }
      token = page.continue
    } while (token !== undefined)
  }

  function takeEvent<K extends Kind>(kind: K, follower: Follower): WatchEvent<ResourceOf<K>> | undefined {
    const change = follower.take()
    if (change === 'lost') throw describeExpired()
    return change && { type: change.type, object: readObject(kind, change) }
  }

  async function* readChanges<K extends Kind>(kind: K, follower: Follower): AsyncGenerator<WatchEvent<ResourceOf<K>>> {
    while (!follower.isClosed()) {
      const event = takeEvent(kind, follower)
      if (event === undefined) await follower.wait()
      else yield event
    }
  }

  async function* readAll<K extends Kind>(kind: K, options: WatchOptions): AsyncGenerator<WatchEvent<ResourceOf<K>>> {
    const { signal, namespace, resourceVersion } = options
    const version = resourceVersion === undefined ? ring.head() : parseVersion(resourceVersion)
    const follower = follow({ kind, namespace }, version)
    const removeListener = onAbort(signal, follower.close)
    try {
      if (resourceVersion === undefined) yield* listPresent(kind, namespace)
      yield* readChanges(kind, follower)
    } finally {
      removeListener()
      follower.close()
    }
  }

  return async function* watch<K extends Kind>(kind: K, options: WatchOptions) {
    if (!options.signal.aborted) yield* readAll(kind, options)
  }
}
