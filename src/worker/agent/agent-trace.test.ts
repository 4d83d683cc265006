// From the lines that agent programs print to the steps of their trace.
import { expect, it } from 'vitest'
import { plainJob } from '../../../test/fixtures/agents/job.ts'
import { createAcpReader } from '../../agents/acp/client.ts'
import type { AgentReader } from '../../agents/agent-runtime.ts'
import { createCodehostCliReader } from '../../agents/codehost-cli.ts'
import { createLlmaCliReader } from '../../agents/llma-cli.ts'
import { createLlmoCliReader } from '../../agents/llmo-cli.ts'
import { createOpencodeReader } from '../../agents/opencode.ts'
import { systemClock } from '../../lib/system-clock.ts'
import { createTrace } from '../../llm/trace/step-trace.ts'
import { createAgentTrace } from './agent-trace.ts'

async function traceLines(reader: AgentReader, lines: object[]) {
  const clock = systemClock
  const redact = (text: string) => text.replaceAll('hidden-word', '***')
  const trace = createTrace({ send: async () => undefined, redact, clock, name: 'attempt 1' })
  const write = createAgentTrace(trace)
  for (const line of lines) reader.read(JSON.stringify(line)).events.forEach(write)
  const [root, ...steps] = (await trace.finish({ outcome: 'ok' })).toSorted((a, b) => Number(a.id) - Number(b.id))
  expect(root).toMatchObject({ kind: 'attempt', outcome: 'ok' })
  for (const { parent } of steps) expect(parent).toBe(root?.id)
  return steps.map(({ kind, name, input, output, outcome, edits }) => ({ kind, name, input, output, outcome, edits }))
}

const ofLlma = [
  { type: 'system', subtype: 'init', session_id: 's' },
  {
    type: 'assistant',
    message: { id: 'm1', content: [{ type: 'thinking', thinking: 'The file first.', signature: 'x' }] },
  },
  { type: 'assistant', message: { id: 'm1', content: [{ type: 'text', text: 'I look.' }] } },
  {
    type: 'assistant',
    message: { id: 'm1', content: [{ type: 'tool_use', id: 't1', name: 'Edit', input: { file_path: '/w/a' } }] },
  },
  {
    type: 'user',
    message: { content: [{ type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'edited' }] }] },
  },
]
const ofLlmo = [
  { type: 'thread.started', thread_id: 's' },
  { type: 'item.completed', item: { id: 'i0', type: 'reasoning', text: 'The file first.' } },
  { type: 'item.completed', item: { id: 'i1', type: 'agent_message', text: 'I look.' } },
  { type: 'item.started', item: { id: 'i2', type: 'file_change', changes: [{ path: '/w/a' }], status: 'in_progress' } },
  {
    type: 'item.completed',
    item: {
      id: 'i2',
      type: 'file_change',
      changes: [{ path: '/w/a' }],
      status: 'completed',
      aggregated_output: 'edited',
    },
  },
]
const ofCodehost = [
  { type: 'assistant.reasoning', data: { reasoningId: 'r', content: 'The file first.' } },
  { type: 'assistant.message', data: { content: 'I look.' } },
  { type: 'tool.execution_start', data: { toolCallId: 't', toolName: 'edit', arguments: { path: '/w/a' } } },
  { type: 'tool.execution_complete', data: { toolCallId: 't', success: true, result: { content: 'edited' } } },
]
const state = { status: 'completed', input: { filePath: '/w/a' }, output: 'edited' }
const ofOpencode = [
  { type: 'reasoning', sessionID: 's', part: { text: 'The file first.' } },
  { type: 'text', sessionID: 's', part: { text: 'I look.' } },
  { type: 'tool_use', sessionID: 's', part: { tool: 'edit', callID: 'c', state } },
]
const update = (content: object) => ({
  jsonrpc: '2.0',
  method: 'session/update',
  params: { sessionId: 's', update: content },
})
const chunk = (kind: string, text: string) =>
  update({ sessionUpdate: `agent_${kind}_chunk`, content: { type: 'text', text } })
const acpCall = {
  toolCallId: 't',
  title: 'Edit',
  kind: 'edit',
  locations: [{ path: '/w/a' }],
  rawInput: { path: '/w/a' },
}
const ofAcp = [
  { jsonrpc: '2.0', id: 0, result: {} },
  { jsonrpc: '2.0', id: 1, result: { sessionId: 's' } },
  chunk('thought', 'The file '),
  chunk('thought', 'first.'),
  chunk('message', 'I look.'),
  update({ sessionUpdate: 'tool_call', status: 'pending', ...acpCall }),
  update({
    sessionUpdate: 'tool_call_update',
    toolCallId: 't',
    status: 'completed',
    content: [{ type: 'content', content: { type: 'text', text: 'edited' } }],
  }),
]

it.each([
  ['llma-cli', createLlmaCliReader(), ofLlma],
  ['llmo-cli', createLlmoCliReader(), ofLlmo],
  ['codehost-cli', createCodehostCliReader(), ofCodehost],
  ['opencode', createOpencodeReader(), ofOpencode],
  ['acp', createAcpReader(plainJob), ofAcp],
])('what %s thinks, says and edits are steps', async (_name, reader, lines) => {
  expect(await traceLines(reader, lines)).toMatchObject([
    { kind: 'thinking', output: 'The file first.', outcome: 'ok' },
    { kind: 'text', output: 'I look.' },
    { kind: 'tool', input: expect.stringContaining('/w/a'), edits: ['/w/a'], output: 'edited', outcome: 'ok' },
  ])
})

it('commands of a program are tools, with what they printed, a refusal with its reason, and no secret', async () => {
  const item = { id: 'i', type: 'command_execution', command: 'cat hidden-word', aggregated_output: '' }
  const command = await traceLines(createLlmoCliReader(), [
    { type: 'item.started', item: { ...item, status: 'in_progress' } },
    { type: 'item.completed', item: { ...item, aggregated_output: 'no hidden-word', exit_code: 1, status: 'failed' } },
  ])
  expect(command).toMatchObject([
    { kind: 'tool', name: 'command_execution', input: '{"command":"cat ***"}', output: 'no ***', outcome: 'failed' },
  ])
  const denied = { type: 'system', subtype: 'permission_denied', tool_name: 'WebFetch', message: 'not here' }
  expect(await traceLines(createLlmaCliReader(), [denied])).toMatchObject([{ name: 'WebFetch', outcome: 'refused' }])
})

it('a tool that reports no end has none, and one whose input cannot be written has no input', async () => {
  const trace = createTrace({
    send: async () => undefined,
    redact: (text) => text,
    clock: systemClock,
    name: 'attempt 1',
  })
  const write = createAgentTrace(trace)
  const circle: Record<string, unknown> = {}
  circle.self = circle
  write({
    type: 'tool_started',
    id: '1',
    name: 'Odd',
    input: circle,
    edits: Array.from({ length: 50 }, () => 'a'.repeat(999)),
  })
  write({ type: 'tool_ended', id: 'unknown', isError: false })
  const steps = await trace.finish({ outcome: 'ok' })
  const tool = steps.find(({ kind }) => kind === 'tool')
  expect(tool).toMatchObject({ input: '', edits: Array.from({ length: 20 }, () => 'a'.repeat(300)) })
  expect(tool?.outcome).toBeUndefined()
})
