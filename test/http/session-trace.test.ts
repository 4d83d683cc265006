// The trace of a chat: written by its turns, read by people; and the trace of its caller, which goes along.
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import type { StepReport } from '../../src/contract/api/tasks/steps.ts'
import type { TraceStep } from '../../src/contract/api/tasks/trace.ts'
import { createEgress } from '../../src/egress/egress.ts'
import { makeStepSpan, type StepSubject } from '../../src/rules/tasks/step-spans.ts'
import { readResults, type ScriptedVendor, startVendor, type VendorRequest } from '../fixtures/llm/scripted-vendor.ts'
import { type ScriptedServer, startScriptedServer } from '../fixtures/mcp/scripted-server.ts'
import { ownerToken, type Service, startService } from './service.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const traceparent = `00-${traceId}-b7ad6b7169203331-01`

let service: Service
let vendor: ScriptedVendor
let mcp: ScriptedServer
let script: Parameters<typeof startVendor>[0]
const sent: { subject: StepSubject; kinds: string[]; steps: readonly StepReport[] }[] = []

beforeAll(async () => {
  vendor = await startVendor((request, count) => script(request, count))
  mcp = await startScriptedServer()
})
beforeEach(async () => {
  sent.length = 0
  script = callsThen([{ name: 'list_tasks', args: {} }])
  service = await startService({
    usecases: {
      allowNetworks: ['127.0.0.1/32'],
      onSteps: (subject, _attempt, steps) => void sent.push({ subject, kinds: steps.map(({ kind }) => kind), steps }),
    },
  })
  Object.assign(service.ports, { egress: createEgress() })
  const price = { currency: 'EUR', inputPerMillion: 1_000_000, outputPerMillion: 1_000_000 }
  const spec = { type: 'llmo', baseURL: vendor.url, defaultModel: 'm', price }
  await service.call('POST /api/v1/providers', { payload: { name: 'default', spec } })
})
afterEach(async () => {
  await service.stop()
  mcp.reset()
})
afterAll(async () => {
  await vendor.close()
  await mcp.stop()
})

const callsThen = (calls: { name: string; args: object }[]) => (request: VendorRequest) =>
  readResults(request).length === 0 ? calls.map((call) => ({ call })) : [{ text: 'done' }]

const chat = (message: string, headers: object = {}) =>
  service.call('POST /api/v1/chat', {
    payload: { message, sessionId: 'talk' },
    headers: { accept: 'application/json', ...headers },
  })

async function read(query = ''): Promise<{ items: TraceStep[]; metadata: { continue?: string } }> {
  return (await service.call(`GET /api/v1/sessions/talk/trace${query}`)).json()
}

const inOrder = (items: TraceStep[]) => items.toSorted((a, b) => a.attempt - b.attempt || Number(a.id) - Number(b.id))

it('has the steps of its turns, with tokens, cost, arguments and results, in the form of a trace of a task', async () => {
  expect((await chat('what runs?')).statusCode).toBe(200)
  script = () => [{ text: 'bye' }]
  await chat('thank you')
  const { items } = await read()
  const model = { kind: 'model', parent: '0', outcome: 'ok', model: { provider: 'default/default', name: 'm' } }
  expect(inOrder(items)).toMatchObject([
    { attempt: 1, id: '0', kind: 'attempt', name: 'turn', outcome: 'ok' },
    { ...model, id: '1', model: { ...model.model, inputTokens: 20, outputTokens: 10, cost: 30, currency: 'EUR' } },
    { id: '2', parent: '1', kind: 'tool', name: 'list_tasks', input: '{}', outcome: 'ok' },
    { ...model, id: '3' },
    { attempt: 2, id: '0', kind: 'attempt' },
    { ...model, attempt: 2, id: '1' },
  ])
  expect(sent.map(({ subject: { session }, kinds }) => [session, kinds.length])).toEqual([
    ['talk', 4],
    ['talk', 2],
  ])
})

it('is filtered by turn and kind, paged, and followed to the end of its turn', async () => {
  await chat('what runs?')
  await chat('and now?')
  expect((await read('?attempt=2')).items.every(({ attempt }) => attempt === 2)).toBe(true)
  expect((await read('?kind=tool')).items.map(({ kind }) => kind)).toEqual(['tool', 'tool'])
  const first = await read('?limit=4')
  const second = await read(`?limit=100&continue=${first.metadata.continue}`)
  expect([...first.items, ...second.items]).toEqual((await read()).items)
  const url = await service.listen()
  const headers = { authorization: `Bearer ${ownerToken}` }
  const whole = await (await fetch(`${url}/api/v1/sessions/talk/trace?follow=true&attempt=1`, { headers })).text()
  expect(whole.match(/^id: /gm)).toHaveLength(4)
  expect(whole).toMatch(/event: end\ndata: \{\}\n\n$/)
})

