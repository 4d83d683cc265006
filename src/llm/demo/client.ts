// The demo provider: follows simple instructions with real tool calls. It is not a language model, and says so
// (PROV-014).
import { demoLabel, nothingUnderstood, notUnderstood } from '../../contract/kinds/providers/demo.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ModelClient } from '../call/model-client.ts'
import { type Message, type ModelEvent, type ModelRequest, noUsage, textOf } from '../messages/messages.ts'
import { type DemoAction, type DemoStep, describeInstructions, planSteps } from './instructions.ts'

const callId = /^demo_(\d+)_(\d+)$/

type Done = { step: number; name: string; content: string; isError: boolean }

type Position = { steps: DemoStep[]; done: Done[]; next: number; serial: number }

function hasResult(message: Message): boolean {
  return message.content.some((block) => block.type === 'tool_result')
}

function listCalls(messages: Message[]): Omit<Done, 'content' | 'isError'>[] {
  const uses = messages.flatMap((message) => message.content.filter((block) => block.type === 'tool_use'))
  return uses.map((use) => ({ step: Number(callId.exec(use.id)?.[2] ?? 0), name: use.name }))
}

function findSerial(messages: Message[]): number {
  const ids = messages.flatMap((message) =>
    message.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])),
  )
  return 1 + Math.max(0, ...ids.map((id) => Number(callId.exec(id)?.[1] ?? 0)))
}

/** Everything is derived from the conversation, so that the same conversation always has the same answer. */
function findPosition(request: ModelRequest): Position {
  const { messages } = request
  const start = messages.findLastIndex((message) => message.role === 'user' && !hasResult(message))
  const prompt = messages[start]
  const after = messages.slice(start + 1)
  const calls = listCalls(after)
  const results = after.flatMap((message) => message.content.filter((block) => block.type === 'tool_result'))
  const done = results.map((result, index) => ({
    step: 0,
    name: '',
    ...calls[index],
    content: result.content,
    isError: result.isError,
  }))
  const last = calls.at(-1)
  return {
    steps: prompt === undefined ? [] : planSteps(textOf(prompt)),
    done,
    next: last === undefined ? 0 : last.step + 1,
    serial: findSerial(messages),
  }
}

function isOffered(
  request: ModelRequest,
  action: DemoAction | undefined,
): action is Extract<DemoAction, { kind: 'tool' }> {
  return action?.kind === 'tool' && request.tools.some((tool) => tool.name === action.name)
}

function clip(text: string): string {
  return text.length > 2000 ? `${text.slice(0, 2000)}...` : text
}

function describeStep(step: DemoStep, index: number, position: Position): string {
  const opening = `${index + 1}. ${clip(step.text)}`
  if (step.action === undefined) return `${opening}\n   ${notUnderstood}`
  if (step.action.kind === 'say') return `${opening}\n   ${step.action.text}`
  if (step.action.kind === 'wait') return `${opening}\n   waited`
  const done = position.done.find((result) => result.step === index)
  if (done !== undefined)
    return `${opening}\n   ${done.name} ${done.isError ? 'failed' : 'answered'}: ${clip(done.content)}`
  return `${opening}\n   not done: the tool ${step.action.name} was not offered`
}

function writeAnswer(position: Position): string {
  const { steps } = position
  if (!steps.some((step) => step.action !== undefined)) {
    const prompt = steps.map((step) => step.text).join(' ')
    return `${demoLabel}\n${nothingUnderstood}"${clip(prompt)}"\nIt follows these:\n${describeInstructions()}`
  }
  const lines = steps.map((step, index) => describeStep(step, index, position))
  return `${demoLabel}\nThe instructions were followed step by step:\n${lines.join('\n')}`
}

/** In pieces, like a real model. */
function* streamText(text: string): Generator<ModelEvent> {
  yield { type: 'block_start', index: 0, block: 'text' }
  for (let at = 0; at < text.length; at += 64) yield { type: 'text_delta', index: 0, text: text.slice(at, at + 64) }
  yield { type: 'block_stop', index: 0 }
  yield { type: 'stop', reason: 'end_turn' }
}

function* streamCall(id: string, action: Extract<DemoAction, { kind: 'tool' }>): Generator<ModelEvent> {
  const json = JSON.stringify(action.args)
  const middle = Math.ceil(json.length / 2)
  yield { type: 'tool_use_start', index: 0, id, name: action.name }
  yield { type: 'args_delta', index: 0, json: json.slice(0, middle) }
  yield { type: 'args_delta', index: 0, json: json.slice(middle) }
  yield { type: 'block_stop', index: 0 }
  yield { type: 'stop', reason: 'tool_use' }
}

export function createDemoClient(deps: { clock: Clock }): ModelClient {
  async function* answer(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const position = findPosition(request)
    yield { type: 'start', model: request.model ?? 'demo' }
    yield { type: 'usage', usage: { ...noUsage } }
    for (const [offset, { action }] of position.steps.slice(position.next).entries()) {
      if (action?.kind === 'wait') await deps.clock.sleep(action.seconds * 1000, signal)
      if (isOffered(request, action)) {
        return yield* streamCall(`demo_${position.serial}_${position.next + offset}`, action)
      }
    }
    yield* streamText(writeAnswer(position))
  }

  return {
    async call(request, { signal, take }) {
      try {
        for await (const event of answer(request, signal)) await take([event])
      } catch {
        await take([{ type: 'error', error: { reason: 'Stopped', message: 'The call was cancelled.' } }])
      }
    },
  }
}
