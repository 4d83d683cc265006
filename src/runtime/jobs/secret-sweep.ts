// Removes Secrets of attempts that have no Job: a crash came between the two, or somebody deleted the Job.

import { type ApiTarget, collections, listScopes } from '../../cluster/api/paths.ts'
import type { KubernetesApi } from '../../cluster/api.ts'
import type { Clock } from '../../lib/clock.ts'
import { componentSelector, labels } from './names.ts'
import type { StoredObject } from './objects.ts'

type SweepOptions = { api: KubernetesApi; clock: Clock; instance: string; namespaces?: readonly string[] }

/** A Secret younger than this may belong to a Job that is being made. */
const youngMs = 120_000

export async function sweepSecrets(
  options: SweepOptions,
  hasJob: (namespace: string, name: string) => boolean,
): Promise<void> {
  for (const scope of listScopes(options.namespaces)) await sweepScope(options, scope, hasJob)
}

async function sweepScope(
  { api, clock, instance }: SweepOptions,
  scope: Pick<ApiTarget, 'namespace'>,
  hasJob: (namespace: string, name: string) => boolean,
): Promise<void> {
  const query = { labelSelector: `${labels.instance}=${instance},${componentSelector}` }
  const where = { collection: collections.secrets, ...scope }
  const { items } = await api.request<{ items: StoredObject[] }>({ verb: 'list', ...where, query })
  const now = clock.now().getTime()
  for (const { metadata } of items) {
    const { namespace, name, creationTimestamp, uid } = metadata
    if (hasJob(namespace, name) || now - Date.parse(creationTimestamp) < youngMs) continue
    const body = { preconditions: { uid } }
    await api.request({ verb: 'delete', collection: collections.secrets, namespace, name, body }).catch(() => undefined)
  }
}
