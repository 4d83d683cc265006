// The Workloads port on a real cluster: the suite of every adapter, and what only a cluster can do to an attempt.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Collection, collections } from '../../src/cluster/api/paths.ts'
import type { KubernetesApi } from '../../src/cluster/api.ts'
import { systemClock } from '../../src/lib/system-clock.ts'
import type { AttemptKey, WorkloadRun, WorkloadState, Workloads } from '../../src/ports/tasks/workloads.ts'
import { type Job, jobs, networkPolicies, type Pod, pods } from '../../src/runtime/jobs/objects.ts'
import { createStrayJobs } from '../../src/runtime/jobs/stray-jobs.ts'
import { testIds } from '../contracts/embedded-bench.ts'
import { describeWorkloads } from '../contracts/workloads.contract.ts'
import { describeOnCluster } from '../fixtures/cluster.ts'
import { waitFor } from '../fixtures/time.ts'
import { type ClusterBench, openApi, openClusterBench, testImage } from './workloads-bench.ts'

/** A kubelet may tell of a pull that failed only with its next try. */
const pullMs = 50_000
/** The kubelet looks at disks each ten seconds at best, and at many pods far later. */
const evictionMs = 300_000

type Command = Extract<WorkloadRun, { kind: 'command' }>
type Ended = Extract<WorkloadState, { phase: 'Succeeded' | 'Failed' }>

describeOnCluster('on a cluster', () => {
  describeWorkloads('Jobs', openClusterBench)
})

