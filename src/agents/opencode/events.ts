// opencode: what `run --format json` says.
import { z } from 'zod'
import { findEdits } from '../edits.ts'
import { parseLine } from '../json-line.ts'
import { type AgentEvent, type AgentReader, longestAnswer, nothing, tooLong } from '../runtime.ts'

const editing = { edit: 'filePath', write: 'filePath' }

const Tool = z.object({
  tool: z.string(),
  callID: z.string(),
  state: z.object({ status: z.string(), input: z.unknown(), error: z.string().optional() }),
})
type Tool = z.infer<typeof Tool>

const inSession = { sessionID: z.string() }
const Line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('step_start'), ...inSession }),
  z.object({ type: z.literal('text'), ...inSession, part: z.object({ text: z.string() }) }),
  z.object({ type: z.literal('tool_use'), ...inSession, part: Tool }),
  z.object({ type: z.literal('step_finish'), ...inSession, part: z.object({ reason: z.string() }) }),
  z.object({
    type: z.literal('error'),
    ...inSession,
    error: z.looseObject({
      name: z.string().optional(),
      data: z.looseObject({ message: z.string().optional() }).optional(),
    }),
  }),
])
type Line = z.infer<typeof Line>

/** Tools are told once they have ended. */
function readTool({ tool, callID, state }: Tool): AgentEvent[] {
  const isError = state.status !== 'completed'
  const isRefused = isError && /rule which prevents|permission/i.test(state.error ?? '')
  return [
    { type: 'tool_started', id: callID, name: tool, input: state.input, ...findEdits(editing, tool, state.input) },
    { type: 'tool_ended', id: callID, isError },
    ...(isRefused ? [{ type: 'refused' as const, tool, message: state.error ?? '' }] : []),
  ]
}

export function createOpencodeReader(): AgentReader {
  let session: string | undefined
  let answer = ''

  function readPart(event: Line): AgentEvent[] {
    switch (event.type) {
      case 'step_start':
        answer = ''
        return [{ type: 'turn' }]
      case 'text':
        answer += event.part.text
        if (answer.length > longestAnswer) return [tooLong]
        return [{ type: 'text', text: event.part.text }]
      case 'tool_use':
        return readTool(event.part)
      case 'step_finish':
        return event.part.reason === 'tool-calls' ? [] : [{ type: 'result', text: answer }]
      case 'error': {
        const { name, data } = event.error
        return [{ type: 'failed', message: data?.message ?? name ?? 'unknown error', reason: 'other' }]
      }
    }
  }

  return {
    read(line) {
      const event = parseLine(Line, line)
      if (event === undefined) return nothing
      const isNew = session !== event.sessionID
      session = event.sessionID
      return { events: [...(isNew ? [{ type: 'session' as const, id: session }] : []), ...readPart(event)] }
    },
  }
}
