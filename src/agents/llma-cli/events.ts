// Claude Code: what `--output-format stream-json` says.
import { z } from 'zod'
import { findEdits } from '../edits.ts'
import { parseLine } from '../json-line.ts'
import { type AgentEvent, type AgentReader, nothing } from '../runtime.ts'

const editing = { Edit: 'file_path', MultiEdit: 'file_path', NotebookEdit: 'notebook_path', Write: 'file_path' }

const Block = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown() }),
  z.object({ type: z.literal('tool_result'), tool_use_id: z.string(), is_error: z.boolean().optional() }),
  z.object({ type: z.unknown() }).transform(() => ({ type: 'other' as const })),
])
type Block = z.infer<typeof Block>

const Message = z.object({
  type: z.enum(['assistant', 'user']),
  message: z.object({ id: z.string().optional(), content: z.union([z.string(), z.array(Block)]) }),
  /** Of a subagent. */
  parent_tool_use_id: z.string().nullish(),
})
type Message = z.infer<typeof Message>

const Result = z.object({
  type: z.literal('result'),
  subtype: z.string(),
  is_error: z.boolean(),
  result: z.string().optional(),
  errors: z.array(z.string()).optional(),
})

const Line = z.union([
  z.object({ type: z.literal('system'), subtype: z.literal('init'), session_id: z.string() }),
  z.object({
    type: z.literal('system'),
    subtype: z.literal('permission_denied'),
    tool_name: z.string(),
    message: z.string().default('not allowed'),
  }),
  z.object({
    type: z.literal('system'),
    subtype: z.literal('api_retry'),
    attempt: z.number(),
    max_retries: z.number(),
    error: z.string().default('no answer'),
  }),
  Message,
  Result,
])
type Line = z.infer<typeof Line>

function readBlock(block: Block): AgentEvent[] {
  switch (block.type) {
    case 'text':
      return [block]
    case 'tool_use':
      return [
        {
          type: 'tool_started',
          id: block.id,
          name: block.name,
          input: block.input,
          ...findEdits(editing, block.name, block.input),
        },
      ]
    case 'tool_result':
      return [{ type: 'tool_ended', id: block.tool_use_id, isError: block.is_error ?? false }]
    case 'other':
      return []
  }
}

/** A run whose vendor cannot be reached ends with the subtype `success`: only `is_error` counts. */
function readResult({ is_error, subtype, result, errors }: z.infer<typeof Result>): AgentEvent {
  if (!is_error) return { type: 'result', text: result ?? '' }
  const message = result ?? errors?.join('; ') ?? subtype
  return { type: 'failed', message, reason: subtype === 'error_max_turns' ? 'turns' : 'other' }
}

function readNotice(notice: Extract<Line, { type: 'system' }>): AgentEvent {
  switch (notice.subtype) {
    case 'init':
      return { type: 'session', id: notice.session_id }
    case 'permission_denied':
      return { type: 'refused', tool: notice.tool_name, message: notice.message }
    case 'api_retry':
      return { type: 'retried', message: `${notice.error}; try ${notice.attempt} of ${notice.max_retries}` }
  }
}

export function createLlmaCliReader(): AgentReader {
  let lastMessage: string | undefined

  /** Each block of an answer comes as a message of its own with the same id. */
  function readMessage({ type, message, parent_tool_use_id }: Message): AgentEvent[] {
    if (typeof message.content === 'string' || typeof parent_tool_use_id === 'string') return []
    const isTurn = type === 'assistant' && message.id !== lastMessage
    if (isTurn) lastMessage = message.id
    return [...(isTurn ? [{ type: 'turn' as const }] : []), ...message.content.flatMap(readBlock)]
  }

  return {
    read(line) {
      const event = parseLine(Line, line)
      if (event === undefined) return nothing
      if (event.type === 'result') return { events: [readResult(event)], isOver: true }
      return { events: event.type === 'system' ? [readNotice(event)] : readMessage(event) }
    },
  }
}
