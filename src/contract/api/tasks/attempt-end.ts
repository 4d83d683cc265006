// How an attempt ends: everything that it still has to hand in, in one request.
import { z } from 'zod'
import { readRunFailure } from '../../kinds/tasks/failures.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { errorResponses, workerRoutes } from '../resources/route.ts'
import { UsageSubmit } from './internal.ts'
import { maxWaits, ParkWait } from './parking.ts'
import { StepReport, stepLimits } from './steps.ts'

/** Characters of what comes with the end. Longer logs and results are sent before it. */
export const endLimits = { log: 65_536, message: 65_536, result: 65_536, usage: 100 } as const

const isRunFailure = (word: string) => readRunFailure(word) !== undefined

const handedIn = {
  log: field(
    limitedText(endLimits.log).optional(),
    'What the service has not yet of its log, without secrets. What follows the last line end is the beginning of a line.',
    'the model was asked again\n',
  ),
  marked: field(
    z.boolean().optional(),
    'Whether each line of `log` has its mark before it: when it was written, its stream and its level.',
    true,
  ),
  usage: field(
    z.array(UsageSubmit).max(endLimits.usage).optional(),
    'Model calls that are not recorded yet. One that is recorded counts once.',
  ),
  steps: field(z.array(StepReport).max(stepLimits.atOnce).optional(), 'Steps that are not in its trace yet.'),
}

/** How an attempt ended, with everything that it still has to hand in. */
export const EndSubmit = z
  .discriminatedUnion('ok', [
    z.strictObject({
      ok: field(z.literal(true), 'It is done.'),
      result: field(
        limitedText(endLimits.result).min(1).optional(),
        'Its result. Without it: the one that it has submitted before.',
        'All is well.',
      ),
      ...handedIn,
    }),
    z.strictObject({
      ok: field(z.literal(false), 'It is not done.'),
      reason: field(
        limitedText(64).refine(isRunFailure, 'must be a reason that a run ends with'),
        'Why.',
        'RateLimited',
      ),
      message: field(limitedText(endLimits.message), 'What happened, for people.', 'the vendor answered 429'),
      waits: field(
        z.array(ParkWait).min(1).max(maxWaits).optional(),
        'What the task waits for, with the reason Parked. The first of them that is over lets another attempt go on from its checkpoint.',
      ),
      ...handedIn,
    }),
  ])
  .meta({ id: 'EndSubmit' })
export type EndSubmit = z.infer<typeof EndSubmit>

export const submitEnd = workerRoutes.post('/attempts/:namespace/:taskName/end', {
  summary: 'Say how the attempt ended, and hand in what it has left',
  description:
    'Stores result, usage and waits together or not at all, and ends the attempt that the token belongs to. Repeated, it changes nothing.',
  body: EndSubmit,
  responses: { ...errorResponses(404, 409), 204: { description: 'Ended' } },
})
