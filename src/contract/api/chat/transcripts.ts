// Search in the transcripts of sessions, for people and for tasks.
import { z } from 'zod'
import { Name, RecordName, Timestamp } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { booleanParameter, listOf, NamespaceQuery } from '../resources/list.ts'
import { documentAs, errorResponses, ReadHeaders, routesOf, workerRoutes } from '../resources/route.ts'
import { messageRoles } from './sessions.ts'

/** Messages, and UTF-16 code units of each snippet: what a search answers by default, and at most. */
export const transcriptLimits = {
  hits: { standard: 10, max: 50 },
  snippet: { standard: 360, max: 1000 },
  queryLength: 1000,
} as const

/** 0 means the usual, too much means the most. */
function sizeParameter({ standard, max }: { standard: number; max: number }) {
  const message = 'must be a whole number of at least 0'
  const schema = z
    .string(message)
    .regex(/^\d{1,15}$/, message)
    .default(String(standard))
    .transform((text) => (Number(text) === 0 ? standard : Math.min(Number(text), max)))
  return documentAs(schema, z.int().min(0).default(standard))
}

/** `user,assistant`. */
const RolesParameter = documentAs(
  z
    .string()
    .optional()
    .transform((text, context) => {
      const roles = text?.split(',').map((role) => role.trim())
      const parsed = z.array(z.enum(messageRoles)).optional().safeParse(roles)
      if (parsed.success) return parsed.data
      context.addIssue({ code: 'custom', message: `must be one or several of ${messageRoles.join(', ')}` })
      return z.NEVER
    }),
  z.string().optional(),
)

const search = {
  query: field(
    limitedText(transcriptLimits.queryLength).regex(/[^\s"]/, 'must have at least one word'),
    'Words and, between double quotes, phrases. A message that is found contains them all, in any case, also within words.',
    '"failed tests" deploy',
  ),
  sessionName: field(RecordName.optional(), 'Only in this session.', 'support-42'),
  roles: field(RolesParameter, 'Only what these speak, separated by commas. Without it: all.', 'user,assistant'),
  limit: field(
    sizeParameter(transcriptLimits.hits),
    `Messages at most; ${transcriptLimits.hits.max} and no more are possible.`,
    10,
  ),
  maxSnippetLength: field(
    sizeParameter(transcriptLimits.snippet),
    `Length of a snippet in characters; ${transcriptLimits.snippet.max} and no more are possible.`,
    360,
  ),
}

const hit = {
  sessionName: field(z.string(), 'Name of the session.', 'support-42'),
  messageId: field(z.int().min(1), 'Number of the message in its session.', 12),
  role: field(z.enum(messageRoles), 'Who speaks.'),
  name: field(z.string().optional(), 'Name of the tool, on tool messages.', 'list_tasks'),
  snippet: field(
    z.string(),
    'The text around the first place that was found, with `…` where some is left out.',
    '…two of the failed tests stop the deploy of…',
  ),
  createdAt: field(Timestamp, 'When the message was written.'),
}

/** A message that was found. */
export const TranscriptHit = z
  .object({ namespace: field(Name, 'Namespace of the session.', 'default'), ...hit })
  .meta({ id: 'TranscriptHit' })
export type TranscriptHit = z.infer<typeof TranscriptHit>

/** What a search found. */
export const TranscriptHitList = listOf(TranscriptHit, 'TranscriptHitList')

export const searchTranscripts = routesOf({ tag: 'Sessions', kind: 'Session' }).list('/api/v1/transcripts', {
  summary: 'Search in transcripts, the best match first',
  description:
    'Finds messages of sessions by what they contain, the best match first and the newer of two that are as good. ' +
    'Sessions that the caller may not read are left out.',
  query: NamespaceQuery.extend({
    ...search,
    excludeSessionName: field(RecordName.optional(), 'Not in this session.', 'support-42'),
    allNamespaces: field(
      booleanParameter(false),
      'Search in every namespace whose sessions the caller may list, instead of one.',
    ),
  }),
  headers: ReadHeaders,
  responses: { 200: { description: 'Messages', schema: TranscriptHitList } },
})

/** A message that was found in the namespace of a task. */
export const TaskTranscriptHit = z.object(hit).meta({ id: 'TaskTranscriptHit' })
export type TaskTranscriptHit = z.infer<typeof TaskTranscriptHit>

export const searchNamespaceTranscripts = workerRoutes.get('/sessions/:namespace/search', {
  summary: 'Search in the transcripts of the namespace, the best match first',
  description: 'Finds messages of sessions in the namespace of the task by what they contain, the best match first.',
  params: z.object({ namespace: field(Name, 'Namespace of the task.', 'default') }),
  query: z.object({
    ...search,
    excludeSessionName: field(
      RecordName.optional(),
      'Not in this session. Without it, and without `sessionName`: not in the one that the task itself continues.',
      'support-42',
    ),
  }),
  responses: { ...errorResponses(404), 200: { description: 'Messages', schema: z.array(TaskTranscriptHit) } },
})
