// The end of an attempt's objects: the Job, its pods, its Secret, and what is kept of them here.
import { unlessGone } from '../../cluster/api/failures.ts'
import { collections } from '../../cluster/api/paths.ts'
import type { ApiRequest, KubernetesApi } from '../../cluster/api.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Attempt } from './attempts.ts'
import type { PodCheckouts } from './checkouts/checkouts.ts'
import { jobs, nameJob, type Pod, pods } from './objects.ts'
import type { Supervision } from './supervision.ts'
import { hasPodEnded } from './verdict.ts'

export type RemovalOptions = {
  api: KubernetesApi
  clock: Clock
  supervision: Supervision
  checkouts?: PodCheckouts | undefined
  graceSeconds: number
  nodeGraceMs: number
  closing: AbortSignal
}

/** The end of a log may take this long after the pod is gone. */
const logGraceMs = 10_000

function deleteObject(api: KubernetesApi, request: Omit<ApiRequest, 'verb'>): Promise<void> {
  return unlessGone(api.request({ ...request, verb: 'delete' }))
}

function isGone(attempt: Attempt): boolean {
  return attempt.job === undefined && attempt.pods.size === 0
}

/** Resolves when nothing of the attempt is there, or after the time. */
async function waitUntilGone(attempt: Attempt, { clock, closing }: RemovalOptions, ms: number): Promise<void> {
  const gone = new AbortController()
  const watcher = () => {
    if (isGone(attempt)) gone.abort()
  }
  attempt.watchers.add(watcher)
  watcher()
  try {
    await clock.sleep(ms, AbortSignal.any([gone.signal, closing])).catch(() => undefined)
  } finally {
    attempt.watchers.delete(watcher)
  }
}

/** One that has ended, or will never answer, needs no grace. */
async function deletePod({ api }: RemovalOptions, pod: Pod, isLost = false): Promise<void> {
  const { namespace, name, uid } = pod.metadata
  const body = { preconditions: { uid }, ...((isLost || hasPodEnded(pod)) && { gracePeriodSeconds: 0 }) }
  await deleteObject(api, { collection: pods, namespace, name, body })
}

async function deleteJob({ api }: RemovalOptions, { namespace, job }: Attempt): Promise<void> {
  if (job === undefined) return
  const { name, uid } = job.metadata
  const body = { propagationPolicy: 'Background', preconditions: { uid } }
  await deleteObject(api, { collection: jobs, namespace, name, body })
}

async function deleteObjects(options: RemovalOptions, attempt: Attempt): Promise<void> {
  const { api } = options
  const { namespace } = attempt
  // The garbage collector would get to the pods too, a second or two later.
  const leaving = [...attempt.pods.values()].filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  await Promise.all([deleteJob(options, attempt), ...leaving.map((pod) => deletePod(options, pod))])
  const name = nameJob(attempt.taskName, attempt.key)
  if (attempt.hasSecret) await deleteObject(api, { collection: collections.secrets, namespace, name })
}

/** Resolves when nothing of it is left; rejects when the service stops before. */
export async function removeAttempt(options: RemovalOptions, attempt: Attempt): Promise<Attempt> {
  const { closing, graceSeconds, nodeGraceMs, supervision, clock } = options
  await options.checkouts?.release(attempt)
  await deleteObjects(options, attempt)
  const graceMs = graceSeconds * 1000 + nodeGraceMs
  await waitUntilGone(attempt, options, graceMs)
  while (!isGone(attempt)) {
    closing.throwIfAborted()
    // Whoever should confirm the end does not answer: the node is lost, and its pods are taken as gone.
    for (const pod of attempt.pods.values()) await deletePod(options, pod, true)
    await waitUntilGone(attempt, options, nodeGraceMs)
  }
  const { output } = attempt
  const over = new AbortController()
  await Promise.race([output?.follower.done, clock.sleep(logGraceMs, over.signal).catch(() => undefined)])
  over.abort()
  await supervision.detach(attempt)
  return attempt
}
