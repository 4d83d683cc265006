// The budget of one task: what all its attempts and iterations may use together.
import { z } from 'zod'
import { field } from '../../schema/field.ts'
import { PositiveDuration } from '../../values/duration.ts'

/** At least one limit; the first that is reached ends the task. */
export const TaskBudget = z.strictObject({
  maxTokens: field(
    z.int().min(1).max(1_000_000_000_000).optional(),
    'Most tokens in and out, counted and estimated, of the task and of all tasks that it creates.',
    500_000,
  ),
  maxCost: field(
    z.number().positive().max(1_000_000_000).optional(),
    'Most money in `currency`, of the task and of all tasks that it creates. Calls without a price in it do not count.',
    5,
  ),
  currency: field(
    z
      .string()
      .regex(/^[A-Z]{3}$/, 'must be a currency code of three capital letters (ISO 4217)')
      .default('USD'),
    'Currency of `maxCost` (ISO 4217).',
    'EUR',
  ),
  maxDuration: field(
    PositiveDuration.optional(),
    'Longest time from the start of the first attempt, as a duration: retries, iterations and the time between them included.',
    '24h',
  ),
  maxIterations: field(
    z.int().min(1).optional(),
    'Most iterations of an autonomous agent. The task fails at this limit; with that of its agent (`coordination.maxIterations`) it succeeds.',
    10,
  ),
})
export type TaskBudget = z.infer<typeof TaskBudget>
