// What is delivered for installing: the manifest and the chart, judged by the API server and by helm.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { chartFolder, findHelm, renderChart } from '../../scripts/chart.ts'
import { describeOnCluster, installDefinitions, openClusterApi } from '../fixtures/cluster.ts'
import { applyManifest, kubectl } from '../fixtures/kubectl.ts'

const run = promisify(execFile)
const helm = findHelm() ?? ''
const manifest = join(import.meta.dirname, '..', '..', 'deploy', 'svc.yaml')
const dry = `dep-dry-${randomBytes(3).toString('hex')}`

type Manifest = {
  kind: string
  metadata: { name: string; annotations?: Record<string, string> }
  rules?: { apiGroups: string[]; resources: string[]; verbs: string[] }[]
  subjects?: { name: string }[]
  spec?: { replicas?: number; template?: { spec: PodSpec } }
}
type PodSpec = {
  enableServiceLinks?: boolean
  securityContext?: object
  containers: { image: string; securityContext?: object; env?: { name: string }[] }[]
}

type Template = {
  spec: { podTemplate: { spec: object }; volumeClaimTemplates: { metadata: { name: string } }[] }
}

function readAll(text: string): Manifest[] {
  return parseAllDocuments(text)
    .map((document) => document.toJSON() as Manifest | null)
    .filter((object) => object !== null)
}

/** Of an admission policy. */
type Rule = { expression: string; message?: string }

function render(...values: string[]): Manifest[] {
  return readAll(
    renderChart(
      helm,
      values.flatMap((value) => ['--set', value]),
    ),
  )
}

/** Everything that is rendered into the usual namespace, put into one that is there. */
function moveInto(namespace: string, text: string): string {
  return text
    .replaceAll('namespace: svc-system', `namespace: ${namespace}`)
    .replaceAll('name: svc-system', `name: ${namespace}`)
}

describeOnCluster('the manifest on a cluster', () => {
  beforeAll(() => kubectl(['create', 'namespace', dry]))
  afterAll(() => kubectl(['delete', 'namespace', dry, '--wait=false']))

  it('is accepted by the API server as it is', async () => {
    const text = moveInto(dry, readFileSync(manifest, 'utf8'))
    const answers = (await applyManifest(text, { dryRun: true })).trim().split('\n')
    expect(answers.length).toBe(readAll(text).length)
    expect(answers.every((answer) => answer.endsWith('serverside-applied (server dry run)'))).toBe(true)
  })

  it.skipIf(helm === '')('is accepted with every option that adds objects', async () => {
    const options = ['database.sqlite.enabled=true', 'replicas=1', `watchNamespaces={${dry}}`, 'rbac.aggregate=false']
    const peers = ['networkPolicy.apiFrom[0].podSelector.matchLabels.app=gateway']
    const text = renderChart(
      helm,
      [...options, ...peers].flatMap((value) => ['--set', value]),
    )
    const answers = await applyManifest(moveInto(dry, text), { dryRun: true })
    expect(answers).toContain('persistentvolumeclaim/svc')
  })

  it.skipIf(helm === '')('keeps its replicas when autoscaling is switched on', async () => {
    const place = ['svc', chartFolder, '--namespace', dry, '--set', 'image.repository=none,crds.install=false']
    const replicasOf = () =>
      kubectl(['get', 'deployment', 'svc', '-o', 'jsonpath={.spec.replicas}'], { namespace: dry })
    await run(helm, ['install', ...place, '--set', 'replicas=3'])
    try {
      await run(helm, ['upgrade', ...place, '--set', 'autoscaling.enabled=true'])
      expect(await replicasOf()).toBe('3')
      await kubectl(['scale', 'deployment', 'svc', '--replicas=4'], { namespace: dry })
      await run(helm, ['upgrade', ...place, '--set', 'autoscaling.enabled=true,logLevel=warn'])
      expect(await replicasOf()).toBe('4')
    } finally {
      await run(helm, ['uninstall', 'svc', '--namespace', dry, '--no-hooks'])
    }
  })
})

