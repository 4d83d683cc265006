// Waits for one object to become what is wanted, by its watch.

import type { Collection } from '../../cluster/api/paths.ts'
import type { KubernetesApi } from '../../cluster/api.ts'
import { createReflector } from '../../cluster/reflector.ts'
import { isSvcError } from '../../errors.ts'
import type { Clock, Ids } from '../../lib/clock.ts'
import type { StoredObject } from '../jobs/objects.ts'

export type Watcher = { api: KubernetesApi; clock: Clock; ids: Ids }

export type Wanted<T, R> = {
  collection: Collection
  namespace: string
  name: string
  /** Called with each state of the object, undefined when there is none; what it returns is the answer, what it throws the error. */
  judge(object: T | undefined): R | undefined
}

/** Rejects with the signal's reason, with what `judge` throws, and when the kind can never be watched. */
export async function waitForObject<T extends StoredObject, R>(
  { api, clock, ids }: Watcher,
  { collection, namespace, name, judge }: Wanted<T, R>,
  signal: AbortSignal,
): Promise<R> {
  signal.throwIfAborted()
  const answer = Promise.withResolvers<R>()
  const consider = (object: T | undefined) => {
    try {
      const found = judge(object)
      if (found !== undefined) answer.resolve(found)
    } catch (error) {
      answer.reject(error)
    }
  }
  const reflector = createReflector<T>({
    api,
    clock,
    ids,
    collection,
    namespace,
    fieldSelector: `metadata.name=${name}`,
    convert: (object) => object as unknown as T,
    onReset: ([object]) => consider(object),
    onEvent: (type, object) => consider(type === 'DELETED' ? undefined : object),
    // Uninstalled in the meantime: nothing will be told any more.
    onFault: (error) => isSvcError(error, 'NotConfigured') && answer.reject(error),
  })
  reflector.ready.catch(answer.reject)
  const abort = () => answer.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await answer.promise
  } finally {
    signal.removeEventListener('abort', abort)
    void reflector.close()
  }
}
