import { describe, expect, it } from 'vitest'
import type { WorkloadRun, WorkloadSpec } from '../../ports/tasks/workloads.ts'
import { makeJob, makeSecret } from './manifests.ts'
import { makeGatePolicy, makeWorkerPolicy } from './network-policies.ts'

const options = {
  instance: 'svc',
  worker: { image: 'svc:1', command: ['node', 'worker.js'], serviceAccount: 'svc-worker' },
  graceSeconds: 10,
  scratchBytes: 1000,
  ownerOf: () => undefined,
  imagePullSecrets: [],
  priorityClasses: [],
  helperLimits: { cpu: 0.5, memoryBytes: 256, requests: { cpu: 0.005, memoryBytes: 32 } },
}

function make(run: Partial<Extract<WorkloadRun, { kind: 'command' }>>) {
  const spec = {
    key: { taskUid: 'uid-1', attempt: 1 },
    namespace: 'default',
    taskName: 'build',
    run: { kind: 'command' as const, image: 'busybox', command: ['true'], args: [], env: {}, ...run },
    limits: {},
    labels: { 'svc.ai/transaction-id': 'txn-1', 'svc.ai/task-uid': 'forged' },
    annotations: { 'svc.ai/transaction-subject': 'ada' },
  }
  return { job: makeJob(spec, options), secret: makeSecret(spec, options) }
}

describe('the pod of a worker', () => {
  const spec = {
    key: { taskUid: 'uid-1', attempt: 1 },
    namespace: 'default',
    taskName: 'write',
    run: { kind: 'worker' as const, assignment: {} as never },
    limits: {},
  }

  it('trusts the authorities that the service is told to trust, and names none where there are none', () => {
    const authorities = 'made up for this test'
    const trusting = { ...options, worker: { ...options.worker, authorities } }
    expect(makeSecret(spec, trusting)).toMatchObject({
      data: { 'authorities.pem': Buffer.from(authorities).toString('base64') },
    })
    const job = JSON.stringify(makeJob(spec, trusting))
    expect(job).toContain('{"name":"NODE_EXTRA_CA_CERTS","value":"/run/svc/assignment/authorities.pem"}')
    expect(job).toContain('{"key":"authorities.pem","path":"authorities.pem"}')
    const plain = JSON.stringify([makeSecret(spec, options), makeJob(spec, options)])
    expect(plain).not.toMatch(/authorities|EXTRA_CA/)
  })

  it('has the agent program in a container of its own, without token and assignment and with the limits of the task', () => {
    const run = { kind: 'worker' as const, assignment: {} as never, agentImage: 'claude:1' }
    const checkout = { spec: { url: 'https://made-up:8443/tool.git', subPath: 'api' }, message: 'm' }
    const job = makeJob({ ...spec, run, checkout, limits: { memoryBytes: 3 * 1024 ** 3 } }, options)
    type Container = { name: string; image: string; volumeMounts: { name: string }[]; resources: object }
    type PodSpec = { containers: Container[]; initContainers: Container[] }
    const { containers, initContainers } = (job as { spec: { template: { spec: PodSpec } } }).spec.template.spec
    const mountsOf = ({ name, image, volumeMounts }: Container) => [
      name,
      image,
      volumeMounts.map((mount) => mount.name),
    ]
    expect(containers.map(mountsOf)).toEqual([
      ['worker', 'claude:1', ['tmp', 'workspace', 'assignment', 'token', 'agent']],
      ['agent', 'claude:1', ['agent-tmp', 'workspace', 'agent']],
      ['keeper', 'svc:1', ['workspace']],
    ])
    expect(initContainers.map(mountsOf)).toEqual([['checkout', 'svc:1', ['workspace', 'checkout']]])
    expect(containers[1]).toMatchObject({ resources: { limits: { memory: String(3 * 1024 ** 3) } } })
    expect(JSON.stringify(job)).not.toContain('made-up')
  })
})

