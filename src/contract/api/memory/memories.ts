// Durable memories: what agents and people want to be remembered beyond one task.
import { z } from 'zod'
import { Name, RecordName, Timestamp } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { RecordedCaller } from '../identity/caller.ts'
import { booleanParameter, limitParameter, listOf, NamespaceQuery } from '../resources/list.ts'
import { documentAs, errorResponses, ReadHeaders, routesOf } from '../resources/route.ts'

/** In UTF-16 units: the content of a memory and each long text of a proposal. Searches see all of it. */
export const maxMemoryLength = 262_144
export const maxTags = 64
/** In UTF-16 units. */
export const maxTagLength = 128
const maxIds = 200

const tooLong = `must have at most ${maxMemoryLength} characters: split it into several, each of one thing to remember`
const contentAdvice = 'is required: write in it what is to be remembered'

/** A long text of a memory or proposal. */
export const LongText = limitedText(maxMemoryLength, tooLong)
/** A word that records are filtered by: the name of a task, an agent, a session. */
export const FilterWord = limitedText(253).min(1)

function hasText(text: string): boolean {
  return text.trim() !== ''
}

/** Trimmed, in lower case, each once; empty ones are left out. */
function tidyTags(tags: readonly string[]): string[] {
  return [...new Set(tags.map((tag) => tag.trim().toLowerCase()))].filter((tag) => tag !== '')
}

const tooManyTags = `must have at most ${maxTags} tags; put what is to be searched into the content`
const Tags = documentAs(
  z.array(limitedText(maxTagLength)).max(maxTags, tooManyTags).transform(tidyTags),
  z.array(limitedText(maxTagLength)).max(maxTags),
)

/** Values separated by commas; empty ones are left out. */
function listParameter(max: number, tidy: (parts: string[]) => string[] = (parts) => parts) {
  return documentAs(
    limitedText(16_384)
      .transform((text) => tidy(text.split(',').map((part) => part.trim())).filter((part) => part !== ''))
      .pipe(z.array(z.string()).max(max, `must name at most ${max}, separated by commas`)),
    z.string(),
  )
}

const recallFields = {
  lastRecalledAt: field(Timestamp.optional(), 'When it was last recalled for a task. Absent: never.'),
  recalledCount: field(z.int().min(0), 'For how many tasks and other readers it was recalled.', 3),
}

/** A durable memory. */
export const Memory = z
  .object({
    id: field(RecordName, 'Id of the memory.', 'mem-0192f0c1-5c7a-7c1e-9d55-0f5a3a7b9c10'),
    namespace: field(Name, 'Namespace of the memory.', 'default'),
    sessionName: field(z.string().optional(), 'Session that it comes from.', 'support-42'),
    agentName: field(z.string().optional(), 'Agent that it comes from.', 'reviewer'),
    taskName: field(z.string().optional(), 'Task that it comes from.', 'nightly-report'),
    parentTask: field(z.string().optional(), 'Parent of that task.', 'release'),
    source: field(z.string(), 'How it came about: `manual`, `memory_proposal`, or a word of its writer.', 'manual'),
    sourceProposalId: field(z.string().optional(), 'Proposal that was applied.', 'mprop-0192f0c1'),
    content: field(z.string(), 'What is remembered.', 'The staging database is reset every Monday.'),
    tags: field(z.array(z.string()).optional(), 'Words to filter by.', ['staging']),
    disabled: field(z.boolean(), 'True: left out of normal recall and of lists.'),
    deleted: field(z.boolean(), 'True: deleted, and kept only to be looked at.'),
    supersedes: field(z.string().optional(), 'Older memory that this one replaces.', 'mem-0192f0c0'),
    supersededBy: field(
      z.string().optional(),
      'Newer memory that replaces this one, which is therefore left out of normal recall.',
      'mem-0192f0c2',
    ),
    createdBy: field(RecordedCaller.optional(), 'Who wrote it, as far as that was verified.'),
    createdAt: field(Timestamp, 'When it was created.'),
    updatedAt: field(Timestamp, 'When it was last changed; a recall is no change.'),
    ...recallFields,
  })
  .meta({ id: 'Memory' })
export type Memory = z.infer<typeof Memory>

/** Parts of a memory that its writer chooses and may change. */
const writable = {
  sessionName: field(limitedText(253).optional(), 'Session that it comes from.', 'support-42'),
  agentName: field(limitedText(253).optional(), 'Agent that it comes from.', 'reviewer'),
  taskName: field(limitedText(253).optional(), 'Task that it comes from.', 'nightly-report'),
  parentTask: field(limitedText(253).optional(), 'Parent of that task.', 'release'),
  source: field(limitedText(253).optional(), 'How it came about. Without it: `manual`.', 'runbook'),
  tags: field(
    Tags.optional(),
    'Words to filter by; trimmed, in lower case, each once. In a PUT they replace the former ones.',
    ['staging'],
  ),
}

const ignored = (name: string) => field(z.unknown().optional(), `Ignored; the service sets ${name}.`)
/** Accepted and ignored, so that what was read can be sent back. */
const ignoredFields = {
  sourceProposalId: ignored('it'),
  supersededBy: ignored('it'),
  createdBy: ignored('it'),
  createdAt: ignored('it'),
  updatedAt: ignored('it'),
  lastRecalledAt: ignored('it'),
  recalledCount: ignored('it'),
}

