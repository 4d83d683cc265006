// Runs of tasks that have ended, summed by the day, and why those failed that did.
import { z } from 'zod'
import { Name, Timestamp } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { booleanParameter, integerParameter, NamespaceQuery } from '../resources/list.ts'
import { routesOf } from '../resources/route.ts'

const count = z.int().min(0)

/** Days that can be summed at most. */
export const maxRunDays = 90
/** Causes of failures that are named at most. */
export const maxCauses = 20

/** GET /runs: what ended on each day, and why it failed. */
export const RunSums = z
  .object({
    days: field(
      z.array(
        z.object({
          start: field(Timestamp, 'When the day begins, in UTC.', '2026-01-31T00:00:00.000Z'),
          succeeded: field(count, 'Tasks that succeeded.', 40),
          failed: field(count, 'Tasks that failed.', 2),
          cancelled: field(count, 'Tasks that were cancelled.', 0),
        }),
      ),
      'The days, oldest first; the last one is the current one. Only tasks that are still there count.',
    ),
    causes: field(
      z.array(
        z.object({
          reason: field(z.string(), 'Why they failed, as one word; `Unknown`: it was not recorded.', 'TimedOut'),
          agent: field(Name.optional(), 'Agent of the tasks. Absent: they have none.', 'researcher'),
          namespace: field(Name, 'Namespace of the tasks.', 'default'),
          count: field(z.int().min(1), 'How many failed so.', 2),
        }),
      ),
      'The most frequent causes of failures in these days by agent, at most 20.',
    ),
  })
  .meta({ id: 'RunSums' })
export type RunSums = z.infer<typeof RunSums>

export const getRuns = routesOf({ tag: 'Overview', kind: 'Task' }).list('/api/v1/runs', {
  summary: 'Runs of tasks, by the day',
  description:
    'Counts tasks that have ended by the day and by how they ended, and the causes of failures by agent; of one agent, where it is named. It costs the same however many tasks there are.',
  query: NamespaceQuery.extend({
    allNamespaces: field(
      booleanParameter(false),
      'Count every namespace that the caller may list, instead of one. What lies in others is left out.',
    ),
    agent: field(Name.optional(), 'Only tasks of this agent.', 'researcher'),
    days: field(
      integerParameter({ min: 1, max: maxRunDays }).default(7),
      'How many days, the current one included.',
      7,
    ),
  }),
  responses: { 200: { description: 'The sums', schema: RunSums } },
})
