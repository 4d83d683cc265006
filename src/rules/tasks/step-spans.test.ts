import { expect, it } from 'vitest'
import type { StepReport } from '../../contract/api/tasks/steps.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { makeStepSpan, stepSubjectOf } from './step-spans.ts'
import { annotateTrace, traceparentAnnotation, traceparentOf } from './trace-context.ts'

const caller = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const metadata = { name: 'nightly', namespace: 'default', uid: 'uid-1' }
const spec = { type: 'ai', agentRef: { name: 'researcher' } }
const task = { metadata, spec } as unknown as Task
const traced = { spec, metadata: { ...metadata, annotations: annotateTrace(caller) } } as unknown as Task
const startedAt = '2030-01-01T00:00:00.000Z'
const root: StepReport = { id: '0', kind: 'attempt', name: 'attempt 1', startedAt, durationMs: 10, outcome: 'ok' }
const model = {
  provider: 'default/p',
  name: 'm',
  inputTokens: 3,
  outputTokens: 2,
  cachedTokens: 1,
  cost: 0.5,
  currency: 'USD',
}
const chat: StepReport = { ...root, id: '1', parent: '0', kind: 'model', name: 'm', model }
const tool: StepReport = {
  ...root,
  id: '2',
  parent: '1',
  kind: 'tool',
  name: 'file_read',
  input: '{}',
  output: 'words',
}
const options = { attempt: 1, contents: false }
const spanOf = (step: StepReport, of = task, more = {}) =>
  makeStepSpan(stepSubjectOf(of), step, { ...options, ...more })

it('the spans of an attempt are a tree of the conventions, with ids that everybody computes alike', () => {
  const [attempt, call, run] = [root, chat, tool].map((step) => spanOf(step))
  expect(attempt).toMatchObject({ name: 'invoke_agent researcher', kind: 'internal' })
  expect(attempt?.context?.parentSpanId).toBeUndefined()
  expect(call).toMatchObject({
    name: 'chat m',
    kind: 'client',
    context: { traceId: attempt?.context?.traceId, parentSpanId: attempt?.context?.spanId },
    attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.usage.input_tokens': 3, 'svc.cost': 0.5 },
  })
  expect(run).toMatchObject({ name: 'execute_tool file_read', context: { parentSpanId: call?.context?.spanId } })
  expect(spanOf(tool)).toEqual(run)
  expect(spanOf(tool, task, { attempt: 2 })?.context?.spanId).not.toBe(run?.context?.spanId)
  expect(run?.endMs).toBe(Date.parse(startedAt) + 10)
})

it('a task that was created within a trace belongs to it, and hands it on', () => {
  const span = spanOf(root, traced)
  expect(span?.context).toMatchObject({
    traceId: '0af7651916cd43dd8448eb211c80319c',
    parentSpanId: 'b7ad6b7169203331',
  })
  expect(traceparentOf(traced, 1)).toBe(`00-0af7651916cd43dd8448eb211c80319c-${span?.context?.spanId}-01`)
  const of = spanOf(tool, traced)?.context?.spanId
  expect(traceparentOf(traced, 1, tool.id)).toBe(`00-0af7651916cd43dd8448eb211c80319c-${of}-01`)
})

it('what is no trace is ignored', () => {
  const zeros = caller.replace('0af7651916cd43dd8448eb211c80319c', '0'.repeat(32))
  for (const text of [undefined, '', 'x', zeros, `ff${caller.slice(2)}`, caller.toUpperCase()])
    expect(annotateTrace(text)).toEqual({})
  expect(annotateTrace(caller)).toEqual({ [traceparentAnnotation]: caller })
})

it('texts are sent only where they are wanted, and what has not ended is not sent', () => {
  expect(Object.keys(spanOf(tool)?.attributes ?? {})).not.toContain('gen_ai.tool.call.result')
  expect(spanOf(tool, task, { contents: true })?.attributes).toMatchObject({
    'gen_ai.tool.call.arguments': '{}',
    'gen_ai.tool.call.result': 'words',
  })
  const { outcome: _, ...open } = tool
  expect(spanOf(open)).toBeUndefined()
  expect(spanOf({ ...tool, outcome: 'failed' })).toMatchObject({ error: 'failed' })
})
