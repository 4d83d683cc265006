// docs/kubernetes.md from its first block to its last, on a real cluster: what is typed is typed, and what is YAML is applied. A block
// that no line here knows fails the test, so that nothing is added to the guide untried. SVC_TEST_WHOLE_CLUSTER=1 waits for
// each rollout and restores the backup, too, as backup.test.ts does in every run.
import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { findHelm } from '../../scripts/chart.ts'
import { define, uninstall } from '../fixtures/agent-sandbox/definitions.ts'
import { describeOnCluster, openClusterApi } from '../fixtures/cluster.ts'
import { type ClusterDatabase, startClusterDatabase } from '../fixtures/cluster-services.ts'
import { findObstacle, undoAll } from '../fixtures/installation.ts'
import { kubectl, runKubectl } from '../fixtures/kubectl.ts'
import { launcher, root } from '../scenarios/service.ts'

const run = promisify(execFile)
const image = process.env.SVC_TEST_IMAGE ?? ''
const helm = findHelm()
const obstacle = findObstacle(image)
const isWhole = process.env.SVC_TEST_WHOLE_CLUSTER !== undefined
const [repository = '', tag = ''] = [image.slice(0, image.lastIndexOf(':')), image.slice(image.lastIndexOf(':') + 1)]
const teams = ['team', 'team-a', 'team-b']

/** Indented by four or more, after an empty line. */
function readBlocks(text: string): string[] {
  const blocks = text.matchAll(/\n\n((?: {4}.*\n|\n(?= {4}))+)/g)
  return [...blocks].map(([, block = '']) => block.replaceAll(/^ {4}/gm, ''))
}

