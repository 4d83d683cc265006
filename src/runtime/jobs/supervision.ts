// Turns what is seen of attempts into states: follows their logs, notifies listeners, looks again when time alone decides.
import { join } from 'node:path'
import { collections } from '../../cluster/api/paths.ts'
import type { KubernetesApi } from '../../cluster/api.ts'
import { tryParseQuantity } from '../../contract/values/quantity.ts'
import type { Clock, Ids } from '../../lib/clock.ts'
import { createOutputTail } from '../../lib/output-tail.ts'
import { createRedactor } from '../../observability/redaction.ts'
import type { Logs } from '../../ports/tasks/outputs.ts'
import type { CommandOutput, WorkloadState, Workloads } from '../../ports/tasks/workloads.ts'
import { type Attempt, type AttemptOutput, podOf, summarizeState } from './attempts.ts'
import type { PodCheckouts } from './checkouts/checkouts.ts'
import { followPodLog } from './log-follower.ts'
import { readPosition, type StoredLogPosition, writePosition } from './log-intake.ts'
import { redactKey } from './manifests.ts'
import { type Component, jobs, nameJob, type Pod, podAnnotations, podLabels } from './objects.ts'
import { hasSeparateStreams } from './streams/launch.ts'
import { containerStateOf, hasLogEnded, judge } from './verdict.ts'

export type SupervisionOptions = {
  api: KubernetesApi
  logs: Logs
  clock: Clock
  ids: Pick<Ids, 'random'>
  /** Holds the last of each command's output while it is needed. */
  outputFolder: string
  /** Absent: no attempt works in a git repository. */
  checkouts?: PodCheckouts | undefined
  startGraceMs: number
  nodeGraceMs: number
  onFault: (error: unknown, what: string) => void
}

export type Supervision = {
  /** Looks at the attempt anew: after a change, and when it is asked for. */
  settle(attempt: Attempt): WorkloadState
  /** The values that must not be shown of it. */
  readSecrets(attempt: Attempt): Promise<string[]>
  readOutput(attempt: Attempt): Promise<CommandOutput | undefined>
  /** Ends what goes on here about the attempt. */
  detach(attempt: Attempt): Promise<void>
  onChange: Workloads['onChange']
}

/** A sidecar that hangs, or was never written to, keeps an ended command waiting no longer than this. */
const quietMs = 10_000
const outputBytes = 5 * 1024 * 1024
const secretRetryMs = 5000

function isEnded(state: WorkloadState): boolean {
  return state.phase === 'Succeeded' || state.phase === 'Failed'
}

function hasNotBegun({ isUnbegun }: Attempt, pod: Pod | undefined, state: WorkloadState): boolean {
  return pod === undefined && (isUnbegun || (state.phase === 'Pending' && state.reason === 'WaitingForQuota'))
}

function componentOf(pod: Pod): Component | undefined {
  return pod.metadata.labels?.[podLabels.component] as Component | undefined
}

/** A container that ran has a log; what could not be started has none. */
function hasLog(pod: Pod | undefined): pod is Pod {
  if (pod === undefined || !['command', 'sealed'].includes(componentOf(pod) ?? '')) return false
  const { running, terminated } = containerStateOf(pod)
  const wasStarted = terminated !== undefined && !['StartError', 'ContainerCannotRun'].includes(terminated.reason ?? '')
  return running !== undefined || wasStarted
}

function readMemoryLimit(pod: Pod | undefined): number | undefined {
  return tryParseQuantity(pod?.spec?.containers?.[0]?.resources?.limits?.memory ?? '')
}

/** As long as its log is read, an ended attempt is reported as running: its last lines come before its end. */
function deferEnd(attempt: Attempt, pod: Pod | undefined, state: WorkloadState, now: Date): WorkloadState {
  if (!isEnded(state)) return state
  const isRead = attempt.output === undefined ? !hasLog(pod) : attempt.output.isDone
  if (isRead) return state
  return { phase: 'Running', startedAt: (isEnded(state) && 'startedAt' in state && state.startedAt) || now }
}

async function loadSecrets({ api }: SupervisionOptions, attempt: Attempt): Promise<string[]> {
  if (!attempt.hasSecret) return []
  const name = nameJob(attempt.taskName, attempt.key)
  const { namespace } = attempt
  type Answer = { data?: Record<string, string> }
  const { data } = await api.request<Answer>({ verb: 'get', collection: collections.secrets, namespace, name })
  const text = data?.[redactKey]
  return text === undefined ? [] : (JSON.parse(Buffer.from(text, 'base64').toString('utf8')) as string[])
}

async function savePosition({ api }: SupervisionOptions, attempt: Attempt, position: StoredLogPosition): Promise<void> {
  const { namespace, taskName, key } = attempt
  const body = { metadata: { annotations: { [podAnnotations.logPosition]: writePosition(position) } } }
  const name = nameJob(taskName, key)
  await api.request({ verb: 'patch', patch: 'merge', collection: jobs, namespace, name, body })
}