describeOnCluster('an attempt on a cluster', () => {
  let bench: ClusterBench
  beforeAll(async () => {
    bench = await openClusterBench()
  })
  afterAll(() => bench.close())

  const start = async (script: string, changed: Partial<Command> = {}, on: Workloads = bench.workloads) => {
    const key = { taskUid: testIds.next('uid'), attempt: 1 }
    const command = ['/bin/sh', '-c', script]
    const run: Command = { kind: 'command', image: testImage, command, args: [], env: {}, ...changed }
    await on.ensure({ key, namespace: bench.namespace, taskName: key.taskUid, run, limits: { memoryBytes: 2 ** 27 } })
    return key
  }
  const waitForPhase = (
    key: AttemptKey,
    phase: WorkloadState['phase'],
    on: Workloads = bench.workloads,
    timeoutMs?: number,
  ) => {
    const look = async () => {
      const state = await on.observe(key)
      return state.phase === phase && state
    }
    return waitFor(look, `the attempt is ${phase}`, timeoutMs)
  }
  const waitForEnd = (key: AttemptKey, on: Workloads = bench.workloads) =>
    waitFor(async () => {
      const state = await on.observe(key)
      return (state.phase === 'Succeeded' || state.phase === 'Failed') && (state as Ended)
    }, 'the attempt has ended')
  const finish = async (key: AttemptKey) => {
    const state = await waitForEnd(key)
    await bench.workloads.remove(key)
    return state
  }
  const list = async <T = Pod>(collection: Collection): Promise<T[]> => {
    const { namespace } = bench
    return (await bench.api.request<{ items: T[] }>({ verb: 'list', collection, namespace })).items
  }
  const podOf = async (key: AttemptKey): Promise<Pod> => {
    const found = (await list(pods)).find(({ metadata }) => metadata.labels?.['svc.ai/task-uid'] === key.taskUid)
    if (found === undefined) throw new Error('there is no pod')
    return found
  }
  const drop = (collection: Collection, name: string) =>
    bench.api.request({
      verb: 'delete',
      collection,
      namespace: bench.namespace,
      name,
      body: { propagationPolicy: 'Background' },
    })

  it('fails with the image named when it cannot be pulled after several tries', async () => {
    const patient = bench.restart({ startGraceMs: pullMs })
    const key = await start('true', { image: 'registry.invalid/none:1' }, patient)
    const look = async () => {
      const state = await patient.observe(key)
      return state.phase === 'Pending' && state.message?.includes('cannot be pulled') && state
    }
    const waiting = await waitFor(look, 'the pull fails', 2 * pullMs)
    expect(waiting.message).toContain('registry.invalid/none:1')
    await patient.close()
    const state = await finish(key)
    expect(state).toMatchObject({ phase: 'Failed', reason: 'ImageUnavailable' })
  })

  it('fails at once for an invalid image name', async () => {
    const state = await finish(await start('true', { image: 'Not//An Image' }))
    expect(state).toMatchObject({ phase: 'Failed', reason: 'ImageUnavailable' })
  })

  it('names the signal that ended a command', async () => {
    const state = await finish(await start("sh -c 'kill -TERM $$'; exit $?"))
    expect(state).toMatchObject({ phase: 'Failed', reason: 'Signal', message: expect.stringContaining('SIGTERM') })
  })

  it('is lost, not failed, when somebody deletes its pod', async () => {
    const key = await start('sleep 300')
    await waitForPhase(key, 'Running')
    await drop(pods, (await podOf(key)).metadata.name)
    const state = await finish(key)
    expect(state).toMatchObject({ phase: 'Failed', reason: 'Stopped', message: expect.stringContaining('deleted') })
  })

  it('is missing when somebody deletes its Job, whose Secret is deleted with it', async () => {
    const key = await start('sleep 300', { env: { KEY: 'quite-secret-1' }, redact: ['quite-secret-1'] })
    await waitForPhase(key, 'Running')
    const [job] = await list<Job>(jobs)
    await drop(jobs, job?.metadata.name ?? '')
    await waitForPhase(key, 'Missing')
    await bench.workloads.remove(key)
    expect(await list(collections.secrets)).toEqual([])
  })

  it(
    'is reported to have filled its disk when its node ends it for that',
    async () => {
      const small = bench.restart({ scratchBytes: 1024 * 1024 })
      const key = await start('head -c 20000000 /dev/zero > /tmp/big; sleep 300', {}, small)
      const state = await waitForPhase(key, 'Failed', small, evictionMs)
      expect(state).toMatchObject({ phase: 'Failed', reason: 'DiskFull' })
      await small.remove(key)
      await small.close()
    },
    2 * evictionMs,
  )

  it('waits for a node that has what its task asks for, and says so [TASK-041]', async () => {
    const key = { taskUid: testIds.next('uid'), attempt: 1 }
    const run: Command = { kind: 'command', image: testImage, command: ['true'], args: [], env: {} }
    const limits = { cpu: 4000, memoryBytes: 2 ** 27, requests: { cpu: 4000 }, deadlineSeconds: 1 }
    await bench.workloads.ensure({ key, namespace: bench.namespace, taskName: key.taskUid, run, limits })
    const state = await waitFor(async () => {
      const seen = await bench.workloads.observe(key)
      return seen.phase === 'Pending' && seen.reason === 'Unschedulable' && seen
    }, 'it waits for a node')
    expect(state.message).toContain('Insufficient cpu')
    type Asking = { spec: { containers: { resources: { requests: object } }[] } }
    const pod = (await podOf(key)) as unknown as Asking
    const { requests } = pod.spec.containers[0]?.resources ?? {}
    await bench.workloads.remove(key)
    // No disk is asked for, or what its limit allows would be.
    expect(requests).toEqual({ cpu: '4k', memory: '33554432', 'ephemeral-storage': '0' })
  })

  it('waits for quota of its queue, runs once it is admitted, and is lost when it makes room for another', async () => {
    // As Kueue does: a Job of a queue is made suspended, admitted by a change of its spec, and suspended again.
    const suspend = (is: boolean) => ({ spec: { suspend: is } })
    const request: KubernetesApi['request'] = (asked) => {
      if (asked.verb !== 'create' || asked.collection !== jobs) return bench.api.request(asked)
      const { spec, ...body } = asked.body as { spec: object }
      return bench.api.request({ ...asked, body: { ...body, spec: { ...spec, suspend: true } } })
    }
    const queued = bench.restart({ api: { ...bench.api, request } })
    const key = { taskUid: testIds.next('uid'), attempt: 1 }
    const run: Command = { kind: 'command', image: testImage, command: ['sleep', '300'], args: [], env: {} }
    const spec = { key, namespace: bench.namespace, taskName: key.taskUid, run, limits: { memoryBytes: 2 ** 27 } }
    await queued.ensure({ ...spec, placement: { queue: 'team-a' } })
    const waiting = await waitForPhase(key, 'Pending', queued)
    expect(waiting).toMatchObject({ reason: 'WaitingForQuota', message: 'waiting for quota of queue team-a' })
    const [job] = await list<Job>(jobs)
    const patch = (is: boolean) =>
      bench.api.request({
        verb: 'patch',
        patch: 'merge',
        collection: jobs,
        namespace: bench.namespace,
        name: job?.metadata.name ?? '',
        body: suspend(is),
      })
    await patch(false)
    await waitForPhase(key, 'Running', queued)
    await patch(true)
    expect(await waitForPhase(key, 'Failed', queued)).toMatchObject({ reason: 'Stopped' })
    await queued.remove(key)
    await queued.close()
  })

  it('waits while its namespace has no quota for its pod, and says so', async () => {
    const quotas: Collection = { group: '', version: 'v1', plural: 'resourcequotas' }
    const body = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'none' }, spec: { hard: { pods: '0' } } }
    await bench.api.request({ verb: 'create', collection: quotas, namespace: bench.namespace, body })
    await waitFor(async () => {
      const [quota] = await list<{ status?: { hard?: object } }>(quotas)
      return quota?.status?.hard !== undefined
    }, 'the quota counts')
    const key = await start('true')
    const state = await waitFor(async () => {
      const seen = await bench.workloads.observe(key)
      return seen.phase === 'Pending' && seen.reason !== undefined && seen
    }, 'it is held up')
    expect(state).toMatchObject({ reason: 'NoPod', message: expect.stringContaining('quota') })
    await bench.workloads.remove(key)
    await drop(quotas, 'none')
  })

  it('keeps secret variables out of the pod, its log and its output, and other variables unchanged', async () => {
    const secret = 's3cret-$(A)-value'
    const env = { SECRET: secret, A: 'x', PLAIN: '$(A) $$ $A' }
    const key = await start('echo "secret $SECRET"; echo "plain $PLAIN"; echo $SECRET | wc -c', {
      env,
      redact: [secret],
    })
    const state = await waitForEnd(key)
    expect(state.output?.text).toBe(
      `secret [redacted]\nplain $(A) $$ $A\n${secret.length + 1}\n`.replace('[redacted]', readMark(state)),
    )
    expect(JSON.stringify(await podOf(key))).not.toContain(secret)
    expect(JSON.stringify(bench.logs.get(key.taskUid))).not.toContain(secret)
    await bench.workloads.remove(key)
    expect(await list(collections.secrets)).toEqual([])
  })
  const readMark = ({ output }: Ended) => /^secret (.*)$/m.exec(output?.text ?? '')?.[1] ?? ''

  it('runs without privilege and without a service account', async () => {
    const looks = 'id -u; touch /x 2>&1 | head -c 5; grep CapEff /proc/self/status; ls /var/run/secrets 2>&1'
    const key = await start(looks)
    const { output } = await waitForEnd(key)
    expect(output?.text).toMatch(/^1000\ntouch/)
    expect(output?.text).toContain('CapEff:\t0000000000000000')
    expect(output?.text).toContain('No such file')
    await bench.workloads.remove(key)
  })

  type Policy = {
    metadata: { name: string }
    spec: {
      podSelector: { matchLabels: Record<string, string> }
      ingress?: object[]
      egress?: { to: { ipBlock: { except?: string[] } }[] }[]
    }
  }
  const listPolicies = () => list<Policy>(networkPolicies)

  it('is covered by a network policy: nobody may call it, and it may not call metadata addresses', async () => {
    const key = await start('sleep 300')
    await waitForPhase(key, 'Running')
    const policy = (await listPolicies()).find(({ metadata: { name } }) => name.endsWith('-workers'))
    expect((await podOf(key)).metadata.labels).toMatchObject(policy?.spec.podSelector.matchLabels ?? { none: '' })
    expect(policy?.spec.egress?.[0]?.to[0]?.ipBlock.except).toContain('169.254.0.0/16')
    expect(policy?.spec).not.toHaveProperty('ingress')
    await bench.workloads.remove(key)
  })

  it('without network is covered by a policy that lets nothing in or out, and holds nothing that is worth sending', async () => {
    const key = await start('env; ls /var/run/secrets; sleep 300', { network: 'none' })
    await waitForPhase(key, 'Running')
    const { metadata, spec } = await podOf(key)
    const policy = (await listPolicies()).find(({ metadata: { name } }) => name.endsWith('-sealed'))
    expect(policy?.spec).toMatchObject({
      podSelector: { matchLabels: { 'svc.ai/component': 'sealed' } },
      policyTypes: ['Ingress', 'Egress'],
    })
    expect([policy?.spec.ingress ?? [], policy?.spec.egress ?? []]).toEqual([[], []])
    expect(metadata.labels).toMatchObject(policy?.spec.podSelector.matchLabels ?? { none: '' })
    expect(spec).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false })
    const said = () => (bench.logs.get(key.taskUid) ?? []).join('\n')
    await waitFor(() => said().includes('/var/run/secrets'), 'the folder of secrets to be looked for')
    expect(said()).toContain('No such file')
    expect(said()).not.toMatch(/TOKEN|SECRET/)
    await bench.workloads.remove(key)
  })

  it('continues over a restart of the service, with each line of its log stored once', async () => {
    const first = bench.restart()
    const script = 'n=0; while [ $n -lt 60 ]; do n=$((n + 1)); echo "line $n"; sleep 0.05; done'
    const key = await start(script, {}, first)
    await waitFor(() => (bench.logs.get(key.taskUid)?.length ?? 0) > 10, 'some lines came')
    await first.close()
    const soFar = bench.logs.get(key.taskUid)?.length ?? 0
    const state = await waitForEnd(key)
    const lines = Array.from({ length: 60 }, (_, index) => `line ${index + 1}`)
    expect(soFar).toBeLessThan(60)
    expect(bench.logs.get(key.taskUid)).toEqual(lines)
    expect(state).toMatchObject({ phase: 'Succeeded', output: { text: `${lines.join('\n')}\n`, truncated: false } })
    await bench.workloads.remove(key)
  })

  it('is started once when two replicas try at the same time', async () => {
    const [one, two] = [bench.restart(), bench.restart()]
    const key = { taskUid: testIds.next('uid'), attempt: 1 }
    const run: Command = { kind: 'command', image: testImage, command: ['echo', 'once'], args: [], env: {} }
    const spec = { key, namespace: bench.namespace, taskName: 'twice', run, limits: {} }
    await Promise.all([one.ensure(spec), two.ensure(spec)])
    const made = (await list<Job>(jobs)).filter(({ metadata }) => metadata.name.startsWith('twice-job-'))
    expect(made.length).toBe(1)
    await two.detach()
    expect(await waitForEnd(key, one)).toMatchObject({ phase: 'Succeeded', output: { text: 'once\n' } })
    await one.remove(key)
    await Promise.all([one.close(), two.close()])
  })

  it('costs a handful of requests over its whole life', async () => {
    const count = (api: KubernetesApi) => api.countRequests().reduce((sum, { count: sent }) => sum + sent, 0)
    const api = await openApi()
    const own = bench.restart({ api })
    await own.remove(await start('echo warm', {}, own))
    const before = count(api)
    const key = await start('echo counted; sleep 1', {}, own)
    await waitForEnd(key, own)
    await own.remove(key)
    expect(count(api) - before).toBeLessThanOrEqual(6)
    await own.close()
    await api.close()
  })

  it('leaves no objects behind', async () => {
    await waitFor(async () => {
      const left = await Promise.all([list(jobs), list(pods), list(collections.secrets)])
      return left.every((objects) => objects.length === 0)
    }, 'all is gone')
  })

  it('that has no objects left leaves nothing to sweep', async () => {
    const { api, namespace } = bench
    const stray = createStrayJobs({
      api,
      isLive: async () => false,
      clock: systemClock,
      instance: namespace,
      namespaces: [namespace],
    })
    expect(await stray.sweep(new AbortController().signal)).toBe(0)
  })
})
