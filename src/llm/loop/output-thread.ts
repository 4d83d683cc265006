// Compares an answer with its schema, in a thread of its own: a pattern of a schema may take for ever on the text of a model, and only
// the end of its thread ends it.
import type { OutputUnit } from '@cfworker/json-schema'
import { parseForeignJson } from '../../contract/schema/foreign-json.ts'
import { schemaDraftOf } from '../../contract/schema/output-schema.ts'
import type { JsonObject } from '../../lib/json.ts'
import { answerInThread } from '../../lib/thread-answers.ts'

export type OutputRequest = { schema: JsonObject; text: string }

/**
 * The JSON of an answer, or what is wrong with it, in words for the model. `unchecked`: it could not be compared, and the problem is
 * for whoever wrote the schema.
 */
export type CheckedOutput = { json: string; problem?: undefined } | { problem: string; unchecked?: true }

/** What a thread is started with. */
export const outputModule = import.meta.url

type Checker = (request: OutputRequest) => CheckedOutput

async function loadChecker(): Promise<Checker> {
  const { Validator } = await import('@cfworker/json-schema')
  return ({ schema, text }) => {
    const json = findJson(text)
    if (json === undefined) return { problem: describeNoJson(text) }
    try {
      // It makes notes in the schema; it reports every problem, so that one correction can mend all.
      const { valid, errors } = new Validator(schema, schemaDraftOf(schema), false).validate(JSON.parse(json))
      return valid ? { json } : { problem: describeErrors(errors) }
    } catch (error) {
      return { problem: `the comparison failed (${error})`, unchecked: true }
    }
  }
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

void answerInThread(outputModule, loadChecker)
