// Sessions and their transcripts.
import { z } from 'zod'
import { Name, RecordName, Timestamp } from '../resources/metadata.ts'
import { integerParameter, ListQuery, listOf, NamespaceQuery } from './list.ts'
import { defineRoute, errorResponses, ReadHeaders } from './route.ts'

export const sessionTypes = ['task', 'chat'] as const
export const messageRoles = ['user', 'assistant', 'tool', 'system'] as const

/** One message of a transcript; a line of it in the worker API. */
export const TranscriptMessage = z
  .object({
    role: z.enum(messageRoles),
    content: z.string(),
    /** Name of the tool, on tool messages. */
    name: z.string().optional(),
    /** Arguments of the tool, on tool messages. */
    input: z.record(z.string(), z.unknown()).optional(),
    toolCalls: z
      .array(z.object({ id: z.string(), name: z.string(), input: z.record(z.string(), z.unknown()) }))
      .optional(),
    /** The call that a tool message answers. */
    toolCallID: z.string().optional(),
    /** Set by the store when absent. */
    ts: Timestamp.optional(),
  })
  .meta({ id: 'TranscriptMessage' })
export type TranscriptMessage = z.infer<typeof TranscriptMessage>

const sessionFields = {
  name: z.string(),
  namespace: Name,
  sessionType: z.enum(sessionTypes),
  messageCount: z.int().min(0),
  inputTokens: z.int().min(0),
  outputTokens: z.int().min(0),
  /** The task that holds the session's lock. */
  activeTask: z.string().optional(),
  /** Of a chat: the provider and model that answered its last turn; the next one goes on with them. */
  answeredBy: z.object({ namespace: Name, name: Name, model: z.string() }).optional(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
}

export const SessionItem = z.object({ id: z.string(), ...sessionFields }).meta({ id: 'Session' })
export type SessionItem = z.infer<typeof SessionItem>

export const SessionDetail = z
  .object({
    id: z.string(),
    ...sessionFields,
    /** Messages as JSON, one a line, oldest first. */
    transcript: z.string(),
  })
  .meta({ id: 'SessionDetail' })
export type SessionDetail = z.infer<typeof SessionDetail>

export const SessionList = listOf(SessionItem, 'SessionList')
const params = z.object({ id: RecordName })
const tag = 'Sessions'

export const listSessions = defineRoute({
  method: 'GET',
  path: '/api/v1/sessions',
  tag,
  summary: 'List sessions, newest first',
  query: ListQuery,
  headers: ReadHeaders,
  responses: { 200: { description: 'Sessions', schema: SessionList } },
  auth: 'user',
  verb: { verb: 'list', kind: 'Session' },
})

export const getSession = defineRoute({
  method: 'GET',
  path: '/api/v1/sessions/:id',
  tag,
  summary: 'Transcript of a session',
  params,
  query: NamespaceQuery.extend({
    /** Only the newest messages; absent: all. */
    maxMessages: integerParameter({ min: 1, max: 100_000 }).optional(),
  }),
  headers: ReadHeaders,
  responses: { 200: { description: 'The session', schema: SessionDetail }, ...errorResponses(404) },
  auth: 'user',
  verb: { verb: 'get', kind: 'Session' },
})

export const deleteSession = defineRoute({
  method: 'DELETE',
  path: '/api/v1/sessions/:id',
  tag,
  summary: 'Delete a session and its transcript',
  params,
  query: NamespaceQuery,
  responses: { 204: { description: 'Deleted, or it never was' }, ...errorResponses(409) },
  auth: 'user',
  verb: { verb: 'delete', kind: 'Session' },
})
