// Execution workspaces of this machine: from the claim to the first command, and from asking for a task until its agent runs,
// cold and in a workspace that the session has already, beside workers that have none.
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock as clock } from '../src/lib/system-clock.ts'
import type { ExecutionWorkspaces, WorkspaceClaim } from '../src/ports/workspaces/execution-workspaces.ts'
import { probeBubblewrap } from '../src/runtime/local/confinement/bubblewrap.ts'
import { findControlGroups } from '../src/runtime/local/confinement/control-groups.ts'
import {
  type CommandFolderOptions,
  openCommandFolder,
} from '../src/runtime/local/execution-workspaces/command-folder.ts'
import { type CommandsOptions, runInFolder } from '../src/runtime/local/execution-workspaces/commands.ts'
import { openLocalWorkspaces } from '../test/contracts/local-workspaces-bench.ts'
import { percentile, type Row, report, round } from './measure.ts'
import { type RunningService, startService } from './service.ts'

const rounds = Number(process.env.BENCH_WORKSPACES ?? 15)

function describe(what: string, samples: number[]): Row {
  const p50 = round(percentile(samples, 0.5), 0)
  return {
    what,
    'p50 ms': p50,
    'p95 ms': round(percentile(samples, 0.95), 0),
    'min ms': round(Math.min(...samples), 0),
  }
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/** The first of them fills the caches. */
async function sample(measure: (number: number) => Promise<number>): Promise<number[]> {
  const samples: number[] = []
  for (let number = 0; number <= rounds; number += 1) samples.push(await measure(number))
  return samples.slice(1)
}

const script = { env: {}, timeoutSeconds: 60, maxOutputBytes: 1000 }

async function runFirst(workspaces: ExecutionWorkspaces, claim: WorkspaceClaim, id: string): Promise<void> {
  await workspaces.claim(claim)
  await workspaces.waitUntilReady(claim, { timeoutMs: 10_000, signal: AbortSignal.timeout(10_000) })
  await workspaces.start(claim, { ...script, id, command: ['true'] })
  while ((await workspaces.observeCommand(claim, id)).phase === 'Running') await pause(1)
}

/** What any sandbox of this machine needs, without a workspace. */
async function benchSandboxes(folder: string): Promise<Row> {
  const probe = await probeBubblewrap()
  if (!probe.available) throw new Error(probe.reason)
  const options: CommandsOptions & CommandFolderOptions = {
    bubblewrap: probe.bubblewrap,
    groups: await findControlGroups(),
    clock,
    nodePath: process.execPath,
    binds: [],
    masked: [],
    memoryBytes: 512 * 1024 ** 2,
    processes: 128,
    size: { bytes: 64 * 1024 ** 2, files: 10_000 },
    graceMs: 200,
  }
  const command = { ...script, argv: ['true'], workDir: '/workspace', network: true }
  const place = openCommandFolder(options, folder, `svc-bench-${process.pid}`)
  const samples = await sample(() => time(async () => (await runInFolder(options, place, command)).ended))
  await place.close()
  return describe('floor: a bare sandbox, one command to its end', samples)
}

async function benchClaims(root: string): Promise<Row[]> {
  const workspaces = openLocalWorkspaces(root)
  const claimOf = (name: string) => {
    const template = { namespace: 'default', name: 'default' }
    return { namespace: 'default', name: `svc-ws-${name}`, template, labels: {} }
  }
  const cold = await sample((number) => time(() => runFirst(workspaces, claimOf(`cold-${number}`), 'one')))
  const reused = await sample(async (number) => {
    await runFirst(workspaces, claimOf('kept'), `before-${number}`)
    await workspaces.scrub(claimOf('kept'), [])
    return time(() => runFirst(workspaces, claimOf('kept'), `after-${number}`))
  })
  await workspaces.close()
  return [
    describe('claimed, ready, one command to its end: cold', cold),
    describe('the same, reused by a session', reused),
  ]
}

async function call<T>({ url, token }: RunningService, path: string, body?: object): Promise<T> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
  const answer = await fetch(`${url}/api/v1/${path}`, init)
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as T
}

type Spec = Record<string, unknown>

/** From asking until the agent program runs: it says when that was. */
async function timeTask(service: RunningService, name: string, more: Spec): Promise<number> {
  const started = Date.now()
  const prompt = 'date +%s%3N'
  await call(service, 'tasks', { name, spec: { type: 'agent', prompt, agentRef: { name: 'shell' }, ...more } })
  for (;;) {
    const { status } = await call<{ status?: { phase?: string; message?: string } }>(service, `tasks/${name}`)
    if (status?.phase === 'Failed') throw new Error(status.message)
    if (status?.phase === 'Succeeded') break
    await pause(20)
  }
  const { result } = await call<{ result: string }>(service, `tasks/${name}/result`)
  return Number(result.trim()) - started
}

function inWorkspace(session: string): Spec {
  const workspace = { enabled: true, reusePolicy: 'session', cleanupPolicy: 'retain' }
  return { sessionRef: { name: session, create: true }, execution: { workspace } }
}

async function benchTasks(service: RunningService): Promise<Row[]> {
  await call(service, 'providers', { name: 'main', spec: { type: 'llmo', baseURL: 'http://127.0.0.1:9' } })
  const runtime = { runtimeRef: { name: 'shell' } }
  await call(service, 'agents', { name: 'shell', spec: { runtime, model: { name: 'main/test-model' } } })
  const bare = await sample((number) => timeTask(service, `bare-${number}`, {}))
  const cold = await sample((number) => timeTask(service, `cold-${number}`, inWorkspace(`cold-${number}`)))
  const reused = await sample((number) => timeTask(service, `second-${number}`, inWorkspace('kept')))
  return [
    describe('floor: a task without a workspace, until its agent runs', bare),
    describe('first task of a session, in a workspace', cold),
    describe('next task of a session, in the same workspace', reused),
  ]
}

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const [bin, files] = [join(folder, 'bin'), join(folder, 'files')]
  for (const each of [bin, files]) mkdirSync(each)
  copyFileSync(join(import.meta.dirname, '..', 'test', 'fixtures', 'agents', 'shell.mjs'), join(bin, 'shell-agent'))
  chmodSync(join(bin, 'shell-agent'), 0o755)
  process.env.PATH = `${bin}:${process.env.PATH}`
  const rows = [await benchSandboxes(files), ...(await benchClaims(join(folder, 'workspaces')))]
  const service = await startService(['--agent-program', 'shell=shell-agent', '--execution-workspace-quota', '0'])
  try {
    report('local-workspaces', [...rows, ...(await benchTasks(service))])
  } finally {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
