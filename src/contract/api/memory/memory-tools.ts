// What a running task may ask of durable memory: the arguments of its tools are the bodies of these routes.
import { z } from 'zod'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { errorResponses, workerRoutes } from '../resources/route.ts'
import { FilterWord, LongText, Memory, maxTagLength, maxTags } from './memories.ts'
import { MemoryProposal } from './memory-proposals.ts'

const tags = z.array(limitedText(maxTagLength)).max(maxTags).optional()

/** Arguments of recall_memory. */
export const RecallMemory = z.strictObject({
  query: field(
    limitedText(2000).optional(),
    'Words of what you look for, the best match first. Without it: the last changed.',
    'reset of the staging database',
  ),
  tags: field(tags, 'Only memories that have all of these.', ['staging']),
  task_name: field(FilterWord.optional(), 'Only those that this task left.', 'nightly-report'),
  agent_name: field(FilterWord.optional(), 'Only those of this agent.', 'researcher'),
  source: field(FilterWord.optional(), 'Only those of this source.', 'manual'),
  limit: field(z.int().min(1).max(50).default(10), 'Memories at most.', 10),
  include_disabled: field(z.boolean().default(false), 'Also those that somebody has switched off.'),
})
export type RecallMemory = z.infer<typeof RecallMemory>

/** Arguments of remember. */
export const Remember = z.strictObject({
  content: field(
    z.string().trim().min(1, 'must not be empty').pipe(LongText),
    'What later tasks should know, by itself understandable.',
    'The staging database is reset every Monday.',
  ),
  title: field(limitedText(200).trim().min(1).optional(), 'Without it: the first line of the content.', 'Staging'),
  description: field(limitedText(4096).optional(), 'Why it is worth remembering.', 'It broke two tests.'),
  tags: field(tags, 'Words to find it by.', ['staging']),
  agent_name: field(FilterWord.optional(), 'Agent that it is for. Without it: the one of the task.', 'researcher'),
})
export type Remember = z.infer<typeof Remember>

/** Arguments of propose_memory. */
export const ProposeMemory = z.strictObject({
  title: field(limitedText(200).trim().min(1, 'must not be empty'), 'What is proposed, in a few words.', 'Staging'),
  type: field(
    limitedText(64).trim().min(1).default('skill'),
    'What it is: `memory`, `skill`, `policy`, `workflow`.',
    'memory',
  ),
  skill_name: field(FilterWord.optional(), 'Skill that it would change.', 'deploy'),
  description: field(limitedText(4096).optional(), 'Why.', 'It is forgotten each time.'),
  content: field(LongText.optional(), 'The new text.', 'Reset staging first.'),
  patch: field(LongText.optional(), 'A change to the present text.', '--- a\n+++ b'),
  agent_name: field(FilterWord.optional(), 'Agent that it is for. Without it: the one of the task.', 'researcher'),
})
export type ProposeMemory = z.infer<typeof ProposeMemory>

export const recallForTask = workerRoutes.post('/memories/:namespace/:taskName/recall', {
  summary: 'Recall memories for the task',
  description:
    'Answers memories of the namespace of the task, the best match first, and counts each once for the task.',
  body: z.strictObject({ args: RecallMemory }),
  responses: { ...errorResponses(404), 200: { description: 'Memories', schema: z.array(Memory) } },
})

export const proposeForTask = workerRoutes.post('/memory-proposals/:namespace/:taskName', {
  summary: 'Propose what to remember',
  description: 'Stores a proposal, which nobody but a person applies. The same call makes one.',
  body: z.strictObject({
    call: field(limitedText(256).min(1), 'Word that names the call: repeating it has the effect of one.', '3-call_1'),
    args: ProposeMemory,
  }),
  responses: { ...errorResponses(404), 200: { description: 'The proposal', schema: MemoryProposal } },
})
