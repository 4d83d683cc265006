// The real service with an issuer, a transaction-token service and a tool that tells what it was sent.
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Task } from '../../src/contract/kinds/tasks/task.ts'
import { audience, type Issuer, startIssuer, subject } from '../fixtures/issuer.ts'
import { waitFor } from '../fixtures/time.ts'
import { readResult, removeFolder, type Service, startService, waitForPhase } from './service.ts'

const stops: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

type Seen = { path: string; headers: IncomingMessage['headers']; body: string }

async function startServer(answer: (seen: Seen, response: ServerResponse) => void) {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const one = { path: request.url ?? '', headers: request.headers, body }
    seen.push(one)
    answer(one, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.push(async () => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

type Server = Awaited<ReturnType<typeof startServer>>
let issuer: Issuer
let tokens: Server
let tool: Server
let given: string[]
let refuses = false

/** Calls of the tool itself; the service looks by itself whether it is there. */
const calls = () => tool.seen.filter(({ body }) => body !== '')
const formOf = (index: number) => Object.fromEntries(new URLSearchParams(tokens.seen[index]?.body))

beforeAll(async () => {
  issuer = await startIssuer()
  stops.push(issuer.stop)
  given = []
  tokens = await startServer((_seen, response) => {
    if (refuses) return void response.writeHead(400).end('{"error":"invalid_grant"}')
    const token = `opaque-${createHash('sha256').update(String(given.length)).digest('hex')}`
    given.push(token)
    response.end(JSON.stringify({ access_token: token, token_type: 'N_A', expires_in: 60 }))
  })
  tool = await startServer(({ headers }, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ answer: 42, sent: headers['txn-token'] ?? 'nothing' }))
  })
})
beforeEach(() => {
  refuses = false
  for (const list of [given, tokens.seen, tool.seen]) list.length = 0
})

async function start(more: NodeJS.ProcessEnv): Promise<Service> {
  const env = {
    SVC_CONTEXT_TOKEN_PROFILE: 'kontxt',
    SVC_CONTEXT_TOKEN_ISSUER: issuer.url,
    SVC_CONTEXT_TOKEN_AUDIENCE: audience,
    ...more,
  }
  const service = await startService({ flags: ['--allow-network', '127.0.0.0/8', '--log-level', 'debug'], env })
  stops.push(async () => {
    await service.stop()
    removeFolder(service.folder)
  })
  const provider = { name: 'demo', spec: { type: 'demo', defaultModel: 'demo' } }
  expect((await service.call('POST', '/api/v1/providers', provider)).status).toBe(201)
  const spec = { description: 'looks things up', http: { url: tool.url } }
  expect((await service.call('POST', '/api/v1/tools', { name: 'lookup', spec })).status).toBe(201)
  return service
}

