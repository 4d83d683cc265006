// The part of the worker API by which a run reports to the timeline of its task what it does.
import { z } from 'zod'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { errorResponses, workerRoutes } from '../resources/route.ts'

/** What an agent program does, step by step. */
const progressTypes = [
  'TurnStarted',
  'ToolCalled',
  'ToolFailed',
  'ToolRefused',
  'FilesEdited',
  'ModelRetried',
  'StepsLeftOut',
] as const

/** Limits of the steps that are reported: of one request, of one attempt, and of all events of a task. */
export const progressLimits = { atOnce: 50, perAttempt: 1000, perTask: 5000, messageLength: 300 } as const

/** Steps of an attempt. */
export const ProgressReport = z
  .strictObject({
    events: field(
      z
        .array(
          z.strictObject({
            type: field(z.enum(progressTypes), 'What happened.', 'ToolCalled'),
            message: field(
              limitedText(progressLimits.messageLength),
              'What happened, in a few words.',
              'Write docs/notes.txt',
            ),
          }),
        )
        .min(1)
        .max(progressLimits.atOnce),
      'Steps, oldest first.',
    ),
  })
  .meta({ id: 'ProgressReport' })
export type ProgressReport = z.infer<typeof ProgressReport>

export const reportProgress = workerRoutes.post('/progress/:namespace/:taskName', {
  summary: 'Add steps of the run to the timeline of the task',
  description:
    'Adds what the run does to the timeline of the task. Once a task has had a great many events, further ones are left out.',
  body: ProgressReport,
  responses: { ...errorResponses(404, 409), 204: { description: 'Added, or left out' } },
})
