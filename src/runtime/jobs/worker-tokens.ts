// Which worker is calling: the projected token of its pod, by TokenReview, checked against the pod and its Job
// (AUTH-010).
import { createHash } from 'node:crypto'
import { orAbsent } from '../../cluster/api/failures.ts'
import type { Collection } from '../../cluster/api/paths.ts'
import type { KubernetesApi } from '../../cluster/api.ts'
import { namespaceOfUser } from '../../cluster/identity/authenticator.ts'
import { createAnswers, requestReview, type TokenReviewStatus } from '../../cluster/identity/reviews.ts'
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { WorkerIdentity, WorkerTokens } from '../../ports/identity/identity.ts'
import { tokenAudience } from './manifests.ts'
import { type ClusterObject, type Job, jobs, nameJob, type Pod, podLabels, pods, readAttempt } from './objects.ts'
import type { KubernetesWorkloads } from './workloads.ts'

export type KubernetesWorkerTokensOptions = {
  api: Pick<KubernetesApi, 'request'>
  clock: Clock
  instance: string
  /** The account of worker pods: no other account's token is accepted. */
  serviceAccount: string
  /** The caches of Jobs and pods; missing objects are requested. */
  workloads: Pick<KubernetesWorkloads, 'findJob' | 'findPod'>
}

const positiveMs = 60_000
const negativeMs = 5_000
const maxTokens = 5_000
const maxTokenLength = 32 * 1024

/** What the API server says about a bound token: the pod that it was issued for. */
type BoundTo = { namespace: string; podName: string; podUid: string }

function readBinding(
  status: TokenReviewStatus & { audiences?: string[] },
  serviceAccount: string,
): BoundTo | undefined {
  const { authenticated, error, user, audiences } = status
  // A server without support for audiences answers without them: its answer would be about another audience.
  if (authenticated !== true || error || !audiences?.includes(tokenAudience)) return undefined
  const namespace = namespaceOfUser(user?.username ?? '')
  if (namespace === undefined || !user?.username?.endsWith(`:${serviceAccount}`)) return undefined
  const podName = user.extra?.['authentication.kubernetes.io/pod-name']?.[0]
  const podUid = user.extra?.['authentication.kubernetes.io/pod-uid']?.[0]
  return podName === undefined || podUid === undefined ? undefined : { namespace, podName, podUid }
}

function refuse(): SvcError {
  return new SvcError('Unauthenticated', 'The worker token is not valid.')
}

export function createKubernetesWorkerTokens(options: KubernetesWorkerTokensOptions): WorkerTokens {
  const { api, clock, workloads, instance, serviceAccount } = options
  const answers = createAnswers<BoundTo | undefined>({
    clock,
    size: maxTokens,
    ttlMs: (bound) => (bound ? positiveMs : negativeMs),
    isRefusal: (bound) => bound === undefined,
  })

  const ask = <T>(collection: Collection, namespace: string, name: string) =>
    orAbsent(api.request<T>({ verb: 'get', collection, namespace, name }))

  async function findPod({ namespace, podName, podUid }: BoundTo): Promise<Pod | undefined> {
    const known = workloads.findPod(namespace, podName)
    if (known?.metadata.uid === podUid) return known
    const found = await ask<Pod>(pods, namespace, podName)
    return found?.metadata.uid === podUid ? found : undefined
  }

  async function findJobOf({ metadata }: Pod): Promise<Job | undefined> {
    const owner = metadata.ownerReferences?.find(({ kind, controller }) => kind === 'Job' && controller === true)
    if (owner === undefined) return undefined
    const known = workloads.findJob(metadata.namespace, owner.name)
    if (known?.metadata.uid === owner.uid) return known
    const found = await ask<Job>(jobs, metadata.namespace, owner.name)
    return found?.metadata.uid === owner.uid ? found : undefined
  }

  function isOurs({ metadata }: ClusterObject): boolean {
    return metadata.labels?.[podLabels.instance] === instance && metadata.labels[podLabels.component] === 'worker'
  }

  /** The attempt of the Job; its name follows from the task, so that no other Job can pass for it. */
  async function identify(bound: BoundTo): Promise<WorkerIdentity | undefined> {
    const pod = await findPod(bound)
    const job = pod === undefined ? undefined : await findJobOf(pod)
    const names = job === undefined ? undefined : readAttempt(job.metadata)
    if (job === undefined || names === undefined || !isOurs(job)) return undefined
    if (job.metadata.name !== nameJob(names.taskName, names.key)) return undefined
    return { ...names.key, namespace: names.namespace, taskName: names.taskName }
  }

  async function review(token: string): Promise<BoundTo | undefined> {
    return readBinding(await requestReview(api, 'TokenReview', { token, audiences: [tokenAudience] }), serviceAccount)
  }

  return {
    // The kubelet mounts the token into the pod; the assignment contains none.
    mint: async () => '',
    async verify(token) {
      if (token === '' || token.length > maxTokenLength) throw refuse()
      const bound = await answers.ask(createHash('sha256').update(token).digest('base64'), () => review(token))
      const identity = bound === undefined ? undefined : await identify(bound)
      if (identity === undefined) throw refuse()
      return identity
    },
  }
}
