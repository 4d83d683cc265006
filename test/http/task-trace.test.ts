// The trace of a task: reported by its attempt, read by people.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { EndSubmit } from '../../src/contract/api/tasks/attempt-end.ts'
import type { StepReport } from '../../src/contract/api/tasks/steps.ts'
import type { TraceStep } from '../../src/contract/api/tasks/trace.ts'
import { createLoopTrace } from '../../src/llm/trace/loop-trace.ts'
import { createTrace } from '../../src/llm/trace/step-trace.ts'
import { createWorkerApi } from '../../src/worker/api.ts'
import { aiTask, ownerToken, type Service, startService } from './service.ts'

let service: Service
let url: string
let api: ReturnType<typeof createWorkerApi>
let name: string
let count = 0

beforeAll(async () => {
  service = await startService()
  url = await service.listen()
})
afterAll(() => service.stop())
beforeEach(async () => {
  name = `traced-${++count}`
  await service.call('POST /api/v1/tasks', { payload: aiTask(name) })
  const { token } = await service.runTask(name)
  const { signal } = new AbortController()
  api = createWorkerApi({
    api: { url, token },
    task: { namespace: 'default', name },
    clock: service.ports.clock,
    signal,
  })
})

async function read(query = ''): Promise<{ items: TraceStep[]; metadata: { continue?: string } }> {
  return (await service.call(`GET /api/v1/tasks/${name}/trace${query}`)).json()
}

const usage = { inputTokens: 9, outputTokens: 4, cachedTokens: 3 }
const provider = { namespace: 'default', name: 'p' }

/** A loop whose first provider fails, and which calls one tool. */
async function runLoop(send = api.reportSteps): Promise<StepReport[]> {
  const redact = (text: string) => text.replaceAll('hidden-word', '***')
  const trace = createTrace({ send, redact, clock: service.ports.clock, name: 'attempt 1' })
  const loop = createLoopTrace(trace)
  loop.noteBegin({ provider, model: 'first' })
  loop.noteEnd({ provider, error: { reason: 'VendorFailed', message: 'the vendor answered 500' } as never })
  loop.noteBegin({ provider, model: 'second' })
  loop.noteEnd({ provider, firstTokenMs: 5 })
  loop.noteServed({ provider, model: 'second', usage, cost: { cost: 0.25, currency: 'USD' }, demo: false })
  loop.note({ type: 'turn', iteration: 0, turn: { stopReason: 'tool_use', usage } as never })
  const call = { id: 'c', name: 'file_read', args: { path: 'hidden-word' } }
  loop.note({ type: 'tool_call', call })
  loop.note({ type: 'tool_result', call, result: { content: `${'x'.repeat(5000)}`, isError: false } })
  return trace.finish({ outcome: 'ok' })
}

it('comes whole with the end of a short attempt, which makes no call for it', async () => {
  let calls = 0
  const steps = await runLoop(async () => {
    calls += 1
  })
  await api.submitEnd(EndSubmit.parse({ ok: true, result: 'done', steps }))
  const { items } = await read()
  expect(calls).toBe(0)
  const model = (more: object) => ({ kind: 'model', parent: '0', ...more })
  expect(items.toSorted((a, b) => Number(a.id) - Number(b.id))).toMatchObject([
    { id: '0', kind: 'attempt', attempt: 1, outcome: 'ok' },
    model({ id: '1', outcome: 'failed', error: 'the vendor answered 500', model: { name: 'first', inputTokens: 0 } }),
    model({
      id: '2',
      outcome: 'ok',
      model: { provider: 'default/p', name: 'second', ...usage, cost: 0.25, firstTokenMs: 5, finishReason: 'tool_use' },
    }),
    { id: '3', parent: '2', kind: 'tool', input: '{"path":"***"}', outputBytes: 5000, output: 'x'.repeat(2000) },
  ])
})

it('is paged, and filtered by kind and attempt', async () => {
  await api.reportSteps({ steps: await runLoop() })
  const kinds = (await read('?kind=tool,attempt')).items.map(({ kind }) => kind)
  expect(kinds.toSorted()).toEqual(['attempt', 'tool'])
  expect((await read('?attempt=2')).items).toEqual([])
  const first = await read('?limit=3')
  const second = await read(`?limit=3&continue=${first.metadata.continue}`)
  expect([first.items.length, second.items.length, second.metadata.continue]).toEqual([3, 1, undefined])
  expect((await service.call(`GET /api/v1/tasks/${name}/trace?kind=toll`)).statusCode).toBe(400)
})

it('shows a step that nobody ended as interrupted once its attempt is over', async () => {
  const step: StepReport = { id: '0', kind: 'attempt', name: 'attempt 1', startedAt: new Date().toISOString() }
  await api.reportSteps({ steps: [step] })
  expect((await read()).items[0]?.outcome).toBeUndefined()
  await service.setStatus('Task', name, { phase: 'Failed', attempts: 1 })
  expect((await read()).items[0]?.outcome).toBe('interrupted')
})

/** The outcomes of the steps of a live stream, read from after step `from`, until `text` has come; then the service does `next`. */
async function follow(from: number, next: () => Promise<unknown>): Promise<[string, string | undefined][]> {
  const response = await fetch(`${url}/api/v1/tasks/${name}/trace?follow=true`, {
    headers: { authorization: `Bearer ${ownerToken}`, ...(from > 0 && { 'last-event-id': String(from) }) },
  })
  let text = ''
  for await (const chunk of response.body ?? []) {
    if (text === '') await next()
    text += Buffer.from(chunk).toString()
  }
  return [...text.matchAll(/^data: (\{.*"seq".*)$/gm)].map(([, data = '']) => {
    const { attempt, id, outcome } = JSON.parse(data) as TraceStep
    return [`${attempt}/${id}`, outcome]
  })
}

it('shows in the live stream what an attempt left open as interrupted, also to a reader who comes back', async () => {
  const open = (id: string): StepReport => ({ id, kind: 'tool', name: 'x', startedAt: new Date().toISOString() })
  await api.reportSteps({ steps: [open('0'), { ...open('1'), outcome: 'ok' }] })
  const seen = await follow(0, () => service.setStatus('Task', name, { phase: 'Failed', attempts: 1 }))
  expect(seen).toEqual([
    ['1/0', undefined],
    ['1/1', 'ok'],
    ['1/0', 'interrupted'],
  ])
  expect(await follow(2, async () => undefined)).toEqual([['1/0', 'interrupted']])
})

it('belongs to the trace of the caller who created the task', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  for (const [sent, stored] of [
    [traceparent, traceparent],
    ['none', undefined],
  ]) {
    const payload = aiTask(`from-${sent}`)
    const answer = await service.call('POST /api/v1/tasks', { payload, headers: { traceparent: String(sent) } })
    expect(answer.statusCode).toBe(201)
    expect(answer.json().metadata.annotations?.['svc.ai/traceparent']).toBe(stored)
  }
})