describe('the pod of an attempt whose network is the gate', () => {
  const egress = [{ to: [{ ipBlock: { cidr: '10.0.0.7/32' } }], ports: [{ protocol: 'TCP', port: 8082 }] }]
  const reach = { hostAliases: [{ ip: '10.0.0.7', hostnames: ['svc.svc-system.svc'] }], egress }
  const owner = { namespace: 'default', instance: 'svc' }
  const spec = {
    key: { taskUid: 'uid-1', attempt: 1 },
    namespace: 'default',
    taskName: 'write',
    run: { kind: 'worker' as const, assignment: {} as never },
    limits: {},
    labels: { 'svc.ai/network': 'open' },
  }
  type Template = { metadata: { labels: Record<string, string> }; spec: object }
  const templateOf = (job: object) => (job as { spec: { template: Template } }).spec.template
  type Selector = { matchLabels: Record<string, string>; matchExpressions?: object[] }
  type Expression = { key: string; operator: string; values: string[] }
  const selects = ({ matchLabels, matchExpressions = [] }: Selector, labels: Record<string, string>) =>
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    (matchExpressions as Expression[]).every(
      ({ key, operator, values }) => values.includes(labels[key] ?? '') === (operator === 'In'),
    )

  it('knows no names but those of the service, whatever the labels of its task say', () => {
    const { metadata, spec: pod } = templateOf(makeJob(spec, { ...options, reach }))
    expect(metadata.labels).toMatchObject({ 'svc.ai/network': 'gate' })
    const { hostAliases } = reach
    expect(pod).toMatchObject({ dnsPolicy: 'None', dnsConfig: { nameservers: ['127.0.0.1'] }, hostAliases })
    const open = templateOf(makeJob({ ...spec, labels: {} }, options))
    expect(JSON.stringify(open)).not.toMatch(/hostAliases|dnsPolicy|svc.ai\/network/)
    const guarded = { host: 'svc.svc-system.svc', port: 8082 }
    const guardedPod = templateOf(makeJob(spec, { ...options, reach, guarded })).spec
    expect(guardedPod).toMatchObject({ initContainers: [{ name: 'network', image: 'svc:1' }] })
  })

  it('is selected by its own policy and by none that opens the network', () => {
    const { labels } = templateOf(makeJob(spec, { ...options, reach })).metadata
    const open = templateOf(makeJob({ ...spec, labels: {} }, options)).metadata.labels
    const gate = makeGatePolicy(owner, reach).spec
    expect(gate).toMatchObject({ policyTypes: ['Ingress', 'Egress'], ingress: [], egress })
    const workers = makeWorkerPolicy(owner).spec
    expect([selects(gate.podSelector, labels), selects(workers.podSelector, labels)]).toEqual([true, false])
    expect([selects(gate.podSelector, open), selects(workers.podSelector, open)]).toEqual([false, true])
  })
})

