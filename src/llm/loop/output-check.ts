// Answers that have to be JSON of a certain shape: what the model is told of it, and whether its answer is.

import { createContext, runInContext } from 'node:vm'
import type { OutputUnit } from '@cfworker/json-schema'
import { parseForeignJson } from '../../contract/schema/foreign-json.ts'
import { schemaDraftOf } from '../../contract/schema/output-schema.ts'
import type { JsonObject } from '../../lib/json.ts'

/** The JSON of an answer, or what is wrong with it, in words for the model. */
export type CheckedOutput = { json: string; problem?: undefined } | { problem: string }

/** Checks an answer's text. */
export type OutputCheck = (text: string) => CheckedOutput

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

/** The schema has no problems of `outputSchemaProblems`. The validator is loaded here, because few runs need it. */
export async function createOutputCheck(schema: JsonObject): Promise<OutputCheck> {
  const { Validator } = await import('@cfworker/json-schema')
  // It makes notes in the schema; it reports every problem, so that one correction can mend all.
  const validator = new Validator(structuredClone(schema), schemaDraftOf(schema), false)
  return (text) => {
    const json = findJson(text)
    if (json === undefined) return { problem: describeNoJson(text) }
    try {
      const { valid, errors } = runBounded(() => validator.validate(JSON.parse(json)))
      return valid ? { json } : { problem: describeErrors(errors) }
    } catch (error) {
      return { problem: `it could not be compared with the schema within ${maxCheckMs / 1000} s (${error})` }
    }
  }
}

const maxCheckMs = 2000

/** A pattern of a schema may take for ever on the text of a model; only a time limit of the engine ends it. */
function runBounded<T>(run: () => T): T {
  return runInContext('run()', createContext({ run }), { timeout: maxCheckMs })
}

const fence = '```'

/** The text itself, or what its only code block holds. */
function findJson(text: string): string | undefined {
  const whole = text.trim()
  const [, block = '', after] = whole.split(fence)
  const isOneBlock = after !== undefined && whole.split(fence).length === 3
  const inside = block.slice(block.indexOf('\n') + 1).trim()
  return [whole, ...(isOneBlock ? [inside] : [])].find((candidate) => parseForeignJson(candidate) !== undefined)
}

function describeNoJson(text: string): string {
  return text.trim() === '' ? 'it is empty.' : 'it is not JSON, or not JSON alone.'
}

const maxErrors = 20
const maxErrorLength = 300

/** Those at the leaves: an error of a whole is told by the errors of its parts. */
function describeErrors(errors: OutputUnit[]): string {
  const leaves = errors.filter(
    ({ keyword, keywordLocation }) =>
      keyword !== 'false' && !errors.some((other) => other.keywordLocation.startsWith(`${keywordLocation}/`)),
  )
  const lines = leaves.slice(0, maxErrors).map(({ instanceLocation, error }) => {
    const line = `- at ${instanceLocation.slice(1) || 'the top'}: ${error}`
    return line.length > maxErrorLength ? `${line.slice(0, maxErrorLength)}...` : line
  })
  const rest = leaves.length - lines.length
  return ['it does not match the schema:', ...lines, ...(rest > 0 ? [`- and ${rest} more`] : [])].join('\n')
}
