// The protocol of runners: long-lived processes that run attempts of many tasks at once. A runner dials the service, whether it
// is a child of it, a pod or another machine.
import { z } from 'zod'
import { RecordName } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { errorResponses, routesOf } from '../resources/route.ts'

const runner = z.object({ id: field(RecordName, 'Id of the runner.', 'runner-0192f0c1-5c7a-7c1e-9d55-0f5a3a7b9c10') })

/** Both sides speak the same version, or the runner is refused. */
export const runnerProtocol = 1

export const runnerLimits = {
  /** Attempts of one runner at once. */
  slots: 10_000,
  /** How long a runner may go on after it sent the last renewal that was accepted. */
  leaseMs: 15_000,
  /** How often it renews its lease. */
  renewMs: 5_000,
  /** By how much longer the service waits before its attempts count as lost: answers take their time. */
  graceMs: 5_000,
  /** How often a line comes at least, if only an empty one: whoever hears nothing for a lease dials again. */
  quietMs: 5_000,
} as const

/** One attempt of one task. */
export const AttemptRef = z.object({
  taskUid: field(limitedText(64).min(1), 'Uid of the task.', '0192f0c1-5c7a-7c1e-9d55-0f5a3a7b9c10'),
  attempt: field(z.int().min(1), 'Number of the attempt, from 1.', 1),
})
export type AttemptRef = z.infer<typeof AttemptRef>

export function formatAttempt({ taskUid, attempt }: AttemptRef): string {
  return `${taskUid}/${attempt}`
}

const slots = field(z.int().min(0).max(runnerLimits.slots), 'Attempts that it runs at once.', 1000)
const bytes = z.int().min(0)

/**
 * A file in the folder of a runner that is started on this machine: the name of the attempt whose step began last, padded to
 * `length` bytes. It outlives the process, however that ends.
 */
export const stepFile = { name: 'last-step', length: 96 } as const

/** What a runner that is started on this machine reads as the first line of its input, whose end is the end of the service. */
export const RunnerSetup = z.object({
  /** Of the service. */
  url: z.string(),
  /** Its credential. */
  token: z.string(),
  /** Of the program, which is the service's own. */
  version: z.string(),
  /** Where the folders of its attempts are made. */
  root: z.string(),
  slots,
  attemptBytes: bytes,
})
export type RunnerSetup = z.infer<typeof RunnerSetup>

/** What a runner says of itself. */
export const RunnerRegistration = z
  .strictObject({
    protocol: field(z.int().min(1), 'Version of this protocol.', runnerProtocol),
    version: field(limitedText(64).min(1), 'Version of the program.', '0.1.0'),
    slots,
    attemptBytes: field(
      bytes.min(1),
      'Bytes that one attempt may hold; one that holds more goes on in a process of its own.',
      67_108_864,
    ),
    runs: field(z.array(z.enum(['ai', 'agent'])).min(1), 'Types of tasks that it runs.', ['ai']),
    runsCode: field(z.boolean(), 'Whether code runs beside it; otherwise the service runs it.'),
  })
  .meta({ id: 'RunnerRegistration' })
export type RunnerRegistration = z.infer<typeof RunnerRegistration>

const lease = {
  leaseMs: field(
    z.int().min(1),
    'How long it may go on, in milliseconds from when it sent this request. Then it ends every attempt.',
    runnerLimits.leaseMs,
  ),
}

/** A runner that was accepted. */
export const RegisteredRunner = z
  .object({
    ...runner.shape,
    ...lease,
    renewMs: field(z.int().min(1), 'How often it renews its lease, in milliseconds.', runnerLimits.renewMs),
  })
  .meta({ id: 'RegisteredRunner' })
export type RegisteredRunner = z.infer<typeof RegisteredRunner>

export const registerRunner = routesOf({ tag: 'Runners', auth: 'runner' }).post('/internal/v1/runners', {
  summary: 'Register a runner',
  description:
    'Registers a runner and gives it an id, which is never given again: a runner whose lease has ended registers anew. Another version of the protocol is refused.',
  body: RunnerRegistration,
  responses: { ...errorResponses(409), 201: { description: 'The runner and its lease', schema: RegisteredRunner } },
})

