// Answers that have to be JSON of a certain shape: what the model is told of it, and whether its answer is.
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { ThreadLimitError, ThreadPool } from '../../lib/thread-pool.ts'
import { type CheckedOutput, type OutputRequest, outputModule } from './output-thread.ts'

/** Checks an answer's text. Rejects when the signal aborts. */
export type OutputCheck = (text: string, signal: AbortSignal) => Promise<CheckedOutput>

/** How often a model is told what is wrong with its answer. */
export const maxCorrections = 2

/** For the system prompt: vendors that take no schema read it here, and the others say in it what the shape is for. */
export function describeOutput(schema: JsonObject): string {
  return [
    'Your final answer must be one JSON value that matches this JSON Schema, and nothing else: no other text, no code fence.',
    `<output_schema>\n${JSON.stringify(schema)}\n</output_schema>`,
  ].join('\n')
}

/** What the model is told of an answer that does not match. */
export function describeCorrection(problem: string): string {
  return `Your answer does not count: ${problem}\nGive the whole answer again, as one JSON value that matches the schema and nothing else.`
}

/** A worker has one conversation. A check takes about a millisecond; what does not end is over when its time is up. */
const threads = new ThreadPool<OutputRequest, CheckedOutput>(outputModule, {
  threads: 1,
  timeoutMs: 2000,
  memoryMegabytes: 256,
})

/** The schema has no problems of `outputSchemaProblems`. */
export function createOutputCheck(schema: JsonObject): OutputCheck {
  return async (text, signal) => {
    try {
      return await threads.ask({ schema, text }, { holder: '', signal })
    } catch (error) {
      if (!(error instanceof ThreadLimitError)) throw error
      return { problem: `${error.message}${describePatterns(schema)}`, unchecked: true }
    }
  }
}

const maxPatterns = 3

/** Those that may be the cause. */
function describePatterns(schema: JsonObject): string {
  const patterns = [...listPatterns(schema)].slice(0, maxPatterns)
  return patterns.length === 0 ? '' : `, with the pattern ${patterns.map((pattern) => `"${pattern}"`).join(' or ')}`
}

function* listPatterns(schema: unknown): Generator<string> {
  if (Array.isArray(schema)) for (const part of schema) yield* listPatterns(part)
  if (!isJsonObject(schema)) return
  const { pattern, patternProperties } = schema
  if (typeof pattern === 'string') yield pattern
  if (isJsonObject(patternProperties)) yield* Object.keys(patternProperties)
  for (const part of Object.values(schema)) yield* listPatterns(part)
}
