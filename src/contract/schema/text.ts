// The one way to write a text with a limit: nothing looks at a text that is too long, neither a pattern nor a rule.
import { z } from 'zod'

/** A text of at most `max` UTF-16 units. Checks that follow do not run on a longer one, nor do those of the object that holds it. */
export function limitedText(max: number, message?: string): z.ZodString {
  return z.string().max(max, { abort: true, ...(message !== undefined && { error: message }) })
}
