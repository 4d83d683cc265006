// What goes on in the service, counted: tasks, failures, use of models, providers, and what waits for people.
import { z } from 'zod'
import { Name, Timestamp } from '../../kinds/resources/metadata.ts'
import { taskPhases } from '../../kinds/tasks/task.ts'
import { field } from '../../schema/field.ts'
import { booleanParameter, NamespaceQuery } from '../resources/list.ts'
import { routesOf } from '../resources/route.ts'

/** Hours that the overview looks back, the current one included. */
export const overviewHours = 24
/** Reasons of failures that it names at most. */
export const maxReasons = 10
/** Providers that it names at most, those with trouble first. */
export const maxProviders = 100

const count = z.int().min(0)

const Hour = z.object({
  start: field(Timestamp, 'When the hour begins.', '2026-01-31T14:00:00.000Z'),
  succeeded: field(count, 'Tasks that succeeded.', 40),
  failed: field(count, 'Tasks that failed.', 2),
  cancelled: field(count, 'Tasks that were cancelled.', 0),
})

const Used = z.object({
  llmCalls: field(count, 'Calls of models.', 120),
  inputTokens: field(count, 'Tokens that models were sent.', 80_000),
  outputTokens: field(count, 'Tokens that models wrote.', 9000),
  costs: field(z.record(z.string(), z.number().min(0)), 'Cost of the calls that have a price, by currency.', {
    USD: 0.42,
  }),
})

/** How a provider does. */
export const ProviderState = z.object({
  name: field(Name, 'Name of the provider.', 'main'),
  namespace: field(Name, 'Its namespace.', 'default'),
  type: field(z.string(), 'Sort of vendor.', 'llma'),
  state: field(
    z.enum(['failing', 'notReady', 'coolingDown', 'unknown', 'good']),
    'Whether calls of it succeed; `unknown`: it was not looked at yet.',
  ),
  message: field(z.string().optional(), 'Why, in one sentence.', 'the vendor refused the key (401)'),
  coolingDownUntil: field(Timestamp.optional(), 'No calls are sent before this time.'),
  lastReached: field(Timestamp.optional(), 'When the vendor last answered.'),
})
export type ProviderState = z.infer<typeof ProviderState>

/** GET /overview. A part that the caller may not list is absent. */
export const Overview = z
  .object({
    time: field(Timestamp, 'When this was counted.'),
    tasks: field(z.record(z.enum(taskPhases), count), 'Tasks by phase.', {
      Pending: 3,
      Running: 2,
      Succeeded: 400,
      Failed: 12,
      Scheduled: 1,
      Cancelled: 0,
    }),
    queue: field(
      z.object({
        pending: field(count, 'Tasks that wait for their start.', 3),
        oldest: field(Timestamp.optional(), 'When the oldest of them was created. Absent: there is none.'),
      }),
      'What waits for its start.',
    ),
    hours: field(
      z.array(Hour),
      'Tasks that ended in each of the last 24 hours, oldest first; the last hour is the current one. Only tasks that are still there count.',
    ),
    failures: field(
      z.array(
        z.object({
          reason: field(z.string(), 'Why they failed, as one word; `Unknown`: it was not recorded.', 'TimedOut'),
          count: field(z.int().min(1), 'How many failed for it.', 2),
        }),
      ),
      'The most frequent reasons of failures in these hours, at most ten.',
    ),
    running: field(
      z.array(
        z.object({
          agent: field(Name.optional(), 'Name of the agent. Absent: tasks without one.', 'researcher'),
          namespace: field(Name, 'Its namespace.', 'default'),
          count: field(z.int().min(1), 'How many of its tasks are running.', 2),
        }),
      ),
      'Running tasks by agent, those with most of them first.',
    ),
    usage: field(
      z
        .object({
          today: field(Used, 'Since midnight in UTC.'),
          hours: field(z.array(Used.extend({ start: Hour.shape.start })), 'Each of the last 24 hours, oldest first.'),
        })
        .optional(),
      'Use of models.',
    ),
    providers: field(z.array(ProviderState).optional(), 'Providers, those with trouble first, at most 100.'),
    approvals: field(count, 'Questions of tasks that wait for an answer.', 1),
    proposals: field(count.optional(), 'Proposals of memories that nobody has decided about.', 4),
  })
  .meta({ id: 'Overview' })
export type Overview = z.infer<typeof Overview>

export const getOverview = routesOf({ tag: 'Overview', kind: 'Task' }).list('/api/v1/overview', {
  summary: 'What goes on, in numbers',
  description:
    'Counts tasks by phase, the queue, ended tasks and use of models by the hour, failures, running agents, providers, and what waits for people. It costs the same however many tasks there are.',
  query: NamespaceQuery.extend({
    allNamespaces: field(
      booleanParameter(false),
      'Count every namespace that the caller may list, instead of one. What lies in others is left out.',
    ),
  }),
  responses: { 200: { description: 'The numbers', schema: Overview } },
})
