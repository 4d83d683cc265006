// What a Job and its pod say of the attempt, put into a state with a sentence that a user can act on. Pure.
import type { AdapterFailure } from '../../contract/kinds/tasks/failures.ts'
import type { PendingReason, WorkloadState } from '../../ports/tasks/workloads.ts'
import { awaitsCheckout } from './checkouts/containers.ts'
import {
  type ContainerState,
  containerName,
  findTrueCondition,
  type Job,
  type ObjectCondition,
  type Pod,
  queueLabel,
  streamsName,
} from './objects.ts'
import { type EndedPod, judgePodEnd } from './pod-end.ts'

export type Sight = { job: Job | undefined; pod: Pod | undefined }

export type VerdictSettings = {
  now: Date
  /** For how long a failing image pull or container start is repeated by the kubelet before the attempt fails. */
  startGraceMs: number
  /** For how long after its time to end a pod may stay away before its node counts as lost. */
  nodeGraceMs: number
  /** The memory limit, for the message. */
  memoryBytes?: number | undefined
  /** The last of a command's stderr, where that is known by itself. */
  errorTail?: string | undefined
  /** No pod was seen since its queue held it. */
  isUnbegun?: boolean | undefined
}

/** The state, and when to look again though nothing changed. */
export type AttemptVerdict = { state: WorkloadState; lookAgainAt?: number }

function fail(reason: AdapterFailure, message: string, now: Date): AttemptVerdict {
  return { state: { phase: 'Failed', reason, message, finishedAt: now } }
}

function wait(message: string): AttemptVerdict {
  return { state: { phase: 'Pending', message } }
}

function blocked(reason: PendingReason, message: string): AttemptVerdict {
  return { state: { phase: 'Pending', reason, message } }
}

export function containerStateOf(pod: Pod): ContainerState {
  return pod.status?.containerStatuses?.find(({ name }) => name === containerName)?.state ?? {}
}

/** Of what must run before the attempt's container: what does not get that far. */
function findBlocked(pod: Pod): ContainerState['waiting'] {
  const waiting = pod.status?.initContainerStatuses?.map(({ state }) => state?.waiting)
  return waiting?.find((one) => one !== undefined && one.reason !== 'PodInitializing')
}

function sidecarStateOf(pod: Pod): ContainerState | undefined {
  return pod.status?.initContainerStatuses?.find(({ name }) => name === streamsName)?.state
}

/** Whether the log of the pod's command gets no longer: the container that has it is over. */
export function hasLogEnded(pod: Pod): boolean {
  const { phase } = pod.status ?? {}
  const sidecar = sidecarStateOf(pod)
  if (sidecar === undefined) return hasPodEnded(pod)
  return phase === 'Succeeded' || phase === 'Failed' || (hasPodEnded(pod) && sidecar.terminated !== undefined)
}

/** Waiting reasons that no repetition helps against. */
const hopeless = new Set(['InvalidImageName', 'ErrImageNeverPull'])
const imageReasons = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'RegistryUnavailable',
  'ImageInspectError',
  ...hopeless,
])
const startReasons = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
  'CrashLoopBackOff',
])

function describeWaiting(reason: string, message: string | undefined): string {
  const cause = message === undefined ? reason : `${message} (${reason})`
  if (imageReasons.has(reason)) {
    return `the image cannot be pulled: ${cause}; check its name and that the node may pull it`
  }
  return `the container cannot be created: ${cause}`
}

function readMoment(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text)
}

/** A kubelet repeats what fails at the start; the attempt fails when that has gone on for a while. */
function judgeWaiting(
  pod: Pod,
  waiting: NonNullable<ContainerState['waiting']>,
  settings: VerdictSettings,
): AttemptVerdict {
  const { reason = '', message } = waiting
  const isImage = imageReasons.has(reason)
  if (!isImage && !startReasons.has(reason)) return wait('the container is being created on its node')
  const text = describeWaiting(reason, message)
  const since = readMoment(pod.status?.startTime) ?? settings.now.getTime()
  const failAt = since + settings.startGraceMs
  const cause = isImage ? 'ImageUnavailable' : 'StartFailed'
  if (hopeless.has(reason) || settings.now.getTime() >= failAt) return fail(cause, text, settings.now)
  return { ...blocked(cause, text), lookAgainAt: failAt }
}

function findUnscheduled(pod: Pod): ObjectCondition | undefined {
  return pod.status?.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'False')
}

function judgeUnscheduled({ reason, message }: ObjectCondition): AttemptVerdict {
  const cause = message === undefined ? (reason ?? 'it is not scheduled') : message
  return blocked('Unschedulable', `waiting for a place on a node: ${cause}`)
}

const disruptions: Record<string, string> = {
  PreemptionByScheduler: 'its pod made room for one of higher priority',
  DeletionByTaintManager: 'its node was lost or does not bear it any more',
  EvictionByEvictionAPI: 'its pod was evicted from its node',
  DeletionByPodGC: 'its node is gone',
  TerminationByKubelet: 'its node had to end its pod',
}