/** The log of the attempt's container, and the last of its output. */
function openOutput(options: SupervisionOptions, attempt: Attempt, pod: Pod, secrets: string[]): AttemptOutput {
  const { namespace, name } = pod.metadata
  const tail = createOutputTail(join(options.outputFolder, `${pod.metadata.uid}.stdout`), outputBytes)
  const follower = followPodLog(options, {
    key: attempt.key,
    namespace,
    pod: name,
    hasSeparateStreams: hasSeparateStreams(pod),
    redact: createRedactor(secrets, 'tokens'),
    tail,
    position: readPosition(attempt.job?.metadata.annotations?.[podAnnotations.logPosition]) ?? attempt.logStart,
    isOver: () => {
      const present = attempt.pods.get(name)
      return present === undefined || hasLogEnded(present)
    },
    savePosition: (position) => savePosition(options, attempt, position),
  })
  return { tail, follower, isDone: false }
}

async function readRedacted(
  attempt: Attempt,
  readSecrets: Supervision['readSecrets'],
): Promise<CommandOutput | undefined> {
  if (attempt.output === undefined) return undefined
  const [output, secrets] = await Promise.all([attempt.output.tail.read(), readSecrets(attempt)])
  return { ...output, text: createRedactor(secrets, 'tokens')(output.text) }
}

/** Tells listeners what is new to them. */
function createChangePublisher() {
  const listeners = new Set<Parameters<Workloads['onChange']>[0]>()
  return {
    publish(attempt: Attempt, state: WorkloadState): void {
      const summary = summarizeState(state)
      if (summary === attempt.published) return
      attempt.published = summary
      const { key, namespace, taskName } = attempt
      for (const listener of listeners) listener({ key, namespace, taskName })
    },
    onChange(listener: Parameters<Workloads['onChange']>[0]) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** Of an attempt that has ended. Returns when to look again; undefined when its log is read. */
function abandonQuietLog({ output }: Attempt, now: Date): number | undefined {
  if (output === undefined || output.isDone) return undefined
  output.endSeenAt ??= now
  const quietSince = Math.max((output.follower.waitsSince() ?? now).getTime(), output.endSeenAt.getTime())
  if (now.getTime() < quietSince + quietMs) return quietSince + quietMs
  void output.follower.stop()
  return undefined
}

/** One alarm at a time; none without a delay. */
function resetAlarm(clock: Clock, attempt: Attempt, delayMs: number | undefined, ring: () => void): void {
  attempt.alarm?.abort()
  attempt.alarm = undefined
  if (delayMs === undefined) return
  const alarm = new AbortController()
  attempt.alarm = alarm
  clock.sleep(Math.max(0, delayMs), alarm.signal).then(ring, () => undefined)
}

export function createSupervision(options: SupervisionOptions): Supervision {
  const { clock, startGraceMs, nodeGraceMs } = options
  const { publish, onChange } = createChangePublisher()

  const setAlarm = (attempt: Attempt, delayMs?: number) =>
    resetAlarm(clock, attempt, delayMs, () => void settle(attempt))

  function readSecrets(attempt: Attempt): Promise<string[]> {
    if (attempt.secrets === undefined) {
      attempt.secrets = loadSecrets(options, attempt)
      attempt.secrets.catch((error: unknown) => {
        attempt.secrets = undefined
        options.onFault(error, 'the Secret of an attempt')
      })
    }
    return attempt.secrets
  }

  function startFollowing(attempt: Attempt, pod: Pod, secrets: string[]): void {
    if (!attempt.isFollowed || attempt.output !== undefined) return
    const output = openOutput(options, attempt, pod, secrets)
    attempt.output = output
    void output.follower.done.then(() => {
      output.isDone = true
      if (attempt.output === output) settle(attempt)
    })
  }

  /** Begins once the secrets are known that must not be stored. */
  function seekLog(attempt: Attempt, pod: Pod): void {
    if (!attempt.isFollowed || attempt.output !== undefined || attempt.isSeekingLog) return
    attempt.isSeekingLog = true
    readSecrets(attempt)
      .then((secrets) => startFollowing(attempt, pod, secrets))
      .catch(() => setAlarm(attempt, secretRetryMs))
      .finally(() => {
        attempt.isSeekingLog = false
      })
  }

  const afterEnd = (attempt: Attempt) => ({
    readOutput: () => readRedacted(attempt, readSecrets),
    look: () => void settle(attempt),
  })

  function settle(attempt: Attempt): WorkloadState {
    const now = clock.now()
    const pod = podOf(attempt)
    const errorTail = attempt.output?.follower.errorTail()
    const { job, isUnbegun } = attempt
    const settings = { now, startGraceMs, nodeGraceMs, memoryBytes: readMemoryLimit(pod), errorTail, isUnbegun }
    const verdict = judge({ job, pod }, settings)
    attempt.isUnbegun = hasNotBegun(attempt, pod, verdict.state)
    const lookAgainAt = verdict.lookAgainAt ?? (isEnded(verdict.state) ? abandonQuietLog(attempt, now) : undefined)
    setAlarm(attempt, lookAgainAt === undefined ? undefined : lookAgainAt - now.getTime())
    if (hasLog(pod)) seekLog(attempt, pod)
    const seen = deferEnd(attempt, pod, verdict.state, now)
    const state = options.checkouts?.settle(attempt, seen, afterEnd(attempt)) ?? seen
    publish(attempt, state)
    for (const watcher of attempt.watchers) watcher()
    return state
  }

  return {
    settle,
    readSecrets,
    readOutput: async (attempt) => readRedacted(attempt, readSecrets),
    async detach(attempt) {
      attempt.isFollowed = false
      setAlarm(attempt, undefined)
      const { output } = attempt
      attempt.output = undefined
      await options.checkouts?.detach(attempt)
      await output?.follower.stop()
      await output?.tail.remove()
    },
    onChange,
  }
}
