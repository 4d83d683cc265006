import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments, stringify } from 'yaml'
import { findHelm, findStale, renderChart } from '../../scripts/chart.ts'
import { type Setting, settings } from '../../src/config/settings.ts'

// biome-ignore lint/suspicious/noExplicitAny: objects of Kubernetes, whose shape the tests themselves state.
type Manifest = Record<string, any>

/** What the chart makes of these values; throws what helm says against them. */
function render(values: object): Manifest[] {
  const folder = mkdtempSync(join(tmpdir(), 'svc-chart-'))
  try {
    const file = join(folder, 'values.yaml')
    // Helm reads YAML 1.1, where a bare `off` is false.
    writeFileSync(file, stringify(values, { version: '1.1' }))
    return parseAllDocuments(renderChart(findHelm() ?? '', ['--values', file])).map((document) => document.toJS())
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const find = (manifests: Manifest[], kind: string, name = 'svc') =>
  manifests.find((manifest) => manifest?.kind === kind && manifest.metadata.name === name)

describe('the chart', () => {
  it('has the definitions that the contract prints', () => {
    expect(findStale(undefined)).toEqual([])
  })

  it('has the same definitions in deploy/svc.yaml, with or without helm on the machine', () => {
    const read = (path: string) => parseAllDocuments(readFileSync(path, 'utf8')).map((document) => document.toJS())
    const stripped = ({ metadata: { annotations: _, ...metadata }, ...rest }: Manifest) => ({ ...rest, metadata })
    const printed = read('deploy/svc.yaml').filter((each) => each?.kind === 'CustomResourceDefinition')
    const contracts = readdirSync('deploy/crds').flatMap((name) => read(join('deploy/crds', name)))
    const byName = (manifests: Manifest[]) => Object.fromEntries(manifests.map((each) => [each.metadata.name, each]))
    expect(byName(printed.map(stripped))).toEqual(byName(contracts))
  })

  it('says the same in YAML 1.1, which Helm and kubectl read: there a bare off is false', () => {
    const files = ['deploy/svc.yaml', ...readdirSync('deploy/crds').map((name) => join('deploy/crds', name))]
    const readAs = (path: string, version: '1.1' | '1.2') =>
      parseAllDocuments(readFileSync(path, 'utf8'), { version }).map((document) => document.toJS())
    for (const path of files) expect(readAs(path, '1.1'), path).toEqual(readAs(path, '1.2'))
  })

  it.skipIf(findHelm() === undefined)('is what deploy/svc.yaml was printed from', () => {
    expect(findStale(findHelm())).toEqual([])
  })
})

describe.skipIf(findHelm() === undefined)('the values of the chart', () => {
  it('put environment, volumes and a private authority into the pods', () => {
    const extraEnv = [{ name: 'SVC_SEARCH_API_KEY', valueFrom: { secretKeyRef: { name: 'search', key: 'key' } } }]
    const extraVolumes = [{ name: 'more', emptyDir: {} }]
    const extraVolumeMounts = [{ name: 'more', mountPath: '/more' }]
    const privateCA = { configMap: 'company-ca', key: 'root.pem' }
    const manifests = render({ extraEnv, extraVolumes, extraVolumeMounts, privateCA })
    expect(parse(find(manifests, 'ConfigMap')?.data['svc.yaml']).workerAuthorities).toBe('/etc/svc-ca/root.pem')
    const pod = find(manifests, 'Deployment')?.spec.template.spec
    const [container] = pod.containers
    expect(container.env).toEqual(
      expect.arrayContaining([...extraEnv, { name: 'NODE_EXTRA_CA_CERTS', value: '/etc/svc-ca/root.pem' }]),
    )
    expect(pod.volumes).toEqual(
      expect.arrayContaining([...extraVolumes, { name: 'private-ca', configMap: { name: 'company-ca' } }]),
    )
    expect(container.volumeMounts).toEqual(
      expect.arrayContaining([...extraVolumeMounts, { name: 'private-ca', mountPath: '/etc/svc-ca', readOnly: true }]),
    )
  })

  it('give the service what agent-sandbox needs, where it is enabled, and workers nothing', () => {
    const groups = ['agents.x-k8s.io', 'extensions.agents.x-k8s.io']
    const isOfSandboxes = ({ apiGroups }: { apiGroups: string[] }) => groups.some((group) => apiGroups.includes(group))
    const listHolders = (manifests: Manifest[]) =>
      manifests
        .filter((each) => each?.rules?.some(isOfSandboxes))
        .map(({ kind, metadata }) => `${kind}/${metadata.name}`)
        .toSorted()
    expect(listHolders(render({}))).toEqual([])
    expect(listHolders(render({ settings: { agentSandboxEnabled: true } }))).toEqual(['ClusterRole/svc-manager'])
    const own = render({ settings: { agentSandboxEnabled: true, agentSandboxNamespaceStrategy: 'controller' } })
    expect(listHolders(own)).toEqual(['ClusterRole/svc-manager', 'Role/svc-own'])
    const bindings = own.filter((each) => each?.kind.endsWith('RoleBinding'))
    expect(bindings.flatMap(({ subjects }) => subjects).map(({ name }) => name)).not.toContain('svc-worker')
  })

  it('make an ingress whose host the service answers to', () => {
    const manifests = render({
      ingress: { enabled: true, host: 'svc.example.com', className: 'inner', tlsSecret: 'tls' },
    })
    expect(find(manifests, 'Ingress')?.spec).toMatchObject({
      ingressClassName: 'inner',
      tls: [{ hosts: ['svc.example.com'], secretName: 'tls' }],
      rules: [
        {
          host: 'svc.example.com',
          http: { paths: [{ backend: { service: { name: 'svc', port: { name: 'http' } } } }] },
        },
      ],
    })
    expect(find(manifests, 'ConfigMap')?.data['svc.yaml']).toMatch(/publicHost:\n\s*- svc\.example\.com/)
    expect(() => render({ ingress: { enabled: true } })).toThrow(/ingress\.host is needed/)
  })

  it('leave the number of replicas to autoscaling, which SQLite knows nothing of', () => {
    const manifests = render({ autoscaling: { enabled: true, maxReplicas: 7 } })
    expect(find(manifests, 'HorizontalPodAutoscaler')?.spec).toMatchObject({ minReplicas: 2, maxReplicas: 7 })
    expect(find(manifests, 'Deployment')?.spec).not.toHaveProperty('replicas')
    expect(() =>
      render({ replicas: 1, autoscaling: { enabled: true }, database: { sqlite: { enabled: true } } }),
    ).toThrow(/SQLite serves one replica only/)
  })

  it('spread the pods as told, and over nodes when nothing is told', () => {
    const spreadOf = (values: object) =>
      find(render(values), 'Deployment')?.spec.template.spec.topologySpreadConstraints
    const zones = [{ maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule' }]
    expect(spreadOf({ topologySpreadConstraints: zones })).toEqual(zones)
    expect(spreadOf({})).toMatchObject([{ topologyKey: 'kubernetes.io/hostname' }])
    expect(spreadOf({ affinity: { nodeAffinity: {} } })).toBeUndefined()
  })

  it('give tasks that name no resources what the workers have', () => {
    const settingsOf = (values: object) => parse(find(render(values), 'ConfigMap')?.data['svc.yaml'])
    const resources = { requests: { cpu: '250m', memory: '512Mi' }, limits: { cpu: 2, memory: '4Gi' } }
    const settings = { taskCpu: '2', taskMemory: '4Gi', taskCpuRequest: '250m', taskMemoryRequest: '512Mi' }
    expect(settingsOf({ worker: { resources } })).toMatchObject(settings)
    expect(Object.keys(settingsOf({})).filter((name) => name.startsWith('task'))).toEqual([])
  })

  it('bind the service in each namespace that it serves, and nowhere else', () => {
    const bindingsOf = (values: object) =>
      render(values)
        .filter((manifest) => /-manager$/.test(manifest?.roleRef?.name ?? ''))
        .filter(({ roleRef }) => roleRef.kind === 'ClusterRole')
        .map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.namespace ?? ''}`)
    expect(bindingsOf({ watchNamespaces: ['team-a', 'team-b'] })).toEqual([
      'RoleBinding svc-manager team-a',
      'RoleBinding svc-manager team-b',
    ])
    expect(bindingsOf({})).toEqual(['ClusterRoleBinding svc-manager '])
    const settings = parse(find(render({ watchNamespaces: ['team-a', 'team-b'] }), 'ConfigMap')?.data['svc.yaml'])
    expect(settings.watchNamespace).toEqual(['team-a', 'team-b'])
  })

  it('have policies over parts of tasks and the right to their parameter', () => {
    const name = 'svc-used-elsewhere'
    const [shared, apart] = [render({ enforceNamespaceIsolation: false }), render({})]
    const rule = { apiGroups: ['policies.svc.ai'], resources: ['usedelsewhere'], verbs: ['get', 'create', 'patch'] }
    for (const manifests of [shared, apart]) {
      expect(find(manifests, 'Role', 'svc-own')?.rules).toContainEqual(rule)
      const binding = find(manifests, 'ValidatingAdmissionPolicyBinding', 'svc-configmap-acting')
      expect(binding?.spec.paramRef).toEqual({ name, namespace: 'svc-system', parameterNotFoundAction: 'Allow' })
    }
    const paramRef = { name, namespace: 'svc-system', parameterNotFoundAction: 'Deny' }
    expect(find(shared, 'ValidatingAdmissionPolicyBinding', name)?.spec.paramRef).toEqual(paramRef)
    expect(apart.filter((each) => each?.metadata?.name === name)).toEqual([])
  })

  it('bring the dashboard and the alert rules', () => {
    const manifests = render({ metrics: { prometheusRule: { enabled: true }, dashboard: { enabled: true } } })
    expect(find(manifests, 'PrometheusRule')?.spec.groups[0].rules.length).toBeGreaterThan(5)
    const dashboard = find(manifests, 'ConfigMap', 'svc-dashboard')
    expect(dashboard?.metadata.labels.grafana_dashboard).toBe('1')
    expect(JSON.parse(dashboard?.data['svc.json']).panels.length).toBeGreaterThan(10)
  })

  it.each([
    ['a word that nobody knows', { replica: 2 }],
    ['a setting that nobody knows', { settings: { maxTasksPerNamespaces: 5 } }],
    ['a setting of the wrong type', { settings: { maxTasksPerNamespace: true } }],
    ['a setting that the chart sets itself', { settings: { logLevel: 'debug' } }],
    ['a secret, which a ConfigMap would show', { settings: { bootstrapToken: 'made-up-for-this-test' } }],
    ['a namespace that cannot be one', { watchNamespaces: ['Team A'] }],
    ['a namespace twice', { watchNamespaces: ['a', 'a'] }],
    ['an amount that is none', { worker: { resources: { limits: { memory: 'much' } } } }],
    ['a resource of workers that nobody knows', { worker: { resources: { limits: { disk: '1Gi' } } } }],
    ['an amount of the service that is none', { resources: { limits: { memory: '1 GiB' } } }],
    ['a variable without a name', { extraEnv: [{ value: 'x' }] }],
  ])('refuse %s', (_what, values) => {
    expect(() => render(values)).toThrow(/values don't meet the specifications of the schema/)
  })

  it.each([
    [
      /minReplicas \(5\) is more than autoscaling.maxReplicas \(3\)/,
      { autoscaling: { enabled: true, minReplicas: 5, maxReplicas: 3 } },
    ],
    [/minAvailable \(2\) leaves none of 2 replicas/, { podDisruptionBudget: { minAvailable: 2 } }],
    [/minAvailable \(100%\) leaves none of 2 replicas/, { podDisruptionBudget: { minAvailable: '100%' } }],
    [
      /minAvailable \(3\) leaves none of 3/,
      { podDisruptionBudget: { minAvailable: 3 }, autoscaling: { enabled: true, minReplicas: 3 } },
    ],
  ])('that contradict each other are refused with the reason: %s', (reason, values) => {
    expect(() => render(values)).toThrow(reason)
  })

  it('protect pods from eviction only where another one serves meanwhile', () => {
    const budgetOf = (values: object) => find(render(values), 'PodDisruptionBudget')?.spec.minAvailable
    expect(budgetOf({})).toBe(1)
    expect(budgetOf({ podDisruptionBudget: { minAvailable: '50%' } })).toBe('50%')
    expect(budgetOf({ replicas: 1 })).toBeUndefined()
    expect(budgetOf({ autoscaling: { enabled: true, minReplicas: 1 } })).toBeUndefined()
  })

  it('take every setting at its default', () => {
    // Secrets come from the environment, never from values.
    const shown = Object.entries<Setting>(settings).filter(([, { secret }]) => !secret)
    const defaults = shown.flatMap(([name, { schema }]) => {
      const parsed = schema.safeParse(undefined)
      return parsed.success && parsed.data !== undefined ? [[name, parsed.data] as const] : []
    })
    const own =
      'mode host port metricsPort gatePort dataDir configDir operatorNamespace controllerUrl workerImage drainTimeout logLevel'
    const apart = new Set([
      ...own.split(' '),
      'enforceNamespaceIsolation',
      'watchNamespace',
      'publicHost',
      'taskCpu',
      'taskMemory',
      ...['helperCpu', 'helperMemory', 'helperCpuRequest', 'helperMemoryRequest'],
    ])
    const given = defaults.filter(
      ([name, value]) => !apart.has(name) && !(Array.isArray(value) && typeof value[0] === 'object'),
    )
    expect(given.length).toBeGreaterThan(30)
    expect(find(render({ settings: Object.fromEntries(given) }), 'Deployment')).toBeDefined()
  })
})