describe('the pod of a command of a transaction', () => {
  it('has its token as a file from the Secret of the attempt, and nowhere else', () => {
    const { job, secret } = make({ transactionToken: 'opaque-1', redact: ['opaque-1'] })
    const value = Buffer.from('opaque-1').toString('base64')
    expect(secret).toMatchObject({ data: { 'transaction-token': value } })
    const text = JSON.stringify(job)
    expect(text).not.toContain('opaque-1')
    expect(text).not.toContain(value)
    const path = '/run/svc/transaction/token'
    const { name } = (secret as { metadata: { name: string } }).metadata
    expect(job).toMatchObject({
      spec: {
        template: {
          spec: {
            containers: [
              {
                env: expect.arrayContaining([
                  { name: 'SVC_TRANSACTION_TOKEN_FILE', value: path },
                  { name: 'SVC_CONTEXT_TOKEN_SUBJECT_TOKEN_FILE', value: path },
                ]),
                volumeMounts: expect.arrayContaining([
                  { name: 'transaction', mountPath: '/run/svc/transaction', readOnly: true },
                ]),
              },
            ],
            volumes: expect.arrayContaining([
              {
                name: 'transaction',
                secret: {
                  secretName: name,
                  defaultMode: 0o440,
                  items: [{ key: 'transaction-token', path: 'token' }],
                },
              },
            ]),
          },
        },
      },
    })
  })

  it('has no token file where there is no token', () => {
    const { job, secret } = make({})
    expect(secret).toBeUndefined()
    expect(JSON.stringify(job)).not.toContain('/run/svc/transaction')
  })

  it('has the labels and annotations of its task, as does its Job, but none that replaces one of the service', () => {
    const { metadata, spec } = make({}).job as {
      metadata: Record<string, Record<string, string>>
      spec: { template: { metadata: Record<string, Record<string, string>> } }
    }
    for (const { labels, annotations } of [metadata, spec.template.metadata]) {
      expect(labels?.['svc.ai/transaction-id']).toBe('txn-1')
      expect(Object.values(labels ?? {})).not.toContain('forged')
      expect(annotations?.['svc.ai/transaction-subject']).toBe('ada')
    }
  })
})

describe('the pod of a task', () => {
  const base = {
    key: { taskUid: 'uid-1', attempt: 1 },
    namespace: 'default',
    taskName: 'build',
    run: { kind: 'command' as const, image: 'busybox', command: ['true'], args: [], env: {}, redact: ['value-1'] },
    limits: {},
  }
  const podOf = (spec: Partial<WorkloadSpec>, more: object = {}) =>
    (makeJob({ ...base, ...spec }, { ...options, ...more }) as { spec: { template: { spec: object } } }).spec.template
      .spec

  it('is scheduled as the task says, pulls with the configured secrets, and has the class of its priority', () => {
    const placement = { runtimeClassName: 'gvisor', nodeSelector: { disk: 'fast' }, tolerations: [{ key: 'gpu' }] }
    const priorityClasses = ['low=0', 'urgent=800', 'usual=400'].map((text) => {
      const [name = '', atLeast] = text.split('=')
      return { name, atLeast: Number(atLeast) }
    })
    const settings = { imagePullSecrets: ['registry'], priorityClasses }
    expect(podOf({ placement, priority: 799 }, settings)).toMatchObject({
      ...placement,
      imagePullSecrets: [{ name: 'registry' }],
      priorityClassName: 'usual',
    })
    expect(podOf({ priority: 800 }, settings)).toMatchObject({ priorityClassName: 'urgent' })
    expect(Object.keys(podOf({ priority: 800 }))).not.toEqual(
      expect.arrayContaining(['priorityClassName', 'imagePullSecrets']),
    )
  })

  it('waits in the queue of the task, which the label of its Job names', () => {
    const job = makeJob({ ...base, placement: { queue: 'team-a' } }, options) as {
      metadata: { labels: object }
      spec: { template: { metadata: { labels: object }; spec: object } }
    }
    expect(job.metadata.labels).toMatchObject({ 'kueue.x-k8s.io/queue-name': 'team-a' })
    expect(Object.keys(job.spec.template.metadata.labels)).not.toContain('kueue.x-k8s.io/queue-name')
    expect(Object.keys(job.spec.template.spec)).not.toContain('queue')
  })

  it('mounts a secret of its own namespace directly, and a copy of one from another namespace', () => {
    const entries = { token: 'value-1' }
    const own = { namespace: 'default', name: 'keys', folder: '/secrets/task', entries }
    const foreign = { namespace: 'far', name: 'keys', folder: '/secrets/agent', entries }
    const spec = { ...base, secrets: [own, foreign] }
    const secret = makeSecret(spec, options) as { metadata: { name: string }; data: Record<string, string> }
    expect(secret.data).toMatchObject({ 'agent-token': Buffer.from('value-1').toString('base64') })
    expect(secret.data).not.toHaveProperty('task-token')
    const copy = {
      secretName: secret.metadata.name,
      defaultMode: 0o440,
      items: [{ key: 'agent-token', path: 'token' }],
    }
    expect(podOf(spec)).toMatchObject({
      volumes: expect.arrayContaining([
        { name: 'secret-task', secret: { secretName: 'keys', defaultMode: 0o440 } },
        { name: 'secret-agent', secret: copy },
      ]),
      containers: [
        {
          volumeMounts: expect.arrayContaining([
            { name: 'secret-task', mountPath: '/secrets/task', readOnly: true },
            { name: 'secret-agent', mountPath: '/secrets/agent', readOnly: true },
          ]),
        },
      ],
    })
  })

  it('asks for the other resources that its task names', () => {
    const extended = { requests: {}, limits: { 'nvidia.com/gpu': '1' } }
    expect(podOf({ limits: { cpu: 1, extended } })).toMatchObject({
      containers: [{ resources: { limits: { cpu: '1000m', 'nvidia.com/gpu': '1' } } }],
    })
  })
})

