// From a delivery to the running task that it asks for, and what a crash loses.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startCodeHost } from '../test/fixtures/codehost/server.ts'
import {
  agentLabel,
  codeHost,
  create,
  deliver,
  describe,
  openService,
  read,
  type Sent,
  send,
  type Target,
} from './codehost-service.ts'
import type { Row } from './measure.ts'
import { type RunningService, startService } from './service.ts'

const events = Number(process.env.BENCH_EVENTS ?? 20)
const full = 'acme/site'

type Listed = { items: { metadata: { name: string }; status?: { startTime?: string } }[] }

/** Until the list of tasks shows a running one with the label. */
async function waitForTask(service: RunningService, label: string): Promise<void> {
  const deadline = performance.now() + 30_000
  for (;;) {
    const { items } = await read<Listed>(service, `/api/v1/tasks?labelSelector=${encodeURIComponent(label)}`)
    if (items.some(({ status }) => status?.startTime !== undefined)) return
    if (performance.now() > deadline) throw new Error(`the task does not start: ${JSON.stringify(items[0]?.status)}`)
  }
}

async function timeAll(count: number, timeOne: (at: number) => Promise<unknown>): Promise<Row> {
  const sent: Sent[] = []
  for (let at = 0; at < count; at += 1) {
    const began = performance.now()
    await timeOne(at)
    sent.push({ id: '', ms: performance.now() - began, isTaken: true })
  }
  return { count, ...describe(sent) }
}

/** As many tasks at a time that none has to wait for another. */
const roomy = ['--max-concurrent-tasks', '64']

export async function measureTaskStarts(secret: string): Promise<Row> {
  const service = await openService(roomy)
  const target = { url: `${service.url}/webhooks/codehost`, secret, label: agentLabel }
  try {
    const row = await timeAll(events, async (at) => {
      await deliver(target, 500_000 + at)
      await waitForTask(service, `svc.ai/codehost-number=${500_000 + at}`)
    })
    return { what: 'from a label to its running task', ...row }
  } finally {
    await service.stop()
  }
}

function makePullEvent(number: number, head: string): object {
  const page = `https://${codeHost}/${full}`
  const repository = { full_name: full, html_url: page, clone_url: `${page}.git`, default_branch: 'main' }
  const sender = { login: 'octocat', type: 'User' }
  const side = (ref: string, sha: string) => ({ ref, sha, repo: repository })
  const described = { number, title: 'A change', html_url: `${page}/pull/${number}`, state: 'open', user: sender }
  const pull = {
    ...described,
    updated_at: new Date().toISOString(),
    head: side('topic', head),
    base: side('main', head),
  }
  return { action: 'synchronize', repository, sender, pull_request: pull }
}

/** The code host is the emulated one, which takes some of the time. */
export async function measureReviewStarts(secret: string): Promise<Row> {
  const host = await startCodeHost({ repositories: [full] })
  const service = await openService([...roomy, '--codehost-api-url', host.url, '--allow-network', '127.0.0.0/8'])
  try {
    await create(service, '/api/v1/secrets', { name: 'login', stringData: { token: host.tokenOf('writer') } })
    const spec = {
      repoURL: `https://${codeHost}/${full}`,
      branch: 'main',
      agents: { reviewer: { name: 'builder' } },
      gitSecretRef: { name: 'login' },
      review: { exactEventEnabled: true },
    }
    await create(service, '/api/v1/monitors/repositories', { name: 'reviews', spec })
    const patch = '@@ -1 +1 @@\n-const port = 80\n+const port = 8080'
    const draft = { files: [{ filename: 'src/app.ts', patch }] }
    const pulls: Awaited<ReturnType<typeof host.openPull>>[] = []
    for (let at = 0; at < events; at += 1) pulls.push(await host.openPull(full, draft))
    const row = await timeAll(events, async (at) => {
      const { number, head } = pulls[at] as (typeof pulls)[number]
      const payload = makePullEvent(number, head)
      await send({ url: `${service.url}/webhooks/codehost`, secret }, { event: 'pull_request', payload })
      await waitForTask(service, `svc.ai/codehost-number=${number}`)
    })
    return { what: 'from a push to its running review', ...row }
  } finally {
    await service.stop()
    await host.close()
  }
}

type Deliveries = { items: { id: string; state: string; outcome: { taskName?: string } }[] }

/** Once none is pending: those that are there, by id. */
async function readSettled(service: RunningService): Promise<Map<string, string | undefined>> {
  const deadline = performance.now() + 60_000
  for (;;) {
    const pending = await read<Deliveries>(service, '/api/v1/webhook/deliveries?state=pending&limit=1')
    if (pending.items.length === 0) break
    if (performance.now() > deadline) throw new Error('deliveries are pending for a minute')
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  const { items } = await read<Deliveries>(service, '/api/v1/webhook/deliveries?limit=500')
  return new Map(items.map(({ id, outcome }) => [id, outcome.taskName]))
}

/** Until the service is gone; the answers that came. */
async function deliverUntilKilled(service: RunningService, target: Target): Promise<Sent[]> {
  const answered: Sent[] = []
  let isKilled = false
  const one = async (number: number) => {
    const sent = await deliver(target, number, randomUUID()).catch(() => undefined)
    if (sent?.isTaken) answered.push(sent)
  }
  const running: Promise<void>[] = []
  for (let at = 0; !isKilled; at += 1) {
    running.push(one(700_000 + at))
    if (at === 150) {
      process.kill(service.pid, 'SIGKILL')
      isKilled = true
    }
    await new Promise((resolve) => setTimeout(resolve, 4))
  }
  await Promise.all(running)
  return answered
}

/** Deliveries four milliseconds apart, and `kill -9` in the midst; what was answered before is there afterwards, each with one task. */
export async function measureCrash(secret: string): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-crash-'))
  const first = await openService([], folder)
  const answered = await deliverUntilKilled(first, { url: `${first.url}/webhooks/codehost`, secret, label: agentLabel })
  await first.stop()
  const second = await startService(['--codehost-hosts', codeHost], folder)
  try {
    const found = await readSettled(second)
    const { items } = await read<Listed>(second, '/api/v1/tasks?limit=500')
    const names = [...found.values()].filter((name) => name !== undefined)
    const lost = answered.filter(({ id }) => found.get(id) === undefined).length
    const doubled = items.length - new Set(names).size
    return { what: 'kill -9 in the midst', count: answered.length, failed: lost, doubled }
  } finally {
    await second.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