/** A memory to store. */
export const MemoryCreate = z
  .strictObject({
    id: field(RecordName.optional(), 'Id of the memory. Without it: the service makes one.', 'mem-staging-reset'),
    namespace: field(
      Name.optional(),
      "Namespace of the memory. Without it: the caller's own, else `default`.",
      'default',
    ),
    content: field(
      limitedText(maxMemoryLength, tooLong, z.string(contentAdvice)).refine(hasText, contentAdvice),
      'What is to be remembered.',
      'The staging database is reset every Monday.',
    ),
    ...writable,
    supersedes: field(
      RecordName.optional(),
      'Id of an older memory of the namespace that this one replaces. The older one stays, and leaves normal recall.',
      'mem-0192f0c0',
    ),
    disabled: field(z.boolean().default(false), 'True: it is stored, but not recalled.'),
    deleted: ignored('it'),
    ...ignoredFields,
  })
  .meta({ id: 'MemoryCreate' })
export type MemoryCreate = z.infer<typeof MemoryCreate>

/** Changes to a memory: only fields with a value count. */
export const MemoryUpdate = z
  .strictObject({
    id: ignored('it'),
    namespace: field(
      Name.optional(),
      "Namespace of the memory. Without it: the caller's own, else `default`.",
      'default',
    ),
    content: field(
      limitedText(maxMemoryLength, tooLong)
        .refine(hasText, 'must not be empty: leave it out to keep it, or delete the memory')
        .optional(),
      'What is to be remembered from now on.',
      'The staging database is reset every Sunday.',
    ),
    ...writable,
    supersedes: ignored('it when the memory is created'),
    disabled: field(z.boolean().optional(), 'True: leaves normal recall. False changes nothing: enable it instead.'),
    deleted: field(z.boolean().optional(), 'True: deletes it. False changes nothing.'),
    ...ignoredFields,
  })
  .meta({ id: 'MemoryUpdate' })
export type MemoryUpdate = z.infer<typeof MemoryUpdate>

/** The memories that were found. */
export const MemoryList = z
  .object({
    ...listOf(Memory, 'MemoryPage').shape,
    notice: field(
      z.string().optional(),
      'Why a search was by words alone, although vectors are configured. Absent: nothing is amiss.',
      'searched by words alone: default/main/embed-small made no vector: it took longer than 1000 ms',
    ),
  })
  .meta({ id: 'MemoryList' })

/** Words to search for; `q` is the same as `query`. */
export const searchParameters = {
  query: field(limitedText(8192).optional(), 'Words to search for.', 'staging database'),
  q: field(limitedText(8192).optional(), 'The same as `query`.', 'staging database'),
}

const MemoryListQuery = NamespaceQuery.extend({
  ...searchParameters,
  sessionName: field(FilterWord.optional(), 'Only memories that come from this session.', 'support-42'),
  agentName: field(FilterWord.optional(), 'Only memories that come from this agent.', 'reviewer'),
  taskName: field(FilterWord.optional(), 'Only memories that come from this task.', 'nightly-report'),
  parentTask: field(FilterWord.optional(), 'Only memories that come from children of this task.', 'release'),
  source: field(FilterWord.optional(), 'Only memories that came about so.', 'manual'),
  tags: field(
    listParameter(maxTags, tidyTags).optional(),
    'Only memories with all of these tags, separated by commas.',
    'staging,database',
  ),
  ids: field(listParameter(maxIds).optional(), 'Only the memories with these ids, separated by commas.', 'mem-1,mem-2'),
  includeDisabled: field(booleanParameter(false), 'Also those that are disabled, or replaced by a newer one.'),
  includeDeleted: field(booleanParameter(false), 'Also those that are deleted.'),
  limit: field(limitParameter(50, 200), 'Memories at most.', 50),
})
export type MemoryListQuery = z.infer<typeof MemoryListQuery>

const params = z.object({ id: field(RecordName, 'Id of the memory.', 'mem-0192f0c1') })

const all = routesOf({ tag: 'Memories', base: '/api/v1/memories', kind: 'Memory' })

export const listMemories = all.list('', {
  summary: 'List or search memories',
  description:
    'Lists memories of a namespace, those that were changed last first. With words to search for, lists those that have any of them, best first.',
  query: MemoryListQuery,
  headers: ReadHeaders,
  responses: { 200: { description: 'Memories', schema: MemoryList } },
})

const one = routesOf({ tag: 'Memories', base: '/api/v1/memories/:id', kind: 'Memory', params, query: NamespaceQuery })

export const getMemory = one.get('', {
  summary: 'Get a memory',
  description: 'Answers the memory, also when it is disabled or deleted.',
  headers: ReadHeaders,
  responses: { ...errorResponses(404), 200: { description: 'The memory', schema: Memory } },
})

export const createMemory = all.create('', {
  summary: 'Create a memory',
  description: 'Stores a memory. What looks like a credential is replaced by `[REDACTED]`.',
  query: NamespaceQuery,
  body: MemoryCreate,
  responses: { ...errorResponses(409), 201: { description: 'The memory as stored', schema: Memory } },
})

export const updateMemory = one.put('', {
  summary: 'Change a memory',
  description:
    'Changes the fields that have a value; the others stay as they are. Tags are replaced where they are given.',
  body: MemoryUpdate,
  responses: { ...errorResponses(404), 200: { description: 'The memory as stored', schema: Memory } },
})

export const deleteMemory = one.delete('', {
  summary: 'Delete a memory',
  description: 'Marks the memory as deleted and disabled. It can still be read by its id.',
  responses: { ...errorResponses(404), 204: { description: 'Deleted' } },
})

export const disableMemory = one.post('/disable', {
  summary: 'Disable a memory',
  description: 'Takes the memory out of normal recall.',
  responses: { ...errorResponses(404), 204: { description: 'Disabled' } },
})

export const enableMemory = one.post('/enable', {
  summary: 'Enable a memory',
  description: 'Puts a disabled memory back into normal recall.',
  responses: { ...errorResponses(404), 204: { description: 'Enabled' } },
})