it('is live while a turn runs, and ends with it', async () => {
  const gate = Promise.withResolvers<void>()
  script = (request) =>
    readResults(request).length === 0
      ? [{ call: { name: 'list_tasks', args: {} } }]
      : [{ wait: gate.promise }, { text: 'done' }]
  const url = await service.listen()
  const turn = chat('what runs?')
  const hasTool = async () => (await read()).items?.some(({ kind }) => kind === 'tool')
  await expect.poll(hasTool, { timeout: 20_000 }).toBe(true)
  expect((await read()).items.find(({ kind }) => kind === 'attempt')?.outcome).toBeUndefined()
  const headers = { authorization: `Bearer ${ownerToken}` }
  const followed = await fetch(`${url}/api/v1/sessions/talk/trace?follow=true`, { headers })
  gate.resolve()
  const text = await followed.text()
  expect((await turn).statusCode).toBe(200)
  expect(text).toContain('"outcome":"ok"')
  expect(text).toMatch(/event: end\ndata: \{\}\n\n$/)
})

it('says that a turn failed, and shows no key', async () => {
  script = () => ({ status: 401, message: `no: api_key=sk-${'a'.repeat(40)}` })
  expect((await chat('hello')).statusCode).toBeGreaterThan(399)
  const { items } = await read()
  expect(inOrder(items)).toMatchObject([
    { kind: 'attempt', outcome: 'failed' },
    { kind: 'model', outcome: 'failed' },
  ])
  expect(JSON.stringify(items)).not.toContain('aaaa')
})

it('is of who may read the session, and is forgotten with it', async () => {
  await chat('what runs?')
  const path = 'GET /api/v1/sessions/talk/trace'
  expect((await service.call(path, { token: null })).statusCode).toBe(401)
  expect((await service.call('GET /api/v1/sessions/other/trace')).statusCode).toBe(404)
  await service.call('DELETE /api/v1/sessions/talk')
  expect((await service.call(path)).statusCode).toBe(404)
  script = () => [{ text: 'anew' }]
  await chat('hello')
  expect((await read()).items.map(({ attempt, kind }) => [attempt, kind])).toEqual([
    [1, 'model'],
    [1, 'attempt'],
  ])
})

it('hands the trace of its caller to HTTP tools, MCP servers and tasks, each below the step that called it', async () => {
  const http = { url: `http://${mcp.host}/weather`, method: 'GET' }
  await service.call('POST /api/v1/tools', { payload: { name: 'weather', spec: { description: 'd', http } } })
  const available = { available: true, observedGeneration: 1 }
  await service.setStatus('Tool', 'weather', { ...available, endpoint: http.url })
  const spec = { description: 'd', mcp: { url: mcp.url } }
  await service.call('POST /api/v1/tools', { payload: { name: 'docs', spec } })
  const search = { name: 'docs__search', serverName: 'search', description: 'd', parameters: { type: 'object' } }
  await service.setStatus('Tool', 'docs', { ...available, endpoint: mcp.url, tools: [search] })
  script = callsThen([
    { name: 'weather', args: {} },
    { name: 'docs__search', args: {} },
    { name: 'create_ai_task', args: { name: 'work', prompt: 'work' } },
  ])
  expect((await chat('go', { traceparent })).statusCode).toBe(200)
  const root = sent.find(({ kinds }) => kinds.includes('attempt'))
  expect(root?.subject.traceparent).toBe(traceparent)
  const [weather, searched, made] = ['weather', 'docs__search', 'create_ai_task'].map((name) => {
    const spans = sent.flatMap(({ subject, steps }) =>
      steps.map((step) => makeStepSpan(subject, step, { attempt: 1, contents: false })),
    )
    return `00-${traceId}-${spans.find((span) => span?.name === `execute_tool ${name}`)?.context?.spanId}-01`
  })
  expect(mcp.seen.find(({ path }) => path === '/weather')?.headers.traceparent).toBe(weather)
  const called = mcp.seen.find(({ message }) => message?.method === 'tools/call')?.message?.params
  expect(called).toMatchObject({ _meta: { traceparent: searched } })
  const { items } = (await service.call('GET /api/v1/tasks')).json()
  expect(items.map(({ metadata }: { metadata: { annotations: object } }) => metadata.annotations)).toMatchObject([
    { 'svc.ai/traceparent': made },
  ])
})