describeOnCluster('what guides and examples show, on a cluster', () => {
  const namespace = `dep-shown-${randomBytes(3).toString('hex')}`
  beforeAll(async () => {
    const api = await openClusterApi()
    await installDefinitions(api)
    await api.close()
    await kubectl(['create', 'namespace', namespace])
    await kubectl(['label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted'])
  })
  afterAll(() => kubectl(['delete', 'namespace', namespace, '--wait=false']))

  const root = join(import.meta.dirname, '..', '..')
  const folders = ['examples', 'examples/schedules', 'examples/kubernetes']
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder)).flatMap((name) => (name.endsWith('.yaml') ? [join(folder, name)] : [])),
  )

  it.each(files)('%s is accepted', async (file) => {
    const text = readFileSync(join(root, file), 'utf8')
    const answers = (await applyManifest(text, { namespace, dryRun: true })).trim().split('\n')
    expect(answers).toHaveLength(readAll(text).length)
  })

  it('the template of sandboxes passes the strictest standard for pods', async () => {
    const guide = readFileSync(join(root, 'docs', 'kubernetes.md'), 'utf8')
    const block = /apiVersion: extensions\.agents\.x-k8s\.io\/v1beta1\n {4}kind: SandboxTemplate\n[\s\S]*?\n\n/.exec(
      guide,
    )
    const [template] = readAll((block?.[0] ?? '').replaceAll(/^ {4}/gm, '')) as unknown as Template[]
    const { podTemplate, volumeClaimTemplates } = template?.spec ?? {}
    const volumes = volumeClaimTemplates?.map(({ metadata }) => ({ name: metadata.name, emptyDir: {} }))
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'shown' }, spec: { ...podTemplate?.spec, volumes } }
    expect(await applyManifest(JSON.stringify(pod), { namespace, dryRun: true })).toContain('pod/shown')
    const loose = { ...pod, spec: { ...pod.spec, securityContext: {} } }
    await expect(applyManifest(JSON.stringify(loose), { namespace, dryRun: true })).rejects.toThrow('restricted')
  })
})

