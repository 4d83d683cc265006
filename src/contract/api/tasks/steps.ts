// The steps of an attempt: what it did, one by one, as workers report it and as traces show it.
import { z } from 'zod'
import { Timestamp } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { errorResponses, workerRoutes } from '../resources/route.ts'

/** What a step can be. */
export const stepKinds = [
  'attempt',
  'model',
  'tool',
  'text',
  'thinking',
  'task',
  'approval',
  'park',
  'checkpoint',
  'compaction',
  'network',
] as const

/** Id of the step of the attempt itself, to which all others belong. */
export const attemptStep = '0'

/** How a step can end. */
export const stepOutcomes = ['ok', 'failed', 'refused', 'waiting', 'interrupted'] as const

/**
 * Limits of steps: how many one request has, how many an attempt has, of how many of the newest of a task arguments and
 * results are kept, and the characters of these, of names and of errors.
 * `edits` and `path`: how many changed files a step names, and their characters.
 */
export const stepLimits = {
  atOnce: 100,
  perAttempt: 20_000,
  detailed: 1000,
  detail: 2000,
  name: 200,
  error: 500,
  edits: 20,
  path: 300,
} as const

const tokens = (description: string, example: number) => field(z.int().min(0), description, example)

/** One call of a model. */
export const ModelStep = z
  .strictObject({
    provider: field(limitedText(600), 'Namespace and name of the provider.', 'default/claude'),
    name: field(limitedText(512), 'The model.', 'claude-sonnet'),
    inputTokens: tokens('Tokens in.', 1200),
    outputTokens: tokens('Tokens out.', 300),
    cachedTokens: tokens('Tokens of those in that were read from a cache.', 1000),
    cost: field(z.number().min(0).optional(), 'What it cost, where the provider has a price.', 0.0021),
    currency: field(limitedText(16).optional(), 'Currency of the cost.', 'USD'),
    firstTokenMs: field(z.int().min(0).optional(), 'Milliseconds until the answer began.', 420),
    finishReason: field(limitedText(64).optional(), 'Why the answer ended.', 'tool_use'),
  })
  .meta({ id: 'ModelStep' })

/** A step, as the run reports it. */
export const StepReport = z
  .strictObject({
    id: field(limitedText(64).min(1), 'Names the step within its attempt. A later report of it replaces it.', '7'),
    parent: field(limitedText(64).min(1).optional(), 'Id of the step that it belongs to.', '3'),
    kind: field(z.enum(stepKinds), 'What it is.', 'tool'),
    name: field(limitedText(stepLimits.name), 'What was called, or what happened.', 'file_read'),
    startedAt: field(Timestamp, 'When it began.'),
    durationMs: field(z.int().min(0).optional(), 'Milliseconds that it took; absent while it runs.', 35),
    outcome: field(z.enum(stepOutcomes).optional(), 'How it ended; absent while it runs.', 'ok'),
    error: field(limitedText(stepLimits.error).optional(), 'What went wrong.', 'no such file'),
    model: field(ModelStep.optional(), 'Of a call of a model.'),
    edits: field(z.array(limitedText(stepLimits.path)).max(stepLimits.edits).optional(), 'Files that it changes.', [
      'a.txt',
    ]),
    task: field(limitedText(253).optional(), 'Name of the task that it made.', 'nightly-report-child-1'),
    inputBytes: field(z.int().min(0).optional(), 'Size of the arguments.', 24),
    outputBytes: field(z.int().min(0).optional(), 'Size of the result.', 4096),
    input: field(limitedText(stepLimits.detail).optional(), 'Arguments, without secrets, cut.', '{"path":"a.txt"}'),
    output: field(limitedText(stepLimits.detail).optional(), 'Result or text, without secrets, cut.', 'hello'),
  })
  .meta({ id: 'StepReport' })
export type StepReport = z.infer<typeof StepReport>

/** Steps of the attempt. */
export const StepBatch = z
  .strictObject({
    steps: field(z.array(StepReport).min(1).max(stepLimits.atOnce), 'Steps, in the order in which they changed.'),
  })
  .meta({ id: 'StepBatch' })
export type StepBatch = z.infer<typeof StepBatch>

export const reportSteps = workerRoutes.post('/trace/:namespace/:taskName', {
  summary: 'Add steps to the trace of the task',
  description: 'Adds what the attempt did to the trace of the task, or replaces steps that have gone on since.',
  body: StepBatch,
  responses: { ...errorResponses(404, 409), 204: { description: 'Added' } },
})