/** As somebody with a context token. */
async function post(service: Service, path: string, body: object, scope: string) {
  const token = await issuer.signTransaction({ scope })
  const headers = { 'txn-token': token, 'content-type': 'application/json' }
  const response = await fetch(`${service.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, text: await response.text(), token }
}

const aiTask = (name: string) => ({
  name,
  type: 'ai',
  prompt: 'call lookup {}',
  ai: { tools: ['lookup'], providerRef: { name: 'demo' } },
})

/** All that anybody can read of a task. */
async function readAll(service: Service, name: string): Promise<string> {
  const parts = ['', '/logs', '/result', '/events'].map((part) => `/api/v1/tasks/${name}${part}`)
  const answers = await Promise.all(parts.map((path) => service.call('GET', path)))
  return JSON.stringify(answers.map(({ body }) => body)) + service.output()
}

describe('a service that exchanges tokens', () => {
  let service: Service
  beforeAll(async () => {
    service = await start({
      SVC_CONTEXT_TOKEN_TTS_URL: `${tokens.url}/tts`,
      SVC_CONTEXT_TOKEN_TTS_AUDIENCE: 'tools',
      SVC_CONTEXT_TOKEN_TTS_TOKEN_SOURCE: 'none',
      SVC_CONTEXT_TOKEN_CHILD_SCOPE: 'children:run',
      SVC_CONTEXT_TOKEN_OUTBOUND_SCOPE: 'tools:call',
      SVC_CONTEXT_TOKEN_CHILD_TOKEN_TTL: '10m',
      SVC_CONTEXT_TOKEN_TOOL_TOKEN_TTL: '90s',
    })
  })

  it('gives each call of a task’s tool a token of its own, which nobody else sees', async () => {
    expect((await post(service, '/api/v1/tasks', aiTask('ask'), 'tools:call more')).status).toBe(201)
    await waitForPhase(service, 'ask', 'Succeeded')
    expect(tokens.seen.map(({ path }) => path)).toEqual(['/tts/token_endpoint'])
    expect(formOf(0)).toMatchObject({ scope: 'tools:call', audience: 'tools', requested_expires_in: '90' })
    expect(formOf(0)).not.toHaveProperty('subject_token')
    expect(JSON.parse(formOf(0).request_details ?? '')).toEqual({
      operation: 'httpTool',
      tool: 'lookup',
      namespace: 'default',
      task: 'ask',
    })
    expect(calls().map(({ headers }) => headers['txn-token'])).toEqual(given)
    const all = await readAll(service, 'ask')
    expect(all).toContain('answer')
    expect(all).not.toContain(given[0])
    const metrics = await service.call<string>('GET', '/metrics')
    expect(metrics.body).toContain('svc_context_token_tts_exchange_total{result="ok",reason="ok"} 1')
    expect(metrics.body).toContain('svc_context_token_tts_exchange_duration_seconds_count{result="ok",reason="ok"} 1')
  })

  it('calls no tool without its token: refused by the other side, or beyond the scope', async () => {
    refuses = true
    await post(service, '/api/v1/tasks', aiTask('refused'), 'tools:call')
    await waitForPhase(service, 'refused', 'Succeeded')
    expect(await readResult(service, 'refused')).toContain('because it has no transaction token')
    expect(tokens.seen).toHaveLength(1)
    await post(service, '/api/v1/tasks', aiTask('narrow'), 'other')
    await waitForPhase(service, 'narrow', 'Succeeded')
    expect(await readResult(service, 'narrow')).toContain('--context-token-outbound-scope')
    expect(tokens.seen).toHaveLength(1)
    expect(calls()).toEqual([])
  })

  it('sends nothing for a task of nobody’s transaction', async () => {
    expect((await service.call('POST', '/api/v1/tasks', aiTask('plain'))).status).toBe(201)
    await waitForPhase(service, 'plain', 'Succeeded')
    expect(calls()).toHaveLength(1)
    expect(calls()[0]?.headers['txn-token']).toBeUndefined()
    expect(tokens.seen).toEqual([])
  })

  it('gives a run of a schedule a token that its command finds, and takes it back with the run', async () => {
    const script = 'sha256sum < "$SVC_TRANSACTION_TOKEN_FILE"; cat "$SVC_TRANSACTION_TOKEN_FILE"; env'
    const task = { name: 'tick', type: 'container', command: ['sh', '-c', script], schedule: '@every 1s' }
    expect((await post(service, '/api/v1/tasks', task, 'children:run more')).status).toBe(201)
    const run = await waitFor(async () => {
      const { body } = await service.call<{ items: Task[] }>('GET', '/api/v1/tasks')
      const runs = body.items.filter(({ metadata }) => metadata.name.startsWith('tick-'))
      const [first] = runs.toSorted((a, b) => (a.metadata.uid < b.metadata.uid ? -1 : 1))
      return first?.status?.phase === 'Succeeded' ? first : undefined
    }, 'the first run to end')
    const { name, annotations } = run.metadata
    expect(formOf(0)).toMatchObject({ scope: 'children:run', requested_expires_in: '600' })
    expect(JSON.parse(formOf(0).request_details ?? '')).toEqual({
      operation: 'childTask',
      parentTask: 'tick',
      namespace: 'default',
      txn: 'txn-1',
    })
    const result = await readResult(service, name)
    expect(result).toContain(
      createHash('sha256')
        .update(given[0] ?? '')
        .digest('hex'),
    )
    expect(result).toContain(`SVC_TRANSACTION_SUBJECT=${subject}`)
    expect(await readAll(service, name)).not.toContain(given[0])
    const secret = annotations?.['svc.ai/transaction-token-secret'] ?? ''
    expect(secret).toMatch(/^tick-txn-[0-9a-f]+-[0-9a-f]{10}$/)
    const listSecrets = async () => JSON.stringify((await service.call('GET', '/api/v1/secrets')).body)
    expect(await listSecrets()).toContain(secret)
    await service.call('DELETE', '/api/v1/tasks/tick')
    await waitFor(async () => !(await listSecrets()).includes(secret), 'the Secret to go with its task')
  })
})

describe('a service that exchanges the tokens that requests come with', () => {
  let service: Service
  beforeAll(async () => {
    service = await start({ SVC_CONTEXT_TOKEN_TTS_URL: tokens.url, SVC_CONTEXT_TOKEN_TTS_TOKEN_SOURCE: 'incoming' })
  })
  const message = { model: 'demo/demo', max_tokens: 100, messages: [{ role: 'user', content: 'call lookup {}' }] }

  it('does so for the tools of its proxies, again and again', async () => {
    const asked = await post(service, '/llma/v1/messages', message, 'a b')
    expect([asked.status, asked.text]).toEqual([200, expect.stringContaining('answer')])
    expect(formOf(0)).toMatchObject({
      scope: 'a b',
      subject_token: asked.token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:txn_token',
    })
    const details = { operation: 'httpTool', tool: 'lookup', namespace: 'default' }
    expect(JSON.parse(formOf(0).request_details ?? '')).toEqual(details)
    expect(calls().map(({ headers }) => headers['txn-token'])).toEqual(given)
    for (const secret of [asked.token, given[0]]) {
      expect(asked.text).not.toContain(secret)
      expect(service.output()).not.toContain(secret)
    }
  })

  it('has none for a task that was made of such a request, whose tools are then not called', async () => {
    await post(service, '/api/v1/tasks', aiTask('later'), 'a')
    await waitForPhase(service, 'later', 'Succeeded')
    expect(await readResult(service, 'later')).toContain('because it has no transaction token')
    expect([tokens.seen, calls()]).toEqual([[], []])
  })
})
