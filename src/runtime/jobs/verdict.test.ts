import { describe, expect, it } from 'vitest'
import type { ContainerState, Job, ObjectCondition, ObjectMetadata, Pod } from './objects.ts'
import { podLabels, queueLabel } from './objects.ts'
import { hasLogEnded, judge, type VerdictSettings } from './verdict.ts'

const now = new Date('2026-03-01T12:10:00Z')
const settings: VerdictSettings = { now, startGraceMs: 60_000, nodeGraceMs: 30_000 }
const metadata: ObjectMetadata = {
  name: 'a-job-1-1',
  namespace: 'default',
  uid: 'u',
  resourceVersion: '1',
  creationTimestamp: '2026-03-01T12:00:00Z',
  labels: { [podLabels.component]: 'command' },
}

type Status = NonNullable<Pod['status']>
const podWith = (state: ContainerState, status: Status = {}, more: Partial<ObjectMetadata> = {}): Pod => ({
  metadata: { ...metadata, ...more },
  spec: { nodeName: 'node-7' },
  status: { startTime: '2026-03-01T12:09:30Z', containerStatuses: [{ name: 'worker', state }], ...status },
})
const look = (pod: Pod | undefined, job?: Job, changed: Partial<VerdictSettings> = {}) =>
  judge({ job, pod }, { ...settings, ...changed })
const ended = (exitCode: number, more: object = {}): ContainerState => ({
  terminated: { exitCode, startedAt: '2026-03-01T12:09:31Z', finishedAt: '2026-03-01T12:09:40Z', ...more },
})
const running: ContainerState = { running: { startedAt: '2026-03-01T12:09:31Z' } }
const condition = (type: string, more: Partial<ObjectCondition>): ObjectCondition => ({ type, status: 'True', ...more })
const failedJob: Job = { metadata, status: { conditions: [condition('Failed', { reason: 'BackoffLimitExceeded' })] } }

