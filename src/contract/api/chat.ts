// Chat: one turn of a conversation that orchestrates tasks, as an event stream or as one JSON body.
import { z } from 'zod'
import { Name } from '../resources/metadata.ts'
import { NamespaceQuery } from './list.ts'
import { defineRoute, errorResponses, ReadHeaders } from './route.ts'

const tag = 'Chat'

/** Name of a chat session: it is a label value of what the session makes, too. */
export const ChatSessionId = z
  .string()
  .min(1, 'must not be empty')
  .max(63, { abort: true })
  .regex(
    /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/,
    'must be letters, digits, ".", "_" and "-", starting and ending with a letter or digit',
  )

/** Body of POST /api/v1/chat (CHAT-003 to CHAT-014). */
export const ChatRequest = z
  .strictObject({
    /** What the user says. */
    message: z.string().refine((text) => text.trim() !== '', 'is required'),
    /** Session to go on with, made when it is missing; absent: a new one. */
    sessionId: ChatSessionId.optional(),
    /** Name of a Provider, instead of the default one. */
    provider: Name.optional(),
    /** Instead of the agent's or the provider's model. */
    model: z.string().min(1, 'must not be empty').max(256).optional(),
    /** Name of an Agent that supplies provider, model and temperature. */
    agentRef: Name.optional(),
    /** Added to the built-in prompt. */
    systemPrompt: z.string().max(262_144).optional(),
    /** Where tasks are made; absent: the caller's own. */
    namespace: Name.optional(),
    temperature: z.number().min(0).max(2).optional(),
    /** Most output tokens of one model call. */
    maxTokens: z.int().min(1).optional(),
  })
  .meta({ id: 'ChatRequest' })
export type ChatRequest = z.infer<typeof ChatRequest>

const count = z.int().min(0)

/** Sums over the model calls of a turn (CHAT-019). */
export const ChatUsage = z
  .object({
    inputTokens: count,
    outputTokens: count,
    llmCalls: count,
    toolCalls: count,
    tasksCreated: count,
    /** Go duration text. */
    duration: z.string(),
  })
  .meta({ id: 'ChatUsage' })
export type ChatUsage = z.infer<typeof ChatUsage>

const json = z.record(z.string(), z.unknown())

export const ChatToolCall = z.object({ name: z.string(), args: json, result: json }).meta({ id: 'ChatToolCall' })
export type ChatToolCall = z.infer<typeof ChatToolCall>

export const ChatResponse = z
  .object({
    sessionId: z.string(),
    /** The final answer. */
    message: z.string(),
    /** In the order in which the model made them. */
    toolCalls: z.array(ChatToolCall),
    usage: ChatUsage,
  })
  .meta({ id: 'ChatResponse' })
export type ChatResponse = z.infer<typeof ChatResponse>

/** Values of the `event:` line, in no order but: `status` is first, `done` is last. */
export const chatEvents = ['status', 'message', 'tool_call', 'tool_result', 'error', 'done'] as const
export type ChatEventName = (typeof chatEvents)[number]

/** The data of a frame; which fields are there depends on the event. */
export type ChatFrame = {
  sessionId: string
  /** status: name of the Provider and the model. */
  provider?: string
  model?: string
  /** message: a piece of text. */
  content?: string
  /** tool_call and tool_result; a result bears the id of its call. */
  toolCall?: { id: string; name: string; args: Record<string, unknown> }
  /** tool_result: what the tool gave back. */
  result?: Record<string, unknown>
  /** error: a stable word, and a sentence. */
  error?: { code: string; message: string }
  /** done. */
  usage?: ChatUsage
}

export const ChatConfig = z
  .object({
    enabled: z.boolean(),
    /** Empty: the Provider named `default`. */
    provider: z.string(),
    /** Empty: the provider's own. */
    model: z.string(),
    maxIterations: z.int(),
    /** Go duration text. */
    maxDuration: z.string(),
    /** Go duration text. */
    toolTimeout: z.string(),
    maxTasksPerTurn: z.int(),
    maxConcurrent: z.int(),
    /** Bytes. */
    maxSessionSize: z.int(),
    /** Names of all tools, those for management included. */
    availableTools: z.array(z.string()),
  })
  .meta({ id: 'ChatConfig' })
export type ChatConfig = z.infer<typeof ChatConfig>

export const sendChat = defineRoute({
  method: 'POST',
  path: '/api/v1/chat',
  tag,
  summary: 'Answer a chat message',
  /** An event stream unless JSON is preferred (RFC 9110 section 12.5.1). */
  headers: z.object({ accept: z.string().max(4096).optional() }),
  body: ChatRequest,
  responses: {
    200: { description: 'The turn: an event stream, or one body when JSON is preferred', schema: ChatResponse },
    ...errorResponses(404, 409, 429, 499, 501, 502, 529),
  },
  auth: 'user',
  verb: { verb: 'create', kind: 'Session' },
  stream: 'sse',
})

export const getChatConfig = defineRoute({
  method: 'GET',
  path: '/api/v1/chat/config',
  tag,
  summary: 'Settings and tools of chat',
  headers: ReadHeaders,
  responses: { 200: { description: 'The settings', schema: ChatConfig }, ...errorResponses(404) },
  auth: 'user',
})

export const cancelChat = defineRoute({
  method: 'DELETE',
  path: '/api/v1/chat/:sessionId',
  tag,
  summary: 'Cancel the running turn and delete the session',
  params: z.object({ sessionId: ChatSessionId }),
  query: NamespaceQuery,
  responses: { 204: { description: 'Deleted' }, ...errorResponses(404, 409) },
  auth: 'user',
  verb: { verb: 'delete', kind: 'Session' },
})
