// How a pod ended, as reported by its program, by the kubelet, or by whoever removed it. Pure.
import type { WorkloadState } from '../../ports/tasks/workloads.ts'
import { type AttemptEnd, describeMemory, describeProcessEnd, readExit } from '../attempts/end.ts'
import { judgeWorkerEnd, readReportLine } from '../attempts/worker-end.ts'
import { readGuardFailure } from './network-guard.ts'
import type { Pod, Terminated } from './objects.ts'
import { type Component, podLabels } from './objects.ts'
import { notStarted } from './streams/launch.ts'

export type EndedPod = { pod: Pod; terminated: Terminated | undefined; disruption: string | undefined }

export type EndSettings = { now: Date; memoryBytes?: number | undefined; errorTail?: string | undefined }

function stop(message: string): AttemptEnd {
  return { ok: false, reason: 'Stopped', message: `the attempt was lost: ${message}` }
}

/** The pod's own fault: it filled its disk. */
function isOverfull(message: string): boolean {
  return /exceed/.test(message) && /ephemeral|EmptyDir|emptyDir/.test(message)
}

/** Ends for which the kubelet has a reason of its own. */
function judgeReason(reason: string | undefined, message: string): AttemptEnd | undefined {
  if (reason === 'DeadlineExceeded') {
    return { ok: false, reason: 'DeadlineExceeded', message: `The attempt ran longer than its limit: ${message}` }
  }
  if (reason !== 'Evicted') return undefined
  if (!isOverfull(message)) return stop(`its node evicted its pod: ${message}`)
  return { ok: false, reason: 'DiskFull', message: `It wrote more than its disk holds: ${message}` }
}

/** Ends of a pod that came from outside. */
function judgeDisruption({ pod, terminated, disruption }: EndedPod): AttemptEnd | undefined {
  // The program may have ended by itself before the disruption.
  if (terminated?.exitCode === 0) return undefined
  if (disruption !== undefined) return stop(disruption)
  if (terminated?.reason === 'ContainerStatusUnknown') return stop('its node forgot its container')
  return pod.metadata.deletionTimestamp === undefined ? undefined : stop('its pod was deleted')
}

function judgeKubelet(ended: EndedPod): AttemptEnd | undefined {
  const { phase, reason, message = '' } = ended.pod.status ?? {}
  const known = judgeReason(reason, message) ?? judgeDisruption(ended)
  if (known !== undefined || ended.terminated !== undefined || phase === 'Succeeded') return known
  return stop(message === '' ? `its pod ended (${reason ?? 'no reason was given'})` : message)
}

function failStart(cause: string | undefined): AttemptEnd {
  return { ok: false, reason: 'StartFailed', message: `The container could not be started: ${cause}` }
}

const startFailures = new Set(['StartError', 'ContainerCannotRun'])

/**
 * When the kernel kills one process of many, the container's status shows it only sometimes; nobody else sends KILL.
 */
function wasOutOfMemory({ reason, exitCode }: Terminated, memoryBytes: number | undefined): boolean {
  return reason === 'OOMKilled' || (exitCode === 137 && memoryBytes !== undefined)
}

function judgeWorker(terminated: Terminated, memoryBytes: number | undefined): AttemptEnd {
  const message = terminated.message ?? ''
  const { outcome } = readReportLine({ isReady: true, outcome: undefined }, message)
  const exit = readExit(terminated.exitCode, null)
  const errorTail = outcome === undefined ? message.trim() : ''
  const isFull = terminated.exitCode !== 0 && wasOutOfMemory(terminated, memoryBytes)
  return judgeWorkerEnd({ exit, wasReady: true, outcome, errorTail, wasOutOfMemory: isFull }, memoryBytes ?? 0)
}

const lastLines = 3

/**
 * With both streams in one log, they are not always in the order in which they were written: its last lines, joined.
 */
function pickLastWords(message = ''): string {
  return message.trim().split('\n').slice(-lastLines).join(' / ')
}

/** The error of the shell that should have become the command, without its position in the script. */
function describeNotStarted(errorTail: string): string {
  const words = errorTail.split('\n').at(-1) ?? ''
  return words.replace(/^svc: line \d+: (exec: )?/, '')
}

function judgeCommand(terminated: Terminated, { memoryBytes, errorTail }: EndSettings): AttemptEnd {
  if (terminated.exitCode !== 0 && terminated.message?.trim() === notStarted) {
    return failStart(describeNotStarted(errorTail ?? ''))
  }
  const exit = readExit(terminated.exitCode, null)
  const outOfMemory = wasOutOfMemory(terminated, memoryBytes) ? describeMemory(memoryBytes) : undefined
  const lastWords = errorTail || pickLastWords(terminated.message)
  return describeProcessEnd({ exit, what: 'The container', errorTail: lastWords, outOfMemory })
}

function judgeTerminated({ pod }: EndedPod, terminated: Terminated, settings: EndSettings): AttemptEnd {
  if (startFailures.has(terminated.reason ?? '')) return failStart(terminated.message)
  const component = pod.metadata.labels?.[podLabels.component] as Component | undefined
  return component === 'worker' ? judgeWorker(terminated, settings.memoryBytes) : judgeCommand(terminated, settings)
}

/** A deleted pod lacks these times; they are in whole seconds. */
function readTimes(terminated: Terminated | undefined, pod: Pod, now: Date) {
  const started = terminated?.startedAt ?? pod.status?.startTime
  const finishedAt = terminated?.finishedAt === undefined ? now : new Date(terminated.finishedAt)
  return { finishedAt, ...(started !== undefined && { startedAt: new Date(started) }) }
}

function judgeGuard(pod: Pod): AttemptEnd | undefined {
  const failure = readGuardFailure(pod)
  return failure === undefined
    ? undefined
    : { ok: false, reason: 'StartFailed', message: `The pod was not let begin: ${failure}` }
}

/** The state after the end of a pod. */
export function judgePodEnd(ended: EndedPod, settings: EndSettings): WorkloadState {
  const { pod, terminated } = ended
  const times = readTimes(terminated, pod, settings.now)
  const end =
    judgeGuard(pod) ??
    judgeKubelet(ended) ??
    (terminated === undefined ? { ok: true as const } : judgeTerminated(ended, terminated, settings))
  if (end.ok) return { phase: 'Succeeded', ...times, startedAt: times.startedAt ?? times.finishedAt }
  const { ok: _, ...failure } = end
  return {
    phase: 'Failed',
    ...failure,
    ...times,
    ...(terminated !== undefined && { exitCode: failure.exitCode ?? terminated.exitCode }),
  }
}
