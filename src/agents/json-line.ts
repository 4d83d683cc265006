// Lines of JSON, of which only some are understood.
import type { z } from 'zod'

/** The line by the schema; undefined if it is half a line, no JSON, or an event that the schema does not know. */
export function parseLine<T>(schema: z.ZodType<T>, line: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(line)).data
  } catch {
    return undefined
  }
}
