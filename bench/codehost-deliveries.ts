// Deliveries of the code host's webhook beside a bare route that checks the HMAC and makes one durable insert; and the time
// from a delivery to its running task.
import { type ChildProcess, fork } from 'node:child_process'
import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { percentile, type Row, round } from './measure.ts'
import { type RunningService, startService } from './service.ts'

const programs = join(import.meta.dirname, '..', 'test', 'clients', 'node_modules', '.bin')
const perMinute = 1000
const seconds = Number(process.env.BENCH_SECONDS ?? 30)
const burst = Number(process.env.BENCH_DELIVERIES ?? 2000)
const callers = 16
const events = Number(process.env.BENCH_EVENTS ?? 20)

const label = 'agent:implement'

type Target = { url: string; secret: string; label: string }
type Sent = { ms: number; ok: boolean }

function makePayload(number: number, name: string): string {
  const url = 'https://github.com/octo/demo'
  const repository = { full_name: 'octo/demo', html_url: url, clone_url: `${url}.git`, default_branch: 'main' }
  const issue = {
    number,
    title: 'A task of usual length',
    body: 'Some lines of text.\n'.repeat(40),
    html_url: `${url}/issues/${number}`,
    state: 'open',
    updated_at: new Date().toISOString(),
    user: { login: 'octocat', type: 'User' },
  }
  const sender = { login: 'octocat', type: 'User' }
  return JSON.stringify({ action: 'labeled', label: { name }, repository, sender, issue })
}

async function deliver({ url, secret, label: name }: Target, number: number): Promise<Sent> {
  const body = makePayload(number, name)
  const signature = createHmac('sha256', secret).update(body).digest('hex')
  const began = performance.now()
  const answer = await fetch(url, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'issues',
      'x-github-delivery': randomUUID(),
      'x-hub-signature-256': `sha256=${signature}`,
    },
  })
  await answer.arrayBuffer()
  return { ms: performance.now() - began, ok: answer.status === 201 || answer.status === 202 }
}

/** As many as go, by several callers. */
async function flood(target: Target, count: number): Promise<{ perSecond: number; sent: Sent[] }> {
  const sent: Sent[] = []
  let next = 0
  const began = performance.now()
  const run = async () => {
    for (let at = next++; at < count; at = next++) sent.push(await deliver(target, at + 1))
  }
  await Promise.all(Array.from({ length: callers }, run))
  return { perSecond: (count * 1000) / (performance.now() - began), sent }
}

/** A thousand a minute, each when it is due, however long the one before takes. */
async function pace(target: Target): Promise<Sent[]> {
  const gapMs = 60_000 / perMinute
  const count = Math.round((seconds * 1000) / gapMs)
  const began = performance.now()
  const running: Promise<Sent>[] = []
  for (let at = 0; at < count; at += 1) {
    const wait = began + at * gapMs - performance.now()
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    running.push(deliver(target, 100_000 + at))
  }
  return Promise.all(running)
}

function describe(sent: Sent[]): Row {
  const times = sent.map(({ ms }) => ms)
  return {
    'p50 ms': round(percentile(times, 0.5)),
    'p99 ms': round(percentile(times, 0.99)),
    failed: sent.filter(({ ok }) => !ok).length,
  }
}

async function startFloor(secret: string): Promise<{ target: Target; child: ChildProcess }> {
  const child = fork(join(import.meta.dirname, 'floors', 'signed-insert.ts'), [secret])
  const { url } = await new Promise<{ url: string }>((resolve) => {
    child.once('message', (message) => resolve(message as { url: string }))
  })
  return { target: { url: `${url}/hook`, secret, label }, child }
}

async function create(service: RunningService, path: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' }
  const answer = await fetch(`${service.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
}

/** From sending a delivery to the moment at which the list of tasks shows its task running. */
async function timeStart(service: RunningService, target: Target, number: number): Promise<number> {
  const began = performance.now()
  await deliver(target, number)
  const headers = { authorization: `Bearer ${service.token}` }
  const query = `labelSelector=${encodeURIComponent(`svc.ai/codehost-number=${number}`)}`
  for (;;) {
    const answer = await fetch(`${service.url}/api/v1/tasks?${query}`, { headers })
    const { items } = (await answer.json()) as { items: { status?: { startTime?: string } }[] }
    if (items[0]?.status?.startTime !== undefined) return performance.now() - began
    if (performance.now() - began > 30_000)
      throw new Error(`the task does not start: ${JSON.stringify(items[0]?.status)}`)
  }
}

async function open(model: string): Promise<RunningService> {
  const service = await startService(['--max-concurrent-tasks', '64'])
  await create(service, '/api/v1/providers', { name: 'main', spec: { type: 'llma', baseURL: 'http://127.0.0.1:9' } })
  const spec = { runtime: { type: 'llma-cli' }, model: { name: model } }
  await create(service, '/api/v1/agents', { name: 'builder', spec })
  return service
}

async function measureStarts(secret: string): Promise<Row> {
  const service = await open('main/test-model')
  const target = { url: `${service.url}/webhooks/codehost`, secret, label }
  const starts: number[] = []
  try {
    for (let at = 0; at < events; at += 1) starts.push(await timeStart(service, target, 500_000 + at))
  } finally {
    await service.stop()
  }
  return { what: 'delivery to running task', ...describe(starts.map((ms) => ({ ms, ok: true }))) }
}

/** The tasks wait for a provider that does not exist: programs of agents would take all of the machine. */
async function measureRates(secret: string): Promise<Row[]> {
  const service = await open('missing/test-model')
  const floor = await startFloor(secret)
  const url = `${service.url}/webhooks/codehost`
  try {
    const paced = await pace({ url, secret, label })
    const bare = await flood(floor.target, burst)
    const stored = await flood({ url, secret, label: 'bug' }, burst)
    const made = await flood({ url, secret, label }, burst)
    return [
      { what: `${perMinute} a minute, a task each`, 'per second': round(perMinute / 60), ...describe(paced) },
      { what: 'as many as go: bare route', 'per second': round(bare.perSecond), ...describe(bare.sent) },
      { what: 'as many as go: stored', 'per second': round(stored.perSecond), ...describe(stored.sent) },
      { what: 'as many as go: a task each', 'per second': round(made.perSecond), ...describe(made.sent) },
    ]
  } finally {
    floor.child.disconnect()
    await service.stop()
  }
}

export async function measureDeliveries(): Promise<Row[]> {
  const secret = randomBytes(24).toString('hex')
  process.env.SVC_CODEHOST_WEBHOOK_SECRET = secret
  process.env.SVC_CODEHOST_LABEL_TRIGGER_AGENT = 'builder'
  process.env.PATH = `${programs}:${process.env.PATH}`
  return [await measureStarts(secret), ...(await measureRates(secret))]
}
