// Chat: a turn of a conversation that creates and manages tasks, as an event stream or as one JSON body.
import { z } from 'zod'
import { Name } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { NamespaceQuery } from '../resources/list.ts'
import { errorResponses, ReadHeaders, routesOf } from '../resources/route.ts'

/** Name of a chat session; also a label value on everything that the session creates. */
export const ChatSessionId = limitedText(63)
  .min(1, 'must not be empty')
  .regex(
    /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/,
    'must be letters, digits, ".", "_" and "-", starting and ending with a letter or digit',
  )

/** Body of POST /api/v1/chat (CHAT-003 to CHAT-014). */
export const ChatRequest = z
  .strictObject({
    message: field(
      z.string().refine((text) => text.trim() !== '', 'is required'),
      'What the user says.',
      'Which tasks failed today?',
    ),
    sessionId: field(
      ChatSessionId.optional(),
      'Session to continue; created if it does not exist. Without it: a new one.',
      'support-42',
    ),
    provider: field(Name.optional(), 'Name of a Provider, instead of the default one.', 'main'),
    model: field(
      limitedText(256).min(1, 'must not be empty').optional(),
      "Model, instead of the agent's or the provider's.",
      'large-model',
    ),
    agentRef: field(Name.optional(), 'Name of an Agent that supplies provider, model and temperature.', 'researcher'),
    systemPrompt: field(
      limitedText(262_144).optional(),
      'Text that is added to the built-in system prompt.',
      'Answer in German.',
    ),
    namespace: field(Name.optional(), "Namespace in which tasks are created. Without it: the caller's own.", 'default'),
    temperature: field(z.number().min(0).max(2).optional(), 'Sampling temperature, from 0 to 2.', 0.2),
    maxTokens: field(z.int().min(1).optional(), 'Output tokens of one model call at most.', 4096),
  })
  .meta({ id: 'ChatRequest' })
export type ChatRequest = z.infer<typeof ChatRequest>

const count = z.int().min(0)

/** Sums over the model calls of a turn (CHAT-019). */
export const ChatUsage = z
  .object({
    inputTokens: field(count, 'Input tokens of the turn.', 1200),
    outputTokens: field(count, 'Output tokens of the turn.', 340),
    llmCalls: field(count, 'Model calls of the turn.', 2),
    toolCalls: field(count, 'Tool calls of the turn.', 1),
    tasksCreated: field(count, 'Tasks that the turn has created.', 0),
    duration: field(z.string(), 'How long the turn took, as a duration.', '2.4s'),
    costs: field(
      z.record(z.string(), z.number().min(0)).optional(),
      'Cost of the turn by currency (ISO 4217), with that of estimated tokens. Absent: none of the calls has a price.',
      { USD: 0.0123 },
    ),
    unpricedCalls: field(
      count.optional(),
      'Model calls among them that have no price, and so no part in `costs`. Absent: none.',
      1,
    ),
  })
  .meta({ id: 'ChatUsage' })
export type ChatUsage = z.infer<typeof ChatUsage>

const json = z.record(z.string(), z.unknown())

/** A tool call of a turn with its answer. */
export const ChatToolCall = z
  .object({
    name: field(z.string(), 'Name of the tool.', 'list_tasks'),
    args: field(json, 'Arguments of the call.', { limit: 10 }),
    result: field(json, 'What the tool answered.', { items: [] }),
  })
  .meta({ id: 'ChatToolCall' })
export type ChatToolCall = z.infer<typeof ChatToolCall>

/** The outcome of one turn. */
export const ChatResponse = z
  .object({
    sessionId: field(z.string(), 'Session to name in the next request.', 'support-42'),
    message: field(z.string(), 'The final answer of the model.', 'No task failed today.'),
    toolCalls: field(z.array(ChatToolCall), 'Tool calls of the turn, in the order of the model.'),
    usage: field(ChatUsage, 'Tokens, calls and duration of the turn.'),
  })
  .meta({ id: 'ChatResponse' })
export type ChatResponse = z.infer<typeof ChatResponse>

/** Values of the `event:` line; `status` is always first and `done` always last. */
export const chatEvents = ['status', 'message', 'tool_call', 'tool_result', 'error', 'done'] as const
/** Names of the events in a chat stream. */
export type ChatEventName = (typeof chatEvents)[number]

/** The data of a frame; the event decides which fields are present. */
export type ChatFrame = {
  sessionId: string
  /** status: the name of the Provider, and the model. */
  provider?: string
  model?: string
  /** message: a piece of text. */
  content?: string
  /** tool_call and tool_result; a result has the id of its call. */
  toolCall?: { id: string; name: string; args: Record<string, unknown> }
  /** tool_result: what the tool returned. */
  result?: Record<string, unknown>
  /** error: a stable code and a sentence. */
  error?: { code: string; message: string }
  /** done: sums of the turn. */
  usage?: ChatUsage
}

/** The limits of chat and the tools that it offers. */
export const ChatConfig = z
  .object({
    enabled: field(z.boolean(), 'Whether chat is served.'),
    provider: field(z.string(), 'Default provider; empty: the Provider named `default`.', ''),
    model: field(z.string(), "Default model; empty: the provider's own.", ''),
    maxIterations: field(z.int(), 'Model calls of one turn at most.', 50),
    maxDuration: field(z.string(), 'Time limit of one turn, as a duration.', '30m0s'),
    toolTimeout: field(z.string(), 'Time limit of one tool call, as a duration.', '1m0s'),
    maxTasksPerTurn: field(z.int(), 'Tasks that one turn may create.', 5),
    maxConcurrent: field(z.int(), 'Turns that run at once.', 10),
    maxSessionSize: field(z.int(), 'Bytes of a session above which its oldest messages are left out.', 512000),
    availableTools: field(z.array(z.string()), 'Names of all tools, those for management included.', [
      'list_tasks',
      'web_fetch',
    ]),
  })
  .meta({ id: 'ChatConfig' })
export type ChatConfig = z.infer<typeof ChatConfig>

const routes = routesOf({ tag: 'Chat', kind: 'Session' })

export const sendChat = routes.create('/api/v1/chat', {
  summary: 'Answer a chat message',
  description:
    'Runs one turn: the model answers and may call tools, which act with the rights of the caller. The answer is an event stream unless JSON is preferred in `Accept`.',
  headers: z.object({
    accept: field(limitedText(4096).optional(), '`text/event-stream` streams the answer.', 'text/event-stream'),
    traceparent: field(
      limitedText(512).optional(),
      'Trace that the turn belongs to (W3C Trace Context); a header that is not valid is ignored.',
      '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    ),
  }),
  body: ChatRequest,
  responses: {
    200: { description: 'The turn: an event stream, or one body when JSON is preferred', schema: ChatResponse },
    ...errorResponses(404, 409, 429, 499, 501, 502, 529),
  },
  stream: 'sse',
})

export const getChatConfig = routesOf({ tag: 'Chat' }).get('/api/v1/chat/config', {
  summary: 'Settings and tools of chat',
  description: 'Answers the limits of chat and the tools that it offers.',
  headers: ReadHeaders,
  responses: { 200: { description: 'The settings', schema: ChatConfig }, ...errorResponses(404) },
})

export const cancelChat = routes.delete('/api/v1/chat/:sessionId', {
  summary: 'Cancel the running turn and delete the session',
  description: 'Stops the turn that runs in the session, if there is one, and deletes the session.',
  params: z.object({ sessionId: field(ChatSessionId, 'Session whose turn is cancelled.', 'support-42') }),
  query: NamespaceQuery,
  responses: { 204: { description: 'Deleted' }, ...errorResponses(404, 409) },
})
