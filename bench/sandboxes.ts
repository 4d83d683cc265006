// Execution workspaces by agent-sandbox on a cluster: from the claim to the first command, cold, from a warm pool and reused by
// a session, beside a plain pod of the same image. Needs KUBECONFIG, and the image of the cluster's tests. The controller is
// the tests' double, or with SVC_TEST_AGENT_SANDBOX=installed that of the cluster.
import { connectFromKubeconfig } from '../src/cluster/api/connection.ts'
import { systemClock as clock, systemIds as ids } from '../src/lib/system-clock.ts'
import type { ExecutionWorkspaces, WorkspaceClaim } from '../src/ports/workspaces/execution-workspaces.ts'
import { createExecShell } from '../src/runtime/agent-sandbox/exec-shell.ts'
import type { SandboxClaim } from '../src/runtime/agent-sandbox/objects.ts'
import { findReadySandbox } from '../src/runtime/agent-sandbox/objects.ts'
import { waitForObject } from '../src/runtime/agent-sandbox/watched-object.ts'
import { type Pod, pods } from '../src/runtime/jobs/objects.ts'
import { collectionOf, openSandboxes, type SandboxesBench, shellCommand } from '../test/cluster/sandboxes-bench.ts'
import { testImage } from '../test/cluster/workloads-bench.ts'
import { percentile, type Row, report, round } from './measure.ts'

const rounds = Number(process.env.BENCH_SANDBOXES_ROUNDS ?? 10)
const parallel = Number(process.env.BENCH_SANDBOXES_PARALLEL ?? 50)
const timeoutMs = 300_000

/** Milliseconds from the call until what it awaits. */
async function time(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

function describe(what: string, samples: number[]): Row {
  return { what, 'p50 ms': round(percentile(samples, 0.5)), 'p95 ms': round(percentile(samples, 0.95)) }
}

async function runFirst(workspaces: ExecutionWorkspaces, claim: WorkspaceClaim): Promise<void> {
  await workspaces.claim(claim)
  await workspaces.waitUntilReady(claim, { timeoutMs, signal: AbortSignal.timeout(timeoutMs) })
  await workspaces.start(claim, shellCommand(`c-${ids.hex(6)}`, 'true'))
}

/** What agent-sandbox needs to say that the sandbox of a claim is ready, seen by somebody who only watches. */
async function watchReady({ api, version }: SandboxesBench, { namespace, name }: WorkspaceClaim): Promise<number> {
  const collection = collectionOf(version, 'sandboxclaims')
  const judge = (claim: SandboxClaim | undefined) => claim && findReadySandbox(claim)
  const signal = AbortSignal.timeout(timeoutMs)
  await waitForObject<SandboxClaim, string>({ api, clock, ids }, { collection, namespace, name, judge }, signal)
  return performance.now()
}

/** A pod of the image, until a command has run in it. */
async function runPlainPod({ api, namespace }: SandboxesBench, shell: ReturnType<typeof createExecShell>) {
  const name = `plain-${ids.hex(6)}`
  const main = { name: 'main', image: testImage, imagePullPolicy: 'Never', command: ['sleep', '600'] }
  const spec = { containers: [main], terminationGracePeriodSeconds: 0, automountServiceAccountToken: false }
  const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec }
  await api.request({ verb: 'create', collection: pods, namespace, body })
  const judge = (pod: Pod | undefined) =>
    pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') || undefined
  const wanted = { collection: pods, namespace, name, judge }
  await waitForObject<Pod, true>({ api, clock, ids }, wanted, AbortSignal.timeout(timeoutMs))
  await shell.run(
    { namespace, sandbox: name, pod: name, container: 'main' },
    { text: 'true', timeoutMs, maxBytes: 100 },
  )
  return () => api.request({ verb: 'delete', collection: pods, namespace, name })
}

async function benchPlainPods(bench: SandboxesBench): Promise<Row> {
  const shell = createExecShell({ api: bench.api, connection: await connectFromKubeconfig() })
  const samples: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    let remove: () => Promise<unknown> = async () => undefined
    samples.push(
      await time(async () => {
        remove = await runPlainPod(bench, shell)
      }),
    )
    await remove()
  }
  return describe('a plain pod: created, ready, one command', samples)
}

async function benchCold(bench: SandboxesBench): Promise<Row> {
  const samples: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const claim = bench.claimOf('plain')
    samples.push(await time(() => runFirst(bench.workspaces, claim)))
    await bench.workspaces.delete(claim)
  }
  return describe('cold: claimed, ready, first command started', samples)
}

async function benchWarm(bench: SandboxesBench): Promise<Row[]> {
  const workspaces = bench.openWorkspaces({ warmPoolPolicy: 'template' })
  const [whole, pool, beyond]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < rounds; round += 1) {
    const claim = bench.claimOf('warm-one')
    const watching = watchReady(bench, claim)
    const started = performance.now()
    whole.push(await time(() => runFirst(workspaces, claim)))
    pool.push((await watching) - started)
    beyond.push((whole.at(-1) ?? 0) - (pool.at(-1) ?? 0))
    await workspaces.delete(claim)
    await bench.waitForPool('warm')
  }
  return [
    describe('from a warm pool: claimed, ready, first command started', whole),
    describe('of it until the pool has given its sandbox', pool),
    describe('of it after that', beyond),
  ]
}

/** The second task of a session, in a sandbox that the first one left. */
async function benchReused(bench: SandboxesBench): Promise<Row> {
  const claim = bench.claimOf('plain')
  await runFirst(bench.workspaces, claim)
  const samples: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    await bench.workspaces.scrub(claim, [])
    samples.push(await time(() => runFirst(bench.workspaces, claim)))
  }
  await bench.workspaces.delete(claim)
  return describe('reused by a session: second task, command started', samples)
}

/** As many plain pods at once: what the cluster needs by itself. */
async function benchManyPods(bench: SandboxesBench): Promise<Row> {
  const shell = createExecShell({ api: bench.api, connection: await connectFromKubeconfig() })
  const removals: (() => Promise<unknown>)[] = []
  const runOne = async () => void removals.push(await runPlainPod(bench, shell))
  const samples = await Promise.all(Array.from({ length: parallel }, () => time(runOne)))
  await Promise.all(removals.map((remove) => remove()))
  return describe(`${parallel} plain pods at once: created, ready, one command`, samples)
}

async function benchMany(bench: SandboxesBench): Promise<Row> {
  const claims = Array.from({ length: parallel }, () => bench.claimOf('plain'))
  const samples = await Promise.all(claims.map((claim) => time(() => runFirst(bench.workspaces, claim))))
  await Promise.all(claims.map((claim) => bench.workspaces.delete(claim)))
  return describe(`${parallel} claims at once, cold: first command started`, samples)
}

export async function run(): Promise<void> {
  const bench = await openSandboxes('v1beta1')
  try {
    await bench.addTemplate('plain')
    await bench.addTemplate('warm-one')
    const rows = [await benchPlainPods(bench), await benchCold(bench), await benchReused(bench)]
    await bench.addPool('warm', 'warm-one', 1)
    rows.push(...(await benchWarm(bench)), await benchManyPods(bench), await benchMany(bench))
    report('sandboxes', rows)
  } finally {
    await bench.close()
  }
}