describe('the pod of a command that leaves artifacts', () => {
  it('has the folder mounted twice: the command writes it, and a container of the service reads it', () => {
    const { job } = make({ artifactsDir: '/workspace/out' })
    const { containers, volumes } = (job as { spec: { template: { spec: Record<string, object[]> } } }).spec.template
      .spec
    expect(containers).toMatchObject([
      { name: 'worker', volumeMounts: expect.arrayContaining([{ name: 'artifacts', mountPath: '/workspace/out' }]) },
      { name: 'keeper', image: 'svc:1', volumeMounts: [{ name: 'artifacts', readOnly: true }] },
    ])
    expect(volumes).toContainEqual({ name: 'artifacts', emptyDir: { sizeLimit: String(2 * 1024 ** 3) } })
  })

  it('has one container only when the command leaves no artifacts', () => {
    expect(make({}).job).toMatchObject({ spec: { template: { spec: { containers: [{ name: 'worker' }] } } } })
  })
})

describe('the pod of a command', () => {
  type PodSpec = Record<'containers' | 'initContainers' | 'volumes', Record<string, unknown>[] | undefined>
  const podOf = (run: Parameters<typeof make>[0]) =>
    (make(run).job as { spec: { template: { spec: PodSpec } } }).spec.template.spec

  it('has a sidecar that takes both streams of the command, with limits and without privilege', () => {
    const { containers, initContainers, volumes } = podOf({ command: ['build', '$(A)'] })
    expect(initContainers).toMatchObject([
      {
        name: 'streams',
        image: 'svc:1',
        restartPolicy: 'Always',
        resources: { limits: { cpu: '500m', memory: '256', 'ephemeral-storage': String(256 * 1024 ** 2) } },
        securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
      },
    ])
    const command = containers?.[0]?.command as string[]
    expect(command.slice(-3)).toEqual(['svc', 'build', '$$(A)'])
    // What the kubelet makes of it is the text of the program.
    const sidecar = initContainers?.[0]?.command as string[]
    expect(sidecar.at(-1)?.replaceAll('$$', '$')).toContain("tagStreams('/run/svc/streams')")
    expect(containers?.[0]?.volumeMounts).toContainEqual({
      name: 'streams',
      mountPath: '/run/svc/streams',
      readOnly: true,
    })
    expect(volumes).toContainEqual({
      name: 'streams',
      emptyDir: { medium: 'Memory', sizeLimit: String(16 * 1024 ** 2) },
    })
  })

  it('runs the entry point of its image where the task has no command', () => {
    const pod = podOf({ command: [], args: ['x'] })
    expect(pod).not.toHaveProperty('initContainers')
    expect(pod.containers?.[0]).not.toHaveProperty('command')
  })
})
