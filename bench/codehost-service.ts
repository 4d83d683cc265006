// A service for deliveries, and the deliveries themselves. Their repository is on a host that does not exist, so that nothing is asked of
// anybody.
import { createHmac, randomUUID } from 'node:crypto'
import { percentile, type Row, round } from './measure.ts'
import { type RunningService, startService } from './service.ts'

export const agentLabel = 'agent:implement'
export const codeHost = 'codehost.invalid'
const page = `https://${codeHost}/octo/demo`
const repository = { full_name: 'octo/demo', html_url: page, clone_url: `${page}.git`, default_branch: 'main' }
const sender = { login: 'octocat', type: 'User' }

export type Target = { url: string; secret: string; label: string }
/** `isTaken`: it was answered as stored. */
export type Sent = { id: string; ms: number; isTaken: boolean }

function makePayload(number: number, name: string): object {
  const issue = {
    number,
    title: 'A task of usual length',
    body: 'Some lines of text.\n'.repeat(40),
    html_url: `${page}/issues/${number}`,
    state: 'open',
    updated_at: new Date().toISOString(),
    user: sender,
  }
  return { action: 'labeled', label: { name }, repository, sender, issue }
}

type Delivery = { event: string; payload: object; id?: string }

export async function send(
  { url, secret }: Omit<Target, 'label'>,
  { event, payload, id = randomUUID() }: Delivery,
): Promise<Sent> {
  const body = JSON.stringify(payload)
  const headers = {
    'content-type': 'application/json',
    'x-github-event': event,
    'x-github-delivery': id,
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  }
  const began = performance.now()
  const answer = await fetch(url, { method: 'POST', body, headers })
  await answer.arrayBuffer()
  return { id, ms: performance.now() - began, isTaken: answer.status === 201 || answer.status === 202 }
}

/** A label on an issue. */
export function deliver(target: Target, number: number, id?: string): Promise<Sent> {
  return send(target, { event: 'issues', payload: makePayload(number, target.label), ...(id && { id }) })
}

export function describe(sent: Sent[]): Row {
  const times = sent.map(({ ms }) => ms)
  return {
    'p50 ms': round(percentile(times, 0.5)),
    'p99 ms': round(percentile(times, 0.99)),
    failed: sent.filter(({ isTaken }) => !isTaken).length,
  }
}

export async function create(service: RunningService, path: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' }
  const answer = await fetch(`${service.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
}

export async function read<T>(service: RunningService, path: string): Promise<T> {
  const answer = await fetch(`${service.url}${path}`, { headers: { authorization: `Bearer ${service.token}` } })
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
  return (await answer.json()) as T
}

/** With an agent that runs a real program, whose vendor nobody answers for. */
export async function openService(flags: string[] = [], dataDir?: string): Promise<RunningService> {
  const service = await startService(['--codehost-hosts', codeHost, ...flags], dataDir)
  await create(service, '/api/v1/providers', { name: 'main', spec: { type: 'llma', baseURL: 'http://127.0.0.1:9' } })
  const spec = { runtime: { type: 'llma-cli' }, model: { name: 'main/test-model' }, secretRef: { name: 'vendor' } }
  await create(service, '/api/v1/secrets', { name: 'vendor', stringData: { VENDOR_API_KEY: 'made-up' } })
  await create(service, '/api/v1/agents', { name: 'builder', spec })
  return service
}
