// GitHub Copilot CLI: what `--output-format json` says.
import { z } from 'zod'
import { findEdits } from '../edits.ts'
import { parseLine } from '../json-line.ts'
import { type AgentEvent, type AgentReader, nothing } from '../runtime.ts'

const editing = { create: 'path', edit: 'path', str_replace_editor: 'path' }

const Line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('assistant.turn_start') }),
  z.object({ type: z.literal('assistant.message'), data: z.object({ content: z.string() }) }),
  z.object({
    type: z.literal('tool.execution_start'),
    data: z.object({ toolCallId: z.string(), toolName: z.string(), arguments: z.unknown() }),
  }),
  z.object({
    type: z.literal('tool.execution_complete'),
    data: z.object({ toolCallId: z.string(), success: z.boolean() }),
  }),
  z.object({ type: z.literal('session.error'), data: z.object({ message: z.string() }) }),
  z.object({ type: z.literal('result'), sessionId: z.string(), exitCode: z.number() }),
])
type Line = z.infer<typeof Line>

export function createCodehostCliReader(): AgentReader {
  let answer: string | undefined
  let error = 'The program gave no reason.'

  /** Only its last line names the session. */
  function endRun({ sessionId, exitCode }: Extract<Line, { type: 'result' }>): AgentEvent[] {
    const session = { type: 'session' as const, id: sessionId }
    if (exitCode !== 0) return [session, { type: 'failed', message: error, reason: 'other' }]
    return answer === undefined ? [session] : [session, { type: 'result', text: answer }]
  }

  return {
    read(line) {
      const event = parseLine(Line, line)
      switch (event?.type) {
        case undefined:
          return nothing
        case 'assistant.turn_start':
          return { events: [{ type: 'turn' }] }
        case 'assistant.message':
          if (event.data.content === '') return nothing
          answer = event.data.content
          return { events: [{ type: 'text', text: answer }] }
        case 'tool.execution_start': {
          const { toolCallId: id, toolName: name, arguments: input } = event.data
          return { events: [{ type: 'tool_started', id, name, input, ...findEdits(editing, name, input) }] }
        }
        case 'tool.execution_complete':
          return { events: [{ type: 'tool_ended', id: event.data.toolCallId, isError: !event.data.success }] }
        case 'session.error':
          error = event.data.message
          return nothing
        case 'result':
          return { events: endRun(event), isOver: true }
      }
    },
  }
}