/** Why a pod ended that nobody here told to end. */
export function describeDisruption(pod: Pod | undefined): string | undefined {
  const condition = findTrueCondition(pod?.status?.conditions, 'DisruptionTarget')
  if (condition === undefined) return undefined
  const cause = disruptions[condition.reason ?? ''] ?? 'its pod was disrupted'
  return condition.message === undefined ? cause : `${cause}: ${condition.message}`
}

/** A pod that should be gone for long is on a node that does not answer. */
function judgeLeaving(pod: Pod, settings: VerdictSettings): AttemptVerdict | undefined {
  const leaving = readMoment(pod.metadata.deletionTimestamp)
  if (leaving === undefined) return undefined
  const lostAt = leaving + settings.nodeGraceMs
  if (settings.now.getTime() >= lostAt) {
    const node = pod.spec?.nodeName ?? 'its node'
    return fail('Stopped', `the attempt was lost: ${node} does not answer`, settings.now)
  }
  return { ...judgeLive(pod, settings), lookAgainAt: lostAt }
}

function judgeLive(pod: Pod, settings: VerdictSettings): AttemptVerdict {
  const { waiting: own, running } = containerStateOf(pod)
  if (running !== undefined) return { state: { phase: 'Running', startedAt: new Date(running.startedAt) } }
  const unscheduled = findUnscheduled(pod)
  if (unscheduled !== undefined) return judgeUnscheduled(unscheduled)
  if (awaitsCheckout(pod)) return wait('its git repository is being checked out')
  const waiting = findBlocked(pod) ?? own
  if (waiting !== undefined) return judgeWaiting(pod, waiting, settings)
  return wait('its pod is being started')
}

/** Whether the pod ends no more: its container is over, or the kubelet gave it up. */
export function hasPodEnded(pod: Pod): boolean {
  const phase = pod.status?.phase
  return phase === 'Succeeded' || phase === 'Failed' || containerStateOf(pod).terminated !== undefined
}

function judgePod(pod: Pod, settings: VerdictSettings): AttemptVerdict {
  if (pod.status?.reason === 'NodeLost') {
    return fail('Stopped', `the attempt was lost: node ${pod.spec?.nodeName} does not answer`, settings.now)
  }
  if (!hasPodEnded(pod)) return judgeLeaving(pod, settings) ?? judgeLive(pod, settings)
  const ended: EndedPod = { pod, terminated: containerStateOf(pod).terminated, disruption: describeDisruption(pod) }
  return { state: judgePodEnd(ended, settings) }
}

/** A Job without its pod: not made yet, or taken away. */
function judgeJob(job: Job, { now, isUnbegun }: VerdictSettings): AttemptVerdict {
  const failed =
    findTrueCondition(job.status?.conditions, 'Failed') ?? findTrueCondition(job.status?.conditions, 'FailureTarget')
  if (failed?.reason === 'DeadlineExceeded') {
    return fail('DeadlineExceeded', failed.message ?? 'the attempt ran longer than its limit', now)
  }
  if (failed !== undefined) return fail('Stopped', 'the attempt was lost: its pod was deleted', now)
  if (findTrueCondition(job.status?.conditions, 'Complete') !== undefined) {
    return fail('Stopped', 'the attempt was lost: its pod was deleted before its end was read', now)
  }
  return job.spec?.suspend ? judgeSuspended(job, now, isUnbegun) : judgePodless(job, now)
}

/**
 * Nobody suspends it here, so it belongs to a queue. It is made as it is, admitted by a change of its spec, and suspended by
 * another when it has to make room; its pod, which a later one would follow within the same attempt, is gone then. It waits on
 * where it never had one.
 */
function judgeSuspended({ metadata: { generation = 1, labels } }: Job, now: Date, isUnbegun = false): AttemptVerdict {
  const queue = labels?.[queueLabel]
  const name = queue === undefined ? 'its queue' : `queue ${queue}`
  if (generation === 1 || isUnbegun) return blocked('WaitingForQuota', `waiting for quota of ${name}`)
  return fail('Stopped', `the attempt was lost: ${name} suspended it to make room`, now)
}

/** A Job gets its pod at once, unless its namespace lets none be made. */
const podGraceMs = 10_000

function judgePodless({ metadata: { creationTimestamp, name }, status }: Job, now: Date): AttemptVerdict {
  // Its queue has let it go, which the cluster has not noticed yet.
  const isHeld = findTrueCondition(status?.conditions, 'Suspended') !== undefined
  const since = isHeld ? now.getTime() : Date.parse(status?.startTime ?? creationTimestamp)
  const blockedAt = since + podGraceMs
  if (now.getTime() < blockedAt) return { ...wait('waiting for its pod to be made'), lookAgainAt: blockedAt }
  const advice = `the events of Job ${name} say what is in the way, such as a quota of its namespace`
  return blocked('NoPod', `waiting for its pod to be made; ${advice}`)
}

/** What is seen of the attempt now. */
export function judge({ job, pod }: Sight, settings: VerdictSettings): AttemptVerdict {
  if (pod !== undefined) return judgePod(pod, settings)
  return job === undefined ? { state: { phase: 'Missing' } } : judgeJob(job, settings)
}