describe.skipIf(helm === '')('the chart', () => {
  it('passes the linter', async () => {
    const { stdout } = await run(helm, ['lint', '--strict', chartFolder])
    expect(stdout).toContain('0 chart(s) failed')
  })

  it('runs two replicas without privileges, without Service environment variables and without a key in plain text', () => {
    const deployment = render().find(({ kind }) => kind === 'Deployment')
    expect(deployment?.spec?.replicas).toBe(2)
    const pod = deployment?.spec?.template?.spec
    expect(pod).toMatchObject({ enableServiceLinks: false, securityContext: { runAsNonRoot: true, runAsUser: 65532 } })
    expect(pod?.containers[0]?.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(pod?.containers[0]?.env?.find(({ name }) => name === 'SVC_DATABASE_URL')).toHaveProperty(
      'valueFrom.secretKeyRef.name',
      'svc-database',
    )
  })

  it('refuses SQLite with more than one replica, and values that it does not know [MODE-011]', () => {
    expect(() => render('database.sqlite.enabled=true')).toThrow('SQLite serves one replica only')
    expect(() => render('replica=3')).toThrow(/replica/)
    expect(() => render('logLevel=loud')).toThrow(/logLevel/)
  })

  it('has no hooks where it is only rendered: applied as they stand, they would remove the service', () => {
    const marked = render().filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] !== undefined)
    expect(marked).toEqual([])
  })

  it('serves HTTPS with a certificate, and everything in the chart knows it', () => {
    const objects = render('tls.secretName=svc-tls')
    const container = objects.find(({ kind }) => kind === 'Deployment')?.spec?.template?.spec.containers[0]
    const probes = ['startupProbe', 'readinessProbe', 'livenessProbe'] as const
    for (const probe of probes) expect(container).toHaveProperty(`${probe}.httpGet.scheme`, 'HTTPS')
    const settings = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'svc')
    expect(JSON.stringify(settings)).toContain('controllerUrl: https://svc.svc-system.svc:8080')
    expect(() => render('settings.tlsCertFile=/a')).toThrow('tlsCertFile')
  })

  it('makes priority classes, the service above tasks, unless there are others', () => {
    const classesOf = (...values: string[]) => render(...values).filter(({ kind }) => kind === 'PriorityClass')
    expect(classesOf().map(({ metadata }) => metadata.name)).toEqual(['svc-service', 'svc-tasks'])
    expect(JSON.stringify(render())).toContain('- svc-tasks=0')
    const own = ['priorityClasses.create=false', 'priorityClassName=mine', 'settings.priorityClasses={low=0}']
    expect(classesOf(...own)).toEqual([])
    expect(JSON.stringify(render(...own))).toContain('"priorityClassName":"mine"')
  })

  it('takes a digest, common labels and a security context of the pods', () => {
    const digest = `sha256:${'a'.repeat(64)}`
    const objects = render(`image.digest=${digest}`, 'commonLabels.team=core', 'podSecurityContext.runAsUser=1234')
    const pod = objects.find(({ kind }) => kind === 'Deployment')?.spec?.template?.spec
    expect(pod?.containers[0]?.image).toBe(`svc@${digest}`)
    expect(pod?.securityContext).toMatchObject({ runAsUser: 1234, runAsGroup: 65532, runAsNonRoot: true })
    const labelled = objects.filter(({ metadata }) => (metadata as { labels?: object }).labels !== undefined)
    expect(labelled.length).toBeGreaterThan(20)
    for (const { metadata } of labelled) expect(metadata).toHaveProperty('labels.team', 'core')
  })

  it('writes its values into the admission policies as literals', () => {
    const values = [
      'watchNamespaces={team,next}',
      'settings.allowNetwork={10.0.0.0/8,10.1.2.3,fd00::1}',
      'admission.accounts={restorer}',
    ]
    const objects = render(...values, 'enforceNamespaceIsolation=false', 'serviceAccount.name=runner')
    const textOf = (kind: string, name: string) =>
      JSON.stringify(objects.find((object) => object.kind === kind && object.metadata.name === name))
    const policy = (name: string) => textOf('ValidatingAdmissionPolicy', name).replaceAll('\\"', "'")
    expect(policy('svc-task-identity')).toContain("in ['system:serviceaccount:svc-system:runner','restorer']")
    expect(policy('svc-provider-address')).toContain("['10.0.0.0/8','10.1.2.3/32','fd00::1/128'].exists(")
    expect(policy('svc-provider-address')).toContain("'svc.svc-system.svc:8080'")
    expect(policy('svc-task-agents')).toContain('!false ||')
    expect(policy('svc-guarded-namespaces')).toContain("request.namespace != 'svc-system'")
    const binding = textOf('ValidatingAdmissionPolicyBinding', 'svc-task-agents')
    expect(binding).toContain(
      '"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"In","values":["team","next"]}]',
    )
  })

  it('keeps namespaces apart unless told otherwise, in the service and in the policies', () => {
    const objects = render()
    expect(JSON.stringify(objects)).toContain('enforceNamespaceIsolation: true')
    const rules = objects.flatMap(({ spec }) => (spec as { validations?: Rule[] } | undefined)?.validations ?? [])
    const crossing = rules.filter(({ message }) => message?.includes('isolated here'))
    expect(crossing.length).toBeGreaterThan(5)
    for (const { expression } of crossing) expect(expression).toMatch(/^!true \|\| |!\(true && /)
  })

  it('gives workers no rights [AUTH-012]', () => {
    const bindings = render().filter(({ kind }) => kind.endsWith('RoleBinding'))
    expect(bindings.length).toBeGreaterThan(0)
    const bound = new Set(bindings.flatMap(({ subjects }) => subjects ?? []).map(({ name }) => name))
    expect([...bound]).toEqual(['svc'])
  })

  it('gives viewers read rights only, and none of the three roles a right on Secrets', () => {
    const roles = new Map(render().map((object) => [`${object.kind}/${object.metadata.name}`, object]))
    const verbs = roles.get('ClusterRole/svc-viewer')?.rules?.flatMap((rule) => rule.verbs) ?? []
    expect([...new Set(verbs)].sort()).toEqual(['get', 'list', 'watch'])
    for (const role of ['svc-viewer', 'svc-editor', 'svc-admin']) {
      const groups = roles.get(`ClusterRole/${role}`)?.rules?.flatMap((rule) => rule.apiGroups)
      expect(new Set(groups)).toEqual(new Set(['core.svc.ai']))
    }
  })

  it('keeps the CRDs, and with them every object, when the release is uninstalled', () => {
    const definitions = render().filter(({ kind }) => kind === 'CustomResourceDefinition')
    expect(definitions).toHaveLength(8)
    for (const { metadata } of definitions) expect(metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' })
  })

  it('has a ServiceMonitor where one is enabled', () => {
    const kindsOf = (...values: string[]) => render(...values).map(({ kind }) => kind)
    expect(kindsOf()).not.toContain('ServiceMonitor')
    expect(kindsOf('metrics.serviceMonitor.enabled=true')).toContain('ServiceMonitor')
  })
})