describe('the state of an attempt on a cluster', () => {
  it('is Pending for as long as no node can take its pod, with the scheduler’s message [TASK-041]', () => {
    const message = '0/3 nodes are available: 3 Insufficient memory.'
    const unscheduled = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }
    const pod = podWith(
      {},
      { phase: 'Pending', conditions: [unscheduled] },
      { creationTimestamp: '2026-02-01T00:00:00Z' },
    )
    const verdict = look(pod, { metadata })
    expect(verdict).toEqual({
      state: { phase: 'Pending', reason: 'Unschedulable', message: `waiting for a place on a node: ${message}` },
    })
  })

  describe('whose Job is suspended', () => {
    const labels = { [queueLabel]: 'team-a' }
    const suspended = (generation: number): Job => ({
      metadata: { ...metadata, labels, generation },
      spec: { suspend: true },
    })

    it('is Pending until its queue has quota, however long that takes', () => {
      const verdict = look(undefined, suspended(1), { now: new Date('2026-04-01T00:00:00Z') })
      const message = 'waiting for quota of queue team-a'
      expect(verdict).toEqual({ state: { phase: 'Pending', reason: 'WaitingForQuota', message } })
    })

    it('waits on when it is held again before it had a pod', () => {
      const { state } = look(undefined, suspended(3), { isUnbegun: true })
      expect(state).toMatchObject({ phase: 'Pending', reason: 'WaitingForQuota' })
    })

    it('is lost when it had been admitted and makes room for another', () => {
      expect(look(undefined, suspended(3)).state).toMatchObject({
        phase: 'Failed',
        reason: 'Stopped',
        message: 'the attempt was lost: queue team-a suspended it to make room',
      })
    })
  })

  it('is Pending while a failing image pull is retried, then Failed with the cause', () => {
    const waiting = { waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image "x"' } }
    const early = look(podWith(waiting))
    expect(early.state).toMatchObject({
      phase: 'Pending',
      message: expect.stringContaining('Back-off pulling image "x"'),
    })
    expect(early.lookAgainAt).toBe(Date.parse('2026-03-01T12:10:30Z'))
    const late = look(podWith(waiting), undefined, { now: new Date('2026-03-01T12:10:30Z') })
    expect(late.state).toMatchObject({ phase: 'Failed', reason: 'ImageUnavailable' })
  })

  it.each(['InvalidImageName', 'ErrImageNeverPull'])('is Failed at once for %s', (reason) => {
    expect(look(podWith({ waiting: { reason } })).state).toMatchObject({ phase: 'Failed', reason: 'ImageUnavailable' })
  })

  it('is Failed when the container cannot be created for a long time', () => {
    const waiting = { waiting: { reason: 'CreateContainerConfigError', message: 'secret "s" not found' } }
    const { state } = look(podWith(waiting, { startTime: '2026-03-01T12:00:00Z' }))
    expect(state).toMatchObject({
      phase: 'Failed',
      reason: 'StartFailed',
      message: expect.stringContaining('secret "s"'),
    })
  })

  it('is OutOfMemory by the reason that the kubelet gives, and by the kill signal alone', () => {
    const memoryBytes = 64 * 1024 ** 2
    for (const state of [ended(137, { reason: 'OOMKilled' }), ended(137, { reason: 'Error' })]) {
      expect(look(podWith(state, { phase: 'Failed' }), undefined, { memoryBytes }).state).toMatchObject({
        phase: 'Failed',
        reason: 'OutOfMemory',
        exitCode: 137,
        message: expect.stringContaining('64 MiB'),
      })
    }
  })

  it('is lost, not failed, when its node evicts it for lack of memory', () => {
    const status = { phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory.' }
    const { state } = look(podWith(ended(137), status))
    expect(state).toMatchObject({
      phase: 'Failed',
      reason: 'Stopped',
      message: expect.stringContaining('low on resource'),
    })
  })

  it('is Failed when it was evicted for filling its disk', () => {
    const message = 'Usage of EmptyDir volume "tmp" exceeds the limit "1Mi".'
    const { state } = look(podWith({}, { phase: 'Failed', reason: 'Evicted', message }))
    expect(state).toMatchObject({ phase: 'Failed', reason: 'DiskFull' })
  })

  it.each([
    ['PreemptionByScheduler', 'higher priority'],
    ['DeletionByTaintManager', 'node was lost'],
    ['DeletionByPodGC', 'node is gone'],
    ['EvictionByEvictionAPI', 'evicted'],
  ])('is lost, not failed, when %s disrupts its pod', (reason, words) => {
    const conditions = [condition('DisruptionTarget', { reason })]
    const { state } = look(podWith(ended(143), { phase: 'Failed', conditions }))
    expect(state).toMatchObject({ phase: 'Failed', reason: 'Stopped', message: expect.stringContaining(words) })
  })

  it('has succeeded when the pod ended by itself before the disruption', () => {
    const conditions = [condition('DisruptionTarget', { reason: 'EvictionByEvictionAPI' })]
    expect(look(podWith(ended(0), { phase: 'Succeeded', conditions })).state.phase).toBe('Succeeded')
  })

  it('is lost when its node has not confirmed the end of its pod for a long time', () => {
    const leaving = { deletionTimestamp: '2026-03-01T12:09:45Z' }
    const early = look(podWith(running, { phase: 'Running' }, leaving), failedJob)
    expect(early).toMatchObject({ state: { phase: 'Running' }, lookAgainAt: Date.parse('2026-03-01T12:10:15Z') })
    const late = look(podWith(running, { phase: 'Running' }, leaving), failedJob, {
      now: new Date('2026-03-01T12:10:15Z'),
    })
    expect(late.state).toMatchObject({ phase: 'Failed', reason: 'Stopped', message: expect.stringContaining('node-7') })
  })

  it('is DeadlineExceeded when the pod reached its deadline', () => {
    const status = { phase: 'Failed', reason: 'DeadlineExceeded', message: 'Pod was active on the node longer than 5s' }
    expect(look(podWith(ended(143), status)).state).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' })
  })

  it('has the container engine’s message when the container could not be started', () => {
    const message = 'exec: "/no/such": stat /no/such: no such file or directory'
    const { state } = look(podWith(ended(128, { reason: 'StartError', message }), { phase: 'Failed' }))
    expect(state).toMatchObject({ phase: 'Failed', reason: 'StartFailed', message: expect.stringContaining(message) })
  })

  it('is Missing without Job and pod, Pending without a pod, and lost when the pod of a failed Job is gone', () => {
    expect(look(undefined).state).toEqual({ phase: 'Missing' })
    expect(look(undefined, { metadata }).state).toMatchObject({ phase: 'Pending' })
    expect(look(undefined, failedJob).state).toMatchObject({ phase: 'Failed', reason: 'Stopped' })
  })

  it('is Pending with the events that say why when its Job gets no pod for a while [TASK-041]', () => {
    const begun = Date.parse(metadata.creationTimestamp)
    const at = (seconds: number) => look(undefined, { metadata }, { now: new Date(begun + seconds * 1000) })
    expect(at(9).state).not.toHaveProperty('reason')
    expect(at(9).lookAgainAt).toBe(begun + 10_000)
    expect(at(10).state).toMatchObject({ phase: 'Pending', reason: 'NoPod', message: expect.stringContaining('quota') })
  })

  it('has time for its pod from when its queue lets it go', () => {
    const letGo: Job = { metadata, spec: { suspend: false }, status: { conditions: [condition('Suspended', {})] } }
    expect(look(undefined, letGo)).toMatchObject({
      state: { message: 'waiting for its pod to be made' },
      lookAgainAt: now.getTime() + 10_000,
    })
    const startTime = '2026-03-01T12:09:55Z'
    const begun = (later: number) =>
      look(undefined, { metadata, status: { startTime } }, { now: new Date(Date.parse(startTime) + later) })
    expect(begun(9_000).state).not.toHaveProperty('reason')
    expect(begun(10_000).state).toMatchObject({ reason: 'NoPod' })
  })
})

describe('a command whose streams are kept apart', () => {
  const sidecar = (state: ContainerState): Status => ({ initContainerStatuses: [{ name: 'streams', state }] })
  const initializing: ContainerState = { waiting: { reason: 'PodInitializing' } }

  it('is Pending until its sidecar runs, and says why the sidecar does not start', () => {
    expect(look(podWith(initializing, sidecar(running))).state).toMatchObject({ phase: 'Pending' })
    const backOff = sidecar({ waiting: { reason: 'CrashLoopBackOff', message: 'back-off restarting streams' } })
    expect(look(podWith(initializing, backOff)).state).toMatchObject({ phase: 'Pending', reason: 'StartFailed' })
    const late = look(podWith(initializing, backOff), undefined, { now: new Date('2026-03-01T12:20:00Z') })
    expect(late.state).toMatchObject({ phase: 'Failed', reason: 'StartFailed' })
  })

  it('is StartFailed when the guard of its network did not let it begin', () => {
    const message = 'no network policy is enforced'
    const initContainerStatuses = [{ name: 'network', state: ended(3, { message }) }]
    const pod = podWith({ waiting: { reason: 'PodInitializing' } }, { phase: 'Failed', initContainerStatuses })
    expect(look(pod).state).toMatchObject({
      phase: 'Failed',
      reason: 'StartFailed',
      message: `The pod was not let begin: ${message}`,
    })
  })

  it('is StartFailed when the shell reports it, whatever its exit code is', () => {
    const errorTail = 'svc: line 3: exec: nowhere: not found'
    const pod = podWith(ended(127, { message: 'svc: not started\n' }))
    expect(look(pod, undefined, { errorTail }).state).toMatchObject({
      phase: 'Failed',
      reason: 'StartFailed',
      exitCode: 127,
      message: 'The container could not be started: nowhere: not found',
    })
    expect(look(podWith(ended(127)), undefined, { errorTail: 'own words' }).state).toMatchObject({
      reason: 'ExitCode',
      message: 'The container ended with exit code 127: own words',
    })
  })

  it('has an unfinished log until its sidecar has ended as well', () => {
    expect(hasLogEnded(podWith(ended(0), sidecar(running)))).toBe(false)
    expect(hasLogEnded(podWith(ended(0), sidecar(ended(0))))).toBe(true)
    expect(hasLogEnded(podWith(running, sidecar(ended(1))))).toBe(false)
    expect(hasLogEnded(podWith(ended(0)))).toBe(true)
  })
})

describe('the end of a worker pod', () => {
  const worker = { labels: { [podLabels.component]: 'worker' } }
  const judgeWorker = (exitCode: number, message: string) =>
    look(podWith(ended(exitCode, { message }), { phase: exitCode === 0 ? 'Succeeded' : 'Failed' }, worker)).state

  it('is described by its termination message', () => {
    expect(judgeWorker(0, '{"ok":true}').phase).toBe('Succeeded')
    const outcome = { ok: false, reason: 'MissingApiKey', message: 'There is no key.' }
    expect(judgeWorker(1, JSON.stringify(outcome))).toMatchObject({
      phase: 'Failed',
      reason: 'ExitCode',
      cause: 'MissingApiKey',
      message: 'There is no key.',
    })
  })

  it('quotes the last lines of a worker that crashed', () => {
    const state = judgeWorker(2, 'at x\nTypeError: no such thing')
    expect(state).toMatchObject({ reason: 'ExitCode', message: expect.stringContaining('no such thing') })
  })
})
