// The one way to write a text with a limit: nothing looks at a text that is too long, neither a pattern nor a rule.
import { z } from 'zod'

/**
 * A text of at most `max` UTF-16 units. Checks that follow do not run on a longer one, nor do those of the object that holds
 * it. `text` says what is answered where there is none.
 */
export function limitedText(max: number, message?: string, text: z.ZodString = z.string()): z.ZodString {
  return text.max(max, { abort: true, ...(message !== undefined && { error: message }) })
}