describeOnCluster(`the guide of Kubernetes${obstacle === undefined ? '' : ` (skipped: ${obstacle})`}`, () => {
  if (obstacle !== undefined || helm === undefined) return it.skip(obstacle ?? 'no helm', () => undefined)
  const home = mkdtempSync(join(tmpdir(), 'svc-guide-'))
  const programs = join(home, 'programs')
  let database: ClusterDatabase

  /** What a reader puts in place of the examples' names. */
  const fill = (text: string) =>
    text
      .replaceAll('registry.example/svc:0.1.0', image)
      .replaceAll('registry.example/svc ', `${repository} `)
      .replaceAll('image.tag=0.1.0', `image.tag=${tag}`)
      .replaceAll('image.tag=NEW', `image.tag=${tag}`)
      .replaceAll('postgres://user:password@host:5432/svc', database.url)
      .replaceAll('/backups/', `${home}/backups/`)
      .replaceAll(' ...', ` --set image.repository=${repository} --set image.tag=${tag}`)

  async function type(text: string): Promise<string> {
    const env = {
      ...process.env,
      HOME: home,
      PATH: [programs, dirname(process.execPath), process.env.PATH].join(delimiter),
      SVC_DATABASE_URL: database.url,
    }
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', fill(text)], { cwd: root, env }).catch((error) => {
      throw new Error(`${text}: ${error.stderr || error}`)
    })
    return stdout
  }
  const isReady = () => kubectl(['rollout', 'status', 'deployment/svc', '--timeout=150s'], { namespace: 'svc-system' })
  async function upgradeWith(values: string): Promise<void> {
    const file = join(home, 'values.yaml')
    writeFileSync(file, fill(values))
    await type(`helm upgrade svc deploy/helm/svc -n svc-system --reset-then-reuse-values --values ${file}`)
  }
  const apply = (text: string) =>
    kubectl(['apply', '--server-side', '-f', '-'], { input: fill(text), namespace: 'team-a' })
  const applyTask = (text: string) => {
    const spec = { type: 'container', image, command: ['true'], ...parse(text).spec }
    return apply(stringify({ apiVersion: 'core.svc.ai/v1alpha1', kind: 'Task', metadata: { name: 'queued' }, spec }))
  }
  /** One release serves the cluster already: the API server judges what a second one would be. */
  const renderOnly = (text: string) =>
    type(
      `${text.trimEnd().replace('helm install', 'helm template --kube-version 1.34.0')} | kubectl apply --server-side --force-conflicts --dry-run=server -f -`,
    )
  /** The chart's installation is gone by then: it is done to the manifest's. */
  const endManifest = async (text: string) => {
    const manifest = readFileSync(join(root, 'deploy', 'svc.yaml'), 'utf8').replaceAll('svc:0.1.0', image)
    await kubectl(['apply', '--server-side', '-f', '-'], { input: manifest })
    await type(text)
  }
  /** To the words of the guide: to a cluster that has nothing of the service, and a new database. */
  const restore = async (text: string) => {
    if (!isWhole) return
    await type('helm uninstall svc -n svc-system --wait')
    await type('kubectl delete -f deploy/crds')
    await type('kubectl delete namespace svc-system')
    database.server.execute('postgres', 'drop database guide with (force)')
    database.server.execute('postgres', 'create database guide')
    await type(text)
    await isReady()
    expect(await kubectl(['get', 'tasks.core.svc.ai'], { namespace: 'team-a' })).toContain('queued')
  }
  /** Images are built by .ci/run, of the same files; there is no registry. */
  const buildsImage = async (text: string) => expect(text).toContain('docker build')

  /** How each block begins, in the guide's order, and what is done with it. */
  const steps: [beginning: string, act: (text: string) => Promise<unknown>][] = [
    ['docker build -f deploy/Containerfile', buildsImage],
    ['kubectl create namespace svc-system', type],
    [
      'kubectl apply -f examples/kubernetes/quick-start.yaml',
      async (text) => expect(await type(text)).toContain('example-writer'),
    ],
    ['settings:\n  propagateLabels', upgradeWith],
    ['spec:\n  execution:\n    queue', applyTask],
    ['worker:\n  resources', upgradeWith],
    ["helm install svc deploy/helm/svc -n svc-system --set 'watchNamespaces", renderOnly],
    ['kubectl create rolebinding builder', type],
    ['  kubectl create rolebinding ada', type],
    [
      'docker build -f deploy/agent.Containerfile',
      async (text) => {
        await buildsImage(text)
        await upgradeWith(text.slice(text.indexOf('settings:')))
      },
    ],
    ['settings:\n  agentSandboxEnabled', upgradeWith],
    ['apiVersion: extensions.agents.x-k8s.io/v1beta1\nkind: SandboxTemplate', apply],
    ['apiVersion: extensions.agents.x-k8s.io/v1beta1\nkind: SandboxWarmPool', apply],
    ['helm upgrade svc', type],
    [
      "export SVC_DATABASE_URL='postgres",
      async (text) => {
        if (isWhole) await isReady()
        await type(text)
      },
    ],
    ['kubectl create namespace svc-system', restore],
    ['helm uninstall svc', type],
    ['kubectl -n svc-system scale deployment svc --replicas 0', endManifest],
  ]

  /** Whatever was here before: nothing of the service's may be left. */
  async function empty(): Promise<void> {
    await runKubectl([
      'delete',
      '-f',
      join(root, 'examples', 'kubernetes', 'quick-start.yaml'),
      '--ignore-not-found',
      '--wait=false',
    ])
    const { stdout } = await runKubectl(['get', 'tasks.core.svc.ai', '-A', '-o', 'name', '--no-headers'])
    if (stdout !== '') {
      const guide = readBlocks(readFileSync(join(root, 'docs', 'kubernetes.md'), 'utf8')).at(-1) ?? ''
      await type(guide.slice(guide.indexOf('kubectl get tasks')))
    }
    await runKubectl(['delete', '-f', join(root, 'deploy', 'crds'), '--ignore-not-found', '--timeout=120s'])
  }

  beforeAll(async () => {
    mkdirSync(programs)
    symlinkSync(launcher, join(programs, 'svc'))
    symlinkSync(helm, join(programs, 'helm'))
    mkdirSync(join(home, '.kube'))
    copyFileSync(process.env.KUBECONFIG ?? '', join(home, '.kube', 'config'))
    database = await startClusterDatabase('guide')
    const api = await openClusterApi()
    await define(api, 'v1beta1')
    await api.close()
    await empty()
    for (const name of teams) await kubectl(['create', 'namespace', name])
  }, 300_000)

  async function removeAll(): Promise<void> {
    await run(helm as string, ['uninstall', 'svc', '-n', 'svc-system', '--no-hooks', '--ignore-not-found'])
    await runKubectl(['delete', '-f', join(root, 'deploy', 'svc.yaml'), '--ignore-not-found', '--wait=false'])
    await empty()
    await runKubectl(['delete', 'rolebinding', 'builder', '-n', 'default'])
    await runKubectl(['delete', 'namespace', 'svc-system', ...teams, '--wait=false', '--ignore-not-found'])
    const api = await openClusterApi()
    await uninstall(api)
    await api.close()
  }
  afterAll(
    () =>
      undoAll(
        () => database && removeAll(),
        () => database?.remove(),
        () => rmSync(home, { recursive: true, force: true }),
      ),
    300_000,
  )

  it('is walked from its first block to its last', async () => {
    const blocks = readBlocks(readFileSync(join(root, 'docs', 'kubernetes.md'), 'utf8'))
    expect(blocks.map((block, at) => block.startsWith(steps[at]?.[0] ?? 'nothing') || block)).toEqual(
      steps.map(() => true),
    )
    for (const [at, block] of blocks.entries()) await steps[at]?.[1](block)
    const { stdout } = await runKubectl([
      'get',
      'tasks.core.svc.ai',
      '-A',
      '-o',
      'jsonpath={.items[*].metadata.finalizers}',
    ])
    expect(stdout).toBe('')
  }, 600_000)
})
