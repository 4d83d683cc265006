// Fields that are shared by everything that chooses a model or counts its calls.
import { z } from 'zod'
import { field } from '../../schema/field.ts'

/** Currency of amounts (ISO 4217). */
export const CurrencyCode = z
  .string()
  .regex(/^[A-Z]{3}$/, 'must be a currency code of three capital letters (ISO 4217)')
  .default('USD')

/** Settings of model calls, in agents and tasks. */
export const samplingFields = {
  temperature: field(
    z.number().min(0).max(2).optional(),
    "Sampling temperature, from 0 to 2. Without it: the vendor's own default.",
    0.2,
  ),
  maxTokens: field(
    z.int().min(1).optional(),
    "Output tokens of one model call at most. Without it: the vendor's own limit.",
    4096,
  ),
}

/** Usage of calls, as counted by the vendors. */
export const countedFields = {
  inputTokens: field(z.int().min(0), 'Input tokens, as the vendors counted them.', 1200),
  outputTokens: field(z.int().min(0), 'Output tokens, as the vendors counted them.', 340),
  cachedTokens: field(
    z.int().min(0),
    "Input tokens that were read from the vendor's cache; part of `inputTokens`.",
    1000,
  ),
  cacheWriteTokens: field(
    z.int().min(0).optional(),
    "Input tokens that were written to the vendor's cache; part of `inputTokens`. Absent: none.",
    500,
  ),
  llmCalls: field(z.int().min(0), 'Number of model calls.', 3),
}
