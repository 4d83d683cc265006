// The steps of a loop: its calls of models with what they used, of tools, and what it does with its conversation.
import type { StepReport } from '../../contract/api/tasks/steps.ts'
import { isJsonObject, tryParseJson } from '../../lib/json.ts'
import type { ServedCall } from '../call/model-client.ts'
import type { BegunCall, EndedCall } from '../call/router.ts'
import type { LoopEvent } from '../loop/loop.ts'
import type { ToolCall, ToolResult } from '../loop/tool-host.ts'
import type { ModelError, Turn } from '../messages/messages.ts'
import type { OpenStep, Trace } from './step-trace.ts'

export type LoopTrace = {
  /** One try at a provider; a retry and a fallback are tries of their own. */
  noteBegin(call: BegunCall): void
  noteEnd(call: EndedCall): void
  /** What the try that ended last has used. */
  noteServed(call: ServedCall): void
  note(event: LoopEvent): void
  /** The step that a call of a tool is, from when it was noted until it has ended. */
  stepOf(call: string): string | undefined
  /** Saves, as a step. */
  save(work: () => Promise<void>): Promise<void>
}

type Model = NonNullable<StepReport['model']>
type Try = { step: OpenStep; model: Model; outcome: StepReport['outcome']; error?: string }

/** Tools whose calls are more than that. */
const kinds: Partial<Record<string, StepReport['kind']>> = {
  delegate_task: 'task',
  create_container_task: 'task',
  request_approval: 'approval',
}

const nameOf = ({ namespace, name }: BegunCall['provider']) => `${namespace}/${name}`

/** The task that a call has made, if it says so. */
function findTask({ content, isError }: ToolResult): { task?: string } {
  const answer = isError ? undefined : tryParseJson(content)
  return isJsonObject(answer) && typeof answer.taskName === 'string' ? { task: answer.taskName } : {}
}

export function createLoopTrace(trace: Trace): LoopTrace {
  const tools = new Map<string, { step: OpenStep; isTask: boolean }>()
  let current: Try | undefined

  function endTry(call: Try, more: Partial<Model> = {}): void {
    Object.assign(call.model, more)
    call.step.end({ outcome: call.outcome, model: { ...call.model }, ...(call.error && { error: call.error }) })
  }

  function noteTurn({ stopReason }: Turn): void {
    if (current !== undefined && stopReason !== undefined) endTry(current, { finishReason: stopReason })
  }

  function beginTool({ id, name, args }: ToolCall): void {
    const kind = kinds[name] ?? 'tool'
    const step = trace.begin({ kind, name, parent: current?.step.id, input: JSON.stringify(args) })
    tools.set(id, { step, isTask: kind === 'task' })
  }

  /** A call that was refused has not begun. */
  function endTool({ id, name }: ToolCall, result: ToolResult): void {
    const open = tools.get(id) ?? { step: trace.begin({ kind: 'tool', name, parent: current?.step.id }), isTask: false }
    tools.delete(id)
    open.step.end({
      outcome: result.isError ? 'failed' : 'ok',
      output: result.content,
      ...(open.isTask && findTask(result)),
    })
  }

  function noteDiscarded({ reason }: ModelError): void {
    if (reason !== 'ContextTooLong') return
    trace.begin({ kind: 'compaction', name: 'half of the conversation is left out' }).end({ outcome: 'ok' })
  }

  function park(): void {
    for (const { step } of tools.values()) step.end({ outcome: 'waiting' })
    trace.begin({ kind: 'park', name: 'waits, and goes on later' }).end({ outcome: 'waiting' })
  }

  return {
    noteBegin({ provider, model }) {
      const step = trace.begin({ kind: 'model', name: model || nameOf(provider) })
      const counts = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 }
      current = { step, model: { provider: nameOf(provider), name: model, ...counts }, outcome: undefined }
    },
    noteEnd({ error, firstTokenMs }) {
      if (current === undefined) return
      current.outcome = error === undefined ? 'ok' : 'failed'
      if (error !== undefined) current.error = error.message
      endTry(current, firstTokenMs === undefined ? {} : { firstTokenMs })
    },
    noteServed({ usage: { inputTokens, outputTokens, cachedTokens }, cost }) {
      if (current !== undefined) endTry(current, { inputTokens, outputTokens, cachedTokens, ...cost })
    },
    note(event) {
      switch (event.type) {
        case 'turn':
          return noteTurn(event.turn)
        case 'tool_call':
          return beginTool(event.call)
        case 'tool_result':
          return endTool(event.call, event.result)
        case 'discarded':
          return noteDiscarded(event.error)
        case 'finished':
          if (event.reason === 'parked') park()
      }
    },
    stepOf: (call) => tools.get(call)?.step.id,
    async save(work) {
      const step = trace.begin({ kind: 'checkpoint', name: 'conversation saved' })
      await work()
      step.end({ outcome: 'ok' })
    },
  }
}