/** One line of what a runner is to do. Lines of other types are passed over. */
export const RunnerOrder = z
  .discriminatedUnion('type', [
    z.object({
      type: field(z.literal('assign'), 'Begin an attempt.'),
      key: field(AttemptRef, 'The attempt.'),
      assignment: field(
        z.unknown(),
        'The WorkAssignment with its token and secrets. One that the runner cannot read ends that attempt alone.',
        { version: 1 },
      ),
      folder: field(
        limitedText(64)
          .regex(/^[a-z0-9]+$/, 'must be lower-case letters and digits')
          .optional(),
        'Name of the folder for its workspace, which the service lets its code see. Without it: the runner chooses one.',
        '5f0c2d6b9a1e4c7d8b3a6f5e4d2c1b0a',
      ),
    }),
    z.object({
      type: field(z.literal('stop'), 'End an attempt.'),
      key: field(AttemptRef, 'The attempt.'),
      reason: field(limitedText(1024), 'Why, for the log of the attempt.', 'the task was cancelled'),
      graceMs: field(
        z.int().min(0),
        'Milliseconds after which nothing of it is waited for; its token is not live any more then.',
        10_000,
      ),
    }),
    z.object({ type: field(z.literal('retire'), 'Take nothing more, and end after the last attempt.') }),
  ])
  .meta({ id: 'RunnerOrder' })
export type RunnerOrder = z.infer<typeof RunnerOrder>

const one = routesOf({ tag: 'Runners', base: '/internal/v1/runners/:id', auth: 'runner', params: runner })

export const readWork = one.post('/work', {
  summary: 'What the runner is to do, one order a line, for as long as it is connected',
  description:
    'Answers orders as they come, one in each line, never more attempts at once than the runner has slots. Empty lines show that the ' +
    'connection lives. A second connection of a runner ends the first; attempts that were assigned and that the runner does not name ' +
    'when it renews its lease are lost.',
  responses: {
    ...errorResponses(404),
    200: { description: 'Orders (RunnerOrder), one a line', contentType: 'application/x-ndjson' },
  },
})

/** How a runner is. It renews its lease with this, from a thread that no attempt can block. */
export const RunnerRenewal = z
  .strictObject({
    slots,
    lagMs: field(z.int().min(0), 'For how long its event loop has not come round, in milliseconds.', 3),
    rssBytes: field(bytes, 'Memory of its process.', 314_572_800),
    attempts: field(
      z.array(AttemptRef.extend({ bytes: field(bytes, 'Bytes that it holds.', 183_500) })).max(runnerLimits.slots),
      'Attempts that run, with the bytes that each holds.',
    ),
    current: field(
      AttemptRef.optional(),
      'The attempt whose step began last: what blocks the event loop while it lags.',
    ),
  })
  .meta({ id: 'RunnerRenewal' })
export type RunnerRenewal = z.infer<typeof RunnerRenewal>

/** What came of a renewal. */
export const RenewedLease = z
  .object({
    ...lease,
    drop: field(z.array(AttemptRef), 'Attempts that are not live any more: nothing that they do counts.'),
  })
  .meta({ id: 'RenewedLease' })
export type RenewedLease = z.infer<typeof RenewedLease>

export const renewRunner = one.post('/lease', {
  summary: 'Renew the lease of a runner and of all its attempts',
  description: 'Renews the lease and says how the runner is. 404: the lease has ended, and every attempt with it.',
  body: RunnerRenewal,
  responses: { ...errorResponses(404), 200: { description: 'The new lease', schema: RenewedLease } },
})

/** What a runner hands back. */
export const RunnerDrain = z
  .strictObject({
    attempts: field(
      z.array(AttemptRef).max(runnerLimits.slots),
      'Attempts that it has stopped after their state was saved; each is followed by another one at once, which counts against nothing.',
    ),
  })
  .meta({ id: 'RunnerDrain' })
export type RunnerDrain = z.infer<typeof RunnerDrain>

export const drainRunner = one.post('/drain', {
  summary: 'Hand attempts back and take no more',
  description: 'Gives the runner no more work and lets others go on with what it hands back. It may be called again.',
  body: RunnerDrain,
  responses: { ...errorResponses(404), 204: { description: 'Handed back' } },
})
