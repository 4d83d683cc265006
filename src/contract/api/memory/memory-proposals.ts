// Memory proposals: what an agent or a person proposes to remember, and what was decided about it.
import { z } from 'zod'
import { Name, RecordName, Timestamp } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { RecordedCaller } from '../identity/caller.ts'
import { limitParameter, listOf, NamespaceQuery } from '../resources/list.ts'
import { errorResponses, ReadHeaders, routesOf } from '../resources/route.ts'
import { FilterWord, LongText, Memory, searchParameters } from './memories.ts'

export const proposalStatuses = ['pending', 'accepted', 'rejected', 'archived', 'applied'] as const
/** Where a proposal stands. */
export type ProposalStatus = (typeof proposalStatuses)[number]

const titleAdvice = 'is required: write in a few words what is proposed'
const Title = limitedText(1024, undefined, z.string(titleAdvice)).refine((text) => text.trim() !== '', titleAdvice)
const proposalType =
  'What is proposed: `skill`, `memory`, `policy`, `workflow` or another word. Only `memory` can be applied.'

/** What is proposed. */
const proposed = {
  taskName: field(limitedText(253).optional(), 'Task that proposes it.', 'nightly-report'),
  agentName: field(limitedText(253).optional(), 'Agent that proposes it.', 'reviewer'),
  skillName: field(limitedText(253).optional(), 'Skill that is to be changed.', 'release-notes'),
  description: field(
    LongText.optional(),
    'Why, and what else a reviewer should know. A line `Tags: a, b` names the tags of the memory.',
    'Seen three Mondays in a row.\nTags: staging, database',
  ),
  content: field(LongText.optional(), 'What is to be remembered.', 'The staging database is reset every Monday.'),
  patch: field(LongText.optional(), 'Change that is proposed, as a diff.', '--- a/SKILL.md'),
}

const decided = {
  reviewer: field(limitedText(253).optional(), 'Who decided, as they call themselves.', 'ada'),
  reviewNote: field(LongText.optional(), 'Why it was decided so.', 'Confirmed by the database team.'),
}

/** A proposal and what became of it. */
export const MemoryProposal = z
  .object({
    id: field(RecordName, 'Id of the proposal.', 'mprop-0192f0c1-5c7a-7c1e-9d55-0f5a3a7b9c10'),
    namespace: field(Name, 'Namespace of the proposal.', 'default'),
    type: field(z.string(), proposalType, 'memory'),
    title: field(z.string(), 'What is proposed, in a few words.', 'Reset of the staging database'),
    ...proposed,
    status: field(z.enum(proposalStatuses), 'Where it stands.'),
    ...decided,
    createdBy: field(RecordedCaller.optional(), 'Who made it, as far as that was verified.'),
    reviewedBy: field(RecordedCaller.optional(), 'Who decided, as the service verified it.'),
    appliedMemoryId: field(z.string().optional(), 'Memory that was made of it.', 'mem-0192f0c2'),
    appliedBy: field(z.string().optional(), 'Who applied it, as they call themselves.', 'ada'),
    createdAt: field(Timestamp, 'When it was made.'),
    updatedAt: field(Timestamp, 'When it was last changed.'),
    reviewedAt: field(Timestamp.optional(), 'When it was accepted or rejected.'),
    appliedAt: field(Timestamp.optional(), 'When it was applied.'),
  })
  .meta({ id: 'MemoryProposal' })
export type MemoryProposal = z.infer<typeof MemoryProposal>

const namespace = field(
  Name.optional(),
  "Namespace of the proposal. Without it: the caller's own, else `default`.",
  'default',
)

/** A proposal to store; it is pending until somebody decides. */
export const MemoryProposalCreate = z
  .strictObject({
    id: field(RecordName.optional(), 'Id of the proposal. Without it: the service makes one.', 'mprop-staging-reset'),
    namespace,
    type: field(
      limitedText(64)
        .trim()
        .transform((type) => type.toLowerCase() || 'skill')
        .default('skill'),
      `${proposalType} Put into lower case.`,
      'memory',
    ),
    title: field(Title, 'What is proposed, in a few words.', 'Reset of the staging database'),
    ...proposed,
    status: field(
      z.literal('pending', 'must be pending: review the proposal once it is made').default('pending'),
      'A proposal is pending until somebody reviews it.',
    ),
  })
  .meta({ id: 'MemoryProposalCreate' })
