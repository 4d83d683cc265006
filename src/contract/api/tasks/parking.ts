// What a task waits for without a process: other tasks, an answer of a person, a time, something slow outside.
import { z } from 'zod'
import { Timestamp } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { PositiveDuration } from '../../values/duration.ts'

const call = field(limitedText(256).min(1), 'The call that has no answer yet.', '3-call_1')

const maxArgumentsLength = 4096

/** One call of a model that has no answer yet. */
export const ParkWait = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: field(z.literal('tasks'), 'Waits for the end of tasks that it has made.'),
      call,
      tasks: field(
        z
          .array(
            z.strictObject({
              name: field(limitedText(253), 'Name of the task.', 'lead-child-1'),
              uid: field(limitedText(64), 'Uid of the task.', '0199-a'),
            }),
          )
          .max(1000),
        'Tasks that have not ended.',
        [{ name: 'lead-child-1', uid: '0199-a' }],
      ),
      until: field(Timestamp, 'When the wait ends at the latest.'),
    }),
    z.strictObject({
      kind: field(z.literal('approval'), 'Waits for the answer of a person.'),
      call,
      id: field(limitedText(128), 'Id of the approval.', 'appr-1'),
      until: field(Timestamp, 'When the wait ends at the latest.'),
    }),
    z.strictObject({
      kind: field(z.literal('time'), 'Waits for a time, to look again at something slow.'),
      call,
      what: field(limitedText(500), 'What is waited for, for people.', 'the checks of pull request 7'),
      until: field(Timestamp, 'When the wait ends.'),
    }),
    z.strictObject({
      kind: field(z.literal('probe'), 'Waits for something outside that the service looks at from time to time.'),
      call,
      what: field(limitedText(500), 'What is waited for, for people.', 'the checks of pull request 7'),
      probe: field(limitedText(64).min(1), 'Name of the probe that tells whether it has come.', 'pull-request-checks'),
      args: field(z.record(limitedText(64), z.json()), 'What the probe is asked, 4,096 characters at most.', {
        number: 7,
      }).refine(
        (args) => JSON.stringify(args).length <= maxArgumentsLength,
        `must be at most ${maxArgumentsLength} characters of JSON`,
      ),
      every: field(
        PositiveDuration.optional(),
        'How often it is asked at first; 10s without it, 5s at the least. Each answer makes the pauses longer.',
        '30s',
      ),
      until: field(Timestamp, 'When the wait ends at the latest.'),
    }),
  ])
  .meta({ id: 'ParkWait' })
export type ParkWait = z.infer<typeof ParkWait>

/** The most waits that one task is parked with. */
export const maxWaits = 64
