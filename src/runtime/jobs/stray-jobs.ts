// Removes Jobs of attempts that are not the live one of any running task: created late by a former leader that did not
// know yet that it had lost leadership, or left by one that died between the end of a task and the removal of its Job.
// Removes Secrets of attempts that have no Job, too: a crash came between the two, or somebody deleted the Job.
import { unlessGone } from '../../cluster/api/failures.ts'
import { type ApiTarget, type Collection, collections, listScopes } from '../../cluster/api/paths.ts'
import type { KubernetesApi } from '../../cluster/api.ts'
import type { Clock } from '../../lib/clock.ts'
import type { WorkerIdentity } from '../../ports/identity/identity.ts'
import { type ClusterObject, componentSelector, jobs, type ObjectMetadata, podLabels, readAttempt } from './objects.ts'

export type StrayJobsOptions = {
  api: Pick<KubernetesApi, 'request'>
  isLive(attempt: WorkerIdentity): Promise<boolean>
  clock: Clock
  instance: string
  /** Absent or empty: all namespaces. */
  namespaces?: readonly string[]
}

/** A task's status precedes its Job, which is removed right after the task's end: an older Job belongs to nobody. */
const youngMs = 30_000

export function createStrayJobs({ api, isLive, clock, instance, namespaces }: StrayJobsOptions) {
  function isYoung({ creationTimestamp }: ObjectMetadata): boolean {
    return clock.now().getTime() - Date.parse(creationTimestamp) < youngMs
  }

  async function isStray({ metadata }: ClusterObject): Promise<boolean> {
    const attempt = readAttempt(metadata)
    if (attempt === undefined || metadata.deletionTimestamp !== undefined || isYoung(metadata)) return false
    const { key, ...names } = attempt
    return !(await isLive({ ...key, ...names }))
  }

  async function remove(collection: Collection, { namespace, name, uid }: Partial<ObjectMetadata>): Promise<void> {
    const body = { propagationPolicy: 'Background', ...(uid !== undefined && { preconditions: { uid } }) }
    const target = { collection, name: name ?? '', namespace: namespace ?? '' }
    await unlessGone(api.request({ verb: 'delete', ...target, body }))
  }

  return {
    /** Returns how many were removed, with their pods and Secrets. */
    async sweep(signal: AbortSignal): Promise<number> {
      const query = { labelSelector: `${podLabels.instance}=${instance},${componentSelector}` }
      let removed = 0
      for (const scope of listScopes(namespaces)) {
        const where = { collection: jobs, metadataOnly: true, ...scope }
        const { items } = await api.request<{ items: ClusterObject[] }>({ verb: 'list', ...where, query, signal })
        for (const { metadata } of items) {
          if (!(await isStray({ metadata }))) continue
          signal.throwIfAborted()
          await remove(jobs, metadata)
          await remove(collections.secrets, { namespace: metadata.namespace, name: metadata.name })
          removed += 1
        }
      }
      return removed
    },
  }
}

type SweepOptions = { api: KubernetesApi; clock: Clock; instance: string; namespaces?: readonly string[] }

/** A Secret younger than this may belong to a Job that is being made. */
const youngSecretMs = 120_000

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
  const query = { labelSelector: `${podLabels.instance}=${instance},${componentSelector}` }
  const where = { collection: collections.secrets, ...scope }
  const { items } = await api.request<{ items: ClusterObject[] }>({ verb: 'list', ...where, query })
  const now = clock.now().getTime()
  for (const { metadata } of items) {
    const { namespace, name, creationTimestamp, uid } = metadata
    if (hasJob(namespace, name) || now - Date.parse(creationTimestamp) < youngSecretMs) continue
    const body = { preconditions: { uid } }
    await api.request({ verb: 'delete', collection: collections.secrets, namespace, name, body }).catch(() => undefined)
  }
}