export type MemoryProposalCreate = z.infer<typeof MemoryProposalCreate>

/** A decision about a proposal. */
export const ProposalReview = z
  .strictObject({
    namespace,
    status: field(z.enum(['accepted', 'rejected', 'pending']), 'The decision; `pending` takes a rejection back.'),
    reviewer: field(
      decided.reviewer,
      "Who decided. Without it: the caller's name. The service keeps who called besides.",
      'ada',
    ),
    reviewNote: decided.reviewNote,
  })
  .meta({ id: 'ProposalReview' })
export type ProposalReview = z.infer<typeof ProposalReview>

/** Who applies a proposal. */
export const ProposalApply = z
  .strictObject({
    namespace,
    appliedBy: field(limitedText(253).optional(), "Who applies it. Without it: the caller's name.", 'ada'),
    content: field(
      LongText.refine(
        (text) => text.trim() !== '',
        'must not be empty: leave it out to remember what is proposed',
      ).optional(),
      'What is remembered instead, as the reviewer has put it. The proposal keeps its own text.',
      'The staging database is reset every Sunday.',
    ),
  })
  .meta({ id: 'ProposalApply' })
export type ProposalApply = z.infer<typeof ProposalApply>

/** The proposals that were found. */
export const MemoryProposalList = listOf(MemoryProposal, 'MemoryProposalList')

const ProposalListQuery = NamespaceQuery.extend({
  ...searchParameters,
  taskName: field(FilterWord.optional(), 'Only proposals of this task.', 'nightly-report'),
  agentName: field(FilterWord.optional(), 'Only proposals of this agent.', 'reviewer'),
  type: field(
    FilterWord.transform((type) => type.trim().toLowerCase()).optional(),
    'Only proposals of this type.',
    'memory',
  ),
  status: field(z.enum(proposalStatuses).optional(), 'Only proposals that stand so.'),
  limit: field(limitParameter(100, 500), 'Proposals at most.', 100),
})
export type ProposalListQuery = z.infer<typeof ProposalListQuery>

const params = z.object({ id: field(RecordName, 'Id of the proposal.', 'mprop-0192f0c1') })

const all = routesOf({ tag: 'Memory proposals', base: '/api/v1/memory-proposals', kind: 'Memory' })

export const listMemoryProposals = all.list('', {
  summary: 'List memory proposals, newest first',
  description:
    'Lists proposals of a namespace, newest first. A query finds those with that text in title, description, content or skill.',
  query: ProposalListQuery,
  headers: ReadHeaders,
  responses: { 200: { description: 'Proposals', schema: MemoryProposalList } },
})

const one = routesOf({
  tag: 'Memory proposals',
  base: '/api/v1/memory-proposals/:id',
  kind: 'Memory',
  params,
  query: NamespaceQuery,
})

export const getMemoryProposal = one.get('', {
  summary: 'Get a memory proposal',
  description: 'Answers the proposal and what was decided about it.',
  headers: ReadHeaders,
  responses: { ...errorResponses(404), 200: { description: 'The proposal', schema: MemoryProposal } },
})

export const createMemoryProposal = all.create('', {
  summary: 'Create a memory proposal',
  description:
    'Stores a proposal, which is pending until it is reviewed. What looks like a credential is replaced by `[REDACTED]`.',
  query: NamespaceQuery,
  body: MemoryProposalCreate,
  responses: { ...errorResponses(409), 201: { description: 'The proposal as stored', schema: MemoryProposal } },
})

export const reviewMemoryProposal = one.post('/review', {
  summary: 'Review a memory proposal',
  description: 'Accepts or rejects a pending proposal, or takes up a rejected one again. Nothing is applied by that.',
  body: ProposalReview,
  responses: { ...errorResponses(404, 409), 204: { description: 'Decided' } },
})

export const applyMemoryProposal = one.post('/apply', {
  summary: 'Apply a memory proposal',
  description: 'Makes a memory of an accepted proposal of type `memory`. Asked again, it answers the same memory.',
  body: ProposalApply,
  bodyOptional: true,
  responses: { ...errorResponses(404, 409), 200: { description: 'The memory', schema: Memory } },
})

export const archiveMemoryProposal = one.post('/archive', {
  summary: 'Archive a memory proposal',
  description: 'Puts the proposal away without applying it. Harmless when it is archived already.',
  responses: { ...errorResponses(404, 409), 204: { description: 'Archived' } },
})
