// Sessions and their transcripts.
import { z } from 'zod'
import { Name, RecordName, Timestamp } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { integerParameter, listOf, NamespaceQuery, NamespacesListQuery } from '../resources/list.ts'
import { errorResponses, ReadHeaders, routesOf, StreamHeaders } from '../resources/route.ts'
import { TraceStepList, traceQuery } from '../tasks/trace.ts'

export const sessionTypes = ['task', 'chat'] as const
export const messageRoles = ['user', 'assistant', 'tool', 'system'] as const

/** In UTF-16 units. */
export const maxTitleLength = 200

/** One message of a transcript; a line of it in the worker API. */
export const TranscriptMessage = z
  .object({
    role: field(z.enum(messageRoles), 'Who speaks.'),
    content: field(z.string(), 'The text.', 'Which tasks failed today?'),
    name: field(z.string().optional(), 'Name of the tool, on tool messages.', 'list_tasks'),
    input: field(z.record(z.string(), z.unknown()).optional(), 'Arguments of the tool, on tool messages.', {
      limit: 10,
    }),
    toolCalls: field(
      z
        .array(
          z.object({
            id: field(z.string(), 'Id of the call.', 'call_1'),
            name: field(z.string(), 'Name of the tool.', 'list_tasks'),
            input: field(z.record(z.string(), z.unknown()), 'Arguments of the call.', { limit: 10 }),
          }),
        )
        .optional(),
      'Tool calls that the model made with this message.',
    ),
    toolCallID: field(z.string().optional(), 'Id of the call that a tool message answers.', 'call_1'),
    ts: field(Timestamp.optional(), 'When it was written. Without it: set when it is stored.'),
  })
  .meta({ id: 'TranscriptMessage' })
export type TranscriptMessage = z.infer<typeof TranscriptMessage>

const sessionFields = {
  name: field(z.string(), 'Name of the session.', 'support-42'),
  namespace: field(Name, 'Namespace of the session.', 'default'),
  title: field(
    z.string().optional(),
    'What it is about: as somebody named it, else how its first message begins. Absent: nobody has said anything.',
    'Failed tasks of today',
  ),
  sessionType: field(z.enum(sessionTypes), 'What the session belongs to.'),
  messageCount: field(z.int().min(0), 'Number of messages.', 12),
  inputTokens: field(z.int().min(0), 'Input tokens of all its tasks and turns.', 1200),
  outputTokens: field(z.int().min(0), 'Output tokens of all its tasks and turns.', 340),
  activeTask: field(z.string().optional(), 'Task that works in the session at present.', 'nightly-report'),
  answeredBy: field(
    z
      .object({
        namespace: field(Name, 'Namespace of the provider.', 'default'),
        name: field(Name, 'Name of the provider.', 'main'),
        model: field(z.string(), 'Model that answered.', 'large-model'),
      })
      .optional(),
    'Provider and model that answered the last turn of a chat; the next turn uses them again.',
  ),
  createdAt: field(Timestamp, 'When it was created.'),
  updatedAt: field(Timestamp, 'When it was last written.'),
}

/** A session without its messages. */
export const SessionItem = z
  .object({ id: field(z.string(), 'Name of the session.', 'support-42'), ...sessionFields })
  .meta({ id: 'Session' })
export type SessionItem = z.infer<typeof SessionItem>

/** A session with its messages. */
export const SessionDetail = z
  .object({
    id: field(z.string(), 'Name of the session.', 'support-42'),
    ...sessionFields,
    transcript: field(
      z.string(),
      'Messages as JSON, one on each line, oldest first.',
      '{"role":"user","content":"Hello"}',
    ),
  })
  .meta({ id: 'SessionDetail' })
export type SessionDetail = z.infer<typeof SessionDetail>

/** A new title. */
export const SessionUpdate = z
  .strictObject({
    title: field(
      limitedText(maxTitleLength, `must have at most ${maxTitleLength} characters`)
        .trim()
        .min(1, 'must not be empty: write in a few words what the session is about'),
      'What the session is about.',
      'Failed tasks of today',
    ),
  })
  .meta({ id: 'SessionUpdate' })

/** One page of sessions. */
export const SessionList = listOf(SessionItem, 'SessionList')
const params = z.object({ id: field(RecordName, 'Name of the session.', 'support-42') })

export const listSessions = routesOf({ tag: 'Sessions', kind: 'Session' }).list('/api/v1/sessions', {
  summary: 'List sessions, newest first',
  description: 'Lists sessions of tasks and chats, newest first, one page at a time.',
  query: NamespacesListQuery.extend({
    sessionType: field(z.enum(sessionTypes).optional(), 'Only sessions that belong to this.', 'chat'),
  }),
  headers: ReadHeaders,
  responses: { 200: { description: 'Sessions', schema: SessionList } },
})

const one = routesOf({ tag: 'Sessions', base: '/api/v1/sessions/:id', kind: 'Session', params, query: NamespaceQuery })

export const getSession = one.get('', {
  summary: 'Transcript of a session',
  description: 'Answers the session with its messages.',
  query: NamespaceQuery.extend({
    maxMessages: field(
      integerParameter({ min: 1, max: 100_000 }).optional(),
      'Only this many of the newest messages. Without it: all.',
      50,
    ),
  }),
  headers: ReadHeaders,
  responses: { 200: { description: 'The session', schema: SessionDetail }, ...errorResponses(404) },
})

export const updateSession = one.put('', {
  summary: 'Give a session another title',
  description: 'Changes the title of the session; its name, by which it is continued, stays.',
  body: SessionUpdate,
  responses: { 200: { description: 'The session', schema: SessionItem }, ...errorResponses(404) },
})

export const deleteSession = one.delete('', {
  summary: 'Delete a session and its transcript',
  description: 'Deletes the session and its messages. Refused while a task works in it.',
  responses: { 204: { description: 'Deleted, or it never was' }, ...errorResponses(409) },
})

export const getSessionTrace = one.get('/trace', {
  summary: 'Trace of a chat: every step of its turns, at once or as they come',
  description:
    'Answers the steps of the turns of the chat, in the form of the trace of a task: `attempt` is the number of the turn. ' +
    'What tasks have done in a session is in their own traces.',
  query: traceQuery({ run: 'turn', end: 'no turn runs' }),
  headers: StreamHeaders,
  responses: { ...errorResponses(404), 200: { description: 'Steps', schema: TraceStepList } },
  stream: 'sse',
})
