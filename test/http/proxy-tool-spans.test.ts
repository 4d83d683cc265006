// Calls of the service's tools in the loop of a proxy: spans of the request, and of nobody who is an agent.
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { StepReport } from '../../src/contract/api/tasks/steps.ts'
import type { TraceStep } from '../../src/contract/api/tasks/trace.ts'
import { makeStepSpan, type StepSubject } from '../../src/rules/tasks/step-spans.ts'
import { startScriptedServer } from '../fixtures/mcp/scripted-server.ts'
import { type Proxied, simpleMessage, startProxied } from '../fixtures/proxy/proxied.ts'
import { answerJson, llmaAnswer } from '../fixtures/proxy/upstream.ts'
import { aiTask } from './service.ts'

const headers = { 'x-svc-tools': 'enabled' }
const key = `sk-${'a'.repeat(30)}1`

let proxied: Proxied
const sent: { subject: StepSubject; steps: readonly StepReport[] }[] = []

beforeAll(async () => {
  const onSteps = (subject: StepSubject, _attempt: number, steps: readonly StepReport[]) =>
    void sent.push({ subject, steps })
  const usecases = { onSteps, allowNetworks: ['127.0.0.1/32'] }
  proxied = await startProxied({ builtinTools: ['file_write'], usecases })
  await proxied.addProvider('vendor', { defaultModel: 'm' })
})
afterAll(() => proxied.stop())
afterEach(() => {
  proxied.upstream.reset()
  sent.length = 0
})

/** The vendor has these called at once, and then says its last word. */
function callTools(...calls: { name: string; input: object }[]): void {
  const content = calls.map((call, at) => ({ type: 'tool_use', id: `toolu_${at + 1}`, ...call }))
  const call = { ...llmaAnswer, content, stop_reason: 'tool_use' }
  proxied.upstream.script.answer = (received) =>
    answerJson(received.body.includes('"toolu_1"') ? llmaAnswer : call)(received)
}

async function ask(token?: string): Promise<void> {
  const answer = await proxied.ask('/llma/v1/messages', simpleMessage('vendor/m'), { headers, ...(token && { token }) })
  expect(answer.status).toBe(200)
  await answer.text()
}

it.each([
  ['ok', { path: 'notes.txt', content: `api_key=${key}` }],
  ['failed', { path: '../../outside', content: 'x' }],
])('says what was called with what, and that it was %s, without keys', async (outcome, input) => {
  callTools({ name: 'file_write', input })
  await ask()
  expect(sent).toMatchObject([
    {
      subject: { uid: expect.any(String) },
      steps: [{ kind: 'tool', name: 'file_write', outcome, input: expect.stringContaining(input.path) }],
    },
  ])
  expect(sent[0]?.subject.task).toBeUndefined()
  expect(JSON.stringify(sent)).not.toContain(key)
})

it('is what the requests of HTTP tools and MCP servers are below', async () => {
  const mcp = await startScriptedServer()
  const { service } = proxied
  const url = `http://${mcp.host}/weather`
  await proxied.create('/api/v1/tools', { name: 'weather', spec: { description: 'd', http: { url, method: 'GET' } } })
  await service.setStatus('Tool', 'weather', { available: true, observedGeneration: 1, endpoint: url })
  await proxied.create('/api/v1/tools', { name: 'docs', spec: { description: 'd', mcp: { url: mcp.url } } })
  const search = { name: 'docs__search', serverName: 'search', description: 'd', parameters: { type: 'object' } }
  const status = { available: true, observedGeneration: 1, endpoint: mcp.url, tools: [search] }
  await service.setStatus('Tool', 'docs', status)
  callTools({ name: 'weather', input: {} }, { name: 'docs__search', input: {} })
  await ask()
  await mcp.stop()
  const spans = sent.flatMap(({ subject, steps }) =>
    steps.map((step) => makeStepSpan(subject, step, { attempt: 1, contents: false })),
  )
  const [weather, called] = ['weather', 'docs__search'].map((name) => {
    const { traceId, spanId } = spans.find((span) => span?.name === `execute_tool ${name}`)?.context ?? {}
    return `00-${traceId}-${spanId}-01`
  })
  expect(mcp.seen.find(({ path }) => path === '/weather')?.headers.traceparent).toBe(weather)
  const params = mcp.seen.find(({ message }) => message?.method === 'tools/call')?.message?.params
  expect(params).toMatchObject({ _meta: { traceparent: called } })
})

it('has none for the agent of an attempt, which gets no tools: its call of the model is a step of the task', async () => {
  const { service } = proxied
  await service.call('POST /api/v1/tasks', { payload: aiTask('writes') })
  const { identity } = await service.runTask('writes')
  const provider = { namespace: 'default', name: 'vendor' }
  const grant = { ...identity, provider, maxTokens: 1_000_000, expiresAt: '2999-01-01T00:00:00Z' }
  callTools({ name: 'file_write', input: { path: 'notes.txt', content: 'hello' } })
  await ask(await service.ports.agentTokens?.mint(grant))
  expect(JSON.parse(proxied.upstream.last().body.toString()).tools).toBeUndefined()
  await expect.poll(() => sent.map(({ subject }) => subject.task?.name)).toEqual(['writes'])
  const { items } = (await service.call('GET /api/v1/tasks/writes/trace')).json() as { items: TraceStep[] }
  expect(items).toMatchObject([{ kind: 'model', parent: '0', name: 'm', model: { inputTokens: 15, outputTokens: 5 } }])
})
