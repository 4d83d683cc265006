// The Agent Client Protocol, version 1: the part of its messages that a run needs. One JSON-RPC message a line.
import { z } from 'zod'

export const protocolVersion = 1

/** Of a tool call, and of what is told about it later. */
const ToolCall = z.object({
  toolCallId: z.string(),
  title: z.string().nullish(),
  /** `read`, `edit`, `execute` and others. */
  kind: z.string().nullish(),
  status: z.string().nullish(),
  rawInput: z.unknown().optional(),
  locations: z.array(z.object({ path: z.string() })).nullish(),
})
export type ToolCall = z.infer<typeof ToolCall>

const Update = z.union([
  z.object({ sessionUpdate: z.literal('agent_message_chunk'), content: z.object({ text: z.string().default('') }) }),
  ToolCall.extend({ sessionUpdate: z.enum(['tool_call', 'tool_call_update']) }),
])
export type Update = z.infer<typeof Update>

export const PermissionRequest = z.object({
  toolCall: ToolCall,
  options: z.array(z.object({ optionId: z.string(), kind: z.string() })),
})
export type PermissionRequest = z.infer<typeof PermissionRequest>

export const Initialized = z.object({
  agentCapabilities: z
    .object({
      loadSession: z.boolean().optional(),
      sessionCapabilities: z.object({ resume: z.unknown().optional() }).optional(),
    })
    .default({}),
})

export const Opened = z.object({ sessionId: z.string().optional() }).nullable()
export const Prompted = z.object({ stopReason: z.string() })

export const Message = z.union([
  z.object({ method: z.literal('session/update'), params: z.object({ update: Update }) }),
  z.object({ id: z.union([z.string(), z.number()]), method: z.string(), params: z.unknown() }),
  z.object({ id: z.number(), error: z.object({ message: z.string() }) }),
  z.object({ id: z.number(), result: z.unknown() }),
])
export type Message = z.infer<typeof Message>

export function writeMessage(message: object): string {
  return `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
}
