// Waits for one object to become what is wanted, by its watch.
import type { Collection } from '../../cluster/api/paths.ts'
import type { KubernetesApi } from '../../cluster/api.ts'
import { createReflector } from '../../cluster/reflector.ts'
import { isSvcError } from '../../errors.ts'
import { onAbort } from '../../lib/abort.ts'
import type { Clock, Ids } from '../../lib/clock.ts'
import type { ClusterObject } from '../jobs/objects.ts'

export type Watcher = { api: KubernetesApi; clock: Clock; ids: Ids }

export type ObjectWait<T, R> = {
  collection: Collection
  namespace: string
  name: string
  /** Called with each state of the object, undefined when there is none; what it returns is the answer, what it throws the error. */
  judge(object: T | undefined): R | undefined
}

/** Rejects with the signal's reason, with what `judge` throws, and when the kind can never be watched. */
export async function waitForObject<T extends ClusterObject, R>(
  { api, clock, ids }: Watcher,
  { collection, namespace, name, judge }: ObjectWait<T, R>,
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
    // Uninstalled in the meantime: nothing will be published any more.
    onFault: (error) => isSvcError(error, 'NotConfigured') && answer.reject(error),
  })
  reflector.ready.catch(answer.reject)
  const removeListener = onAbort(signal, () => answer.reject(signal.reason))
  try {
    return await answer.promise
  } finally {
    removeListener()
    void reflector.close()
  }
}
