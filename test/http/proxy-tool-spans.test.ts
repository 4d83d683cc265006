// Calls of the service's tools in the loop of a proxy: spans of the request, and of nobody who is an agent.
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { StepReport } from '../../src/contract/api/tasks/steps.ts'
import type { TraceStep } from '../../src/contract/api/tasks/trace.ts'
import type { StepSubject } from '../../src/rules/tasks/step-spans.ts'
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
  proxied = await startProxied({ builtinTools: ['file_write'], usecases: { onSteps } })
  await proxied.addProvider('vendor', { defaultModel: 'm' })
})
afterAll(() => proxied.stop())
afterEach(() => {
  proxied.upstream.reset()
  sent.length = 0
})

/** The vendor has `file_write` called once, and then says its last word. */
function callTool(input: object): void {
  const use = { type: 'tool_use', id: 'toolu_1', name: 'file_write', input }
  const call = { ...llmaAnswer, content: [use], stop_reason: 'tool_use' }
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
  callTool(input)
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

it('has none for the agent of an attempt, which gets no tools: its call of the model is a step of the task', async () => {
  const { service } = proxied
  await service.call('POST /api/v1/tasks', { payload: aiTask('writes') })
  const { identity } = await service.runTask('writes')
  const provider = { namespace: 'default', name: 'vendor' }
  const grant = { ...identity, provider, maxTokens: 1_000_000, expiresAt: '2999-01-01T00:00:00Z' }
  callTool({ path: 'notes.txt', content: 'hello' })
  await ask(await service.ports.agentTokens?.mint(grant))
  expect(JSON.parse(proxied.upstream.last().body.toString()).tools).toBeUndefined()
  await expect.poll(() => sent.map(({ subject }) => subject.task?.name)).toEqual(['writes'])
  const { items } = (await service.call('GET /api/v1/tasks/writes/trace')).json() as { items: TraceStep[] }
  expect(items).toMatchObject([{ kind: 'model', parent: '0', name: 'm', model: { inputTokens: 15, outputTokens: 5 } }])
})
