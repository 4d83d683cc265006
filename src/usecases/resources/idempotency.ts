// Idempotency-Key: repeating a create with the same key and body returns the first outcome (HTTP-033 to HTTP-036).
import { createHmac } from 'node:crypto'
import type { Kind, ResourceOf } from '../../contract/kinds/index.ts'
import { SvcError } from '../../errors.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { IdempotentOutcome } from '../../ports/resources/records.ts'
import { callerKey, identifyCaller } from '../../rules/identity/caller-identity.ts'
import type { UsecaseDeps } from '../service/deps.ts'

const hour = 3_600_000
const ttlMs = 24 * hour
// A creation takes milliseconds; a claim this old belongs to a process that died.
const staleMs = 60_000

type IdempotentRequest<K extends Kind> = {
  caller: Caller
  /** Method and pattern of the route. */
  route: string
  kind: K
  namespace: string
  key: string
  /** The body as received. */
  body: unknown
}

type Creation<K extends Kind> = {
  create: () => Promise<ResourceOf<K>>
  /**
   * Throws what the same request would throw now; receives the object that the first request created, if it still
   * exists.
   */
  check: (made: ResourceOf<K> | undefined) => Promise<void>
}

type IdempotentAnswer<K extends Kind> = { object: ResourceOf<K>; replayed: boolean }

export type Idempotency = {
  /**
   * Runs `create` once per key, and returns the created object to callers who may still create it. Conflict when the
   * key was used with another body, when its first use is still running, or when the object no longer exists.
   */
  run<K extends Kind>(request: IdempotentRequest<K>, creation: Creation<K>): Promise<IdempotentAnswer<K>>
}

function identify(caller: Caller): string {
  return JSON.stringify([callerKey(identifyCaller(caller)), caller.boundNamespace ?? ''])
}

export function createIdempotency({ ports, settings }: UsecaseDeps): Idempotency {
  const { resources, records, clock } = ports

  // JSON quotes the parts, so that no two combinations give the same text.
  function digest(purpose: string, parts: unknown): string {
    const text = JSON.stringify([purpose, parts])
    return createHmac('sha256', settings.idempotencyKey).update(text).digest('base64url')
  }

  async function replay<K extends Kind>(
    kind: K,
    { namespace, name, uid }: IdempotentOutcome,
    check: Creation<K>['check'],
  ): Promise<ResourceOf<K>> {
    const found = await resources.get(kind, { namespace, name })
    const made = uid === undefined || found?.metadata.uid === uid ? found : undefined
    await check(made)
    if (made !== undefined) return made
    const fate = found === undefined ? 'no longer exists' : 'has been deleted and created again'
    throw new SvcError(
      'Conflict',
      `"${name}" was created by an earlier request with this Idempotency-Key and ${fate}; use a new key`,
    )
  }

  async function createOnce<K extends Kind>(storedKey: string, kind: K, create: () => Promise<ResourceOf<K>>) {
    let object: ResourceOf<K>
    try {
      object = await create()
    } catch (error) {
      await records.idempotency.release(storedKey)
      throw error
    }
    const { namespace, name, uid } = object.metadata
    await records.idempotency.settle(storedKey, { status: 201, kind, namespace, name, uid })
    return { object, replayed: false }
  }

  return {
    async run(request, { create, check }) {
      const { caller, route, kind, namespace, key } = request
      const storedKey = digest('key', [identify(caller), route, namespace, key])
      const claim = await records.idempotency.claim(storedKey, digest('body', request.body ?? null), {
        now: clock.now(),
        ttlMs,
        staleMs,
      })
      if (claim.state === 'claimed') return createOnce(storedKey, kind, create)
      if (claim.state === 'settled') return { object: await replay(kind, claim.outcome, check), replayed: true }
      const message =
        claim.state === 'running'
          ? 'a request with this Idempotency-Key is still in progress; try again in a moment'
          : 'this Idempotency-Key was used with another body; use a new key'
      throw new SvcError('Conflict', message)
    },
  }
}
