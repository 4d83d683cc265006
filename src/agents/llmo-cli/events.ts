// Codex: what `exec --json` says.
import { z } from 'zod'
import { parseLine } from '../json-line.ts'
import { type AgentEvent, type AgentReader, type AgentReading, nothing } from '../runtime.ts'
import { createTurns } from '../turns.ts'

const Message = z.object({ type: z.literal('agent_message'), text: z.string() })
const Tool = z.looseObject({
  id: z.string(),
  type: z.enum(['command_execution', 'file_change', 'mcp_tool_call', 'web_search']),
  status: z.string().optional(),
  changes: z.array(z.object({ path: z.string() })).optional(),
})
type Tool = z.infer<typeof Tool>

const Item = z.union([Message, Tool])
type Item = z.infer<typeof Item>

const Line = z.union([
  z.object({ type: z.literal('thread.started'), thread_id: z.string() }),
  z.object({ type: z.enum(['item.started', 'item.completed']), item: Item }),
  z.object({ type: z.literal('error'), message: z.string() }),
  z.object({ type: z.literal('turn.completed') }),
  z.object({ type: z.literal('turn.failed'), error: z.object({ message: z.string() }) }),
])

/** What it calls a turn is a whole run. */
export function createLlmoCliReader(): AgentReader {
  const turns = createTurns()
  let answer: string | undefined

  function startTool({ id, type, status: _, ...input }: Tool): AgentEvent[] {
    const edits = input.changes === undefined ? {} : { edits: input.changes.map(({ path }) => path) }
    return [...turns.startTool(id), { type: 'tool_started', id, name: type, input, ...edits }]
  }

  /** Some are told only when they are done. */
  function endTool(tool: Tool): AgentEvent[] {
    const started = turns.isRunning(tool.id) ? [] : startTool(tool)
    turns.endTool(tool.id)
    return [...started, { type: 'tool_ended', id: tool.id, isError: tool.status !== 'completed' }]
  }

  function endRun(): AgentReading {
    return { events: answer === undefined ? [] : [{ type: 'result', text: answer }], isOver: true }
  }

  function readItem(type: 'item.started' | 'item.completed', item: Item): AgentEvent[] {
    const isDone = type === 'item.completed'
    if (item.type !== 'agent_message') return isDone ? endTool(item) : startTool(item)
    if (!isDone) return []
    answer = item.text
    return [...turns.speak(), { type: 'text', text: item.text }]
  }

  return {
    read(line) {
      const event = parseLine(Line, line)
      switch (event?.type) {
        case 'thread.started':
          return { events: [{ type: 'session', id: event.thread_id }] }
        case 'turn.completed':
          return endRun()
        case 'error':
          return { events: /reconnect|retry/i.test(event.message) ? [{ type: 'retried', message: event.message }] : [] }
        case 'turn.failed':
          return { events: [{ type: 'failed', message: event.error.message, reason: 'other' }], isOver: true }
        case 'item.started':
        case 'item.completed':
          return { events: readItem(event.type, event.item) }
        default:
          return nothing
      }
    },
  }
}
