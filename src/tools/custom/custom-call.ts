// What every call of a custom tool has around it: arguments that fit, the transaction's token, nothing secret in results.
// Arguments are checked against the user's JSON Schema by types, required names and enums, at every depth. Other keywords are
// left to the endpoint: a user's `pattern` could take forever on a model's text.
import { isSvcError } from '../../errors.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { createRedactor, type Redactor } from '../../observability/redaction.ts'
import { propagateToken } from '../../rules/identity/token-propagation.ts'
import { traceparentIn } from '../../rules/tasks/trace-context.ts'
import { guardRun, type ModelTool, type OutwardContext, type ToolOutcome } from '../registry/tool.ts'
import { explainToolError, failTool, type ToolFailure } from '../registry/tool-error.ts'

/** The most bytes of one answer that are read. */
export const maxAnswerBytes = 10 * 1_048_576
/** Limit of the answer as a model receives it (BUILT-028). */
export const maxShownBytes = 61_440
const secretHeader = /auth|token|key|secret|cookie|password/i

export type CustomCall = {
  args: JsonObject
  context: OutwardContext
  signal: AbortSignal
  redact: Redactor
  /** Sent as Txn-Token. */
  token: string | undefined
  /** Sent along: the call is what its answerer's spans are below. */
  traceparent: string | undefined
}

export type CalledTool = {
  name: string
  /** The Tool resource, which the token is taken for. */
  owner: string
  parameters: JsonObject
  /** Sent with each call. */
  headers: Record<string, string>
  /** Values that no result shows. */
  secrets: string[]
}

/** A `Tool.invoke` around what the call itself does, which may throw. */
export function createInvoke(
  called: CalledTool,
  run: (call: CustomCall) => Promise<ToolOutcome>,
): ModelTool<OutwardContext>['invoke'] {
  const { name, parameters } = called
  const own = [...called.secrets, ...secretsOf(called.headers)]
  const redactOwn = createRedactor(own, 'tokens')
  return async (args, context, signal) => {
    const problems = findArgumentProblems(parameters, args)
    if (problems.length > 0) return failTool('invalid_arguments', `wrong arguments of ${name}: ${problems.join('; ')}`)
    const token = await takeToken(called, context, signal)
    if (token?.failure !== undefined) return { ...token.failure, error: redactOwn(token.failure.error) }
    const redact = token?.text === undefined ? redactOwn : createRedactor([...own, token.text], 'tokens')
    const { trace, step } = context
    const traceparent = trace && traceparentIn(trace, trace.attempt, step)
    const outcome = await guardRun(
      () => run({ args, context, signal, redact, token: token?.text, traceparent }),
      signal,
    )
    return outcome.success ? outcome : { ...outcome, error: redact(outcome.error) }
  }
}

function secretsOf(headers: Record<string, string>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => (secretHeader.test(name) ? [value] : []))
}

type TakenToken = { text: string | undefined; failure?: undefined } | { failure: ToolFailure }

/** The transaction's token for this one call, or why there is none: then nothing is sent (reference 3.7). */
async function takeToken(
  { name, owner, headers }: CalledTool,
  { propagation }: OutwardContext,
  signal: AbortSignal,
): Promise<TakenToken | undefined> {
  if (propagation === undefined) return undefined
  const checked = propagateToken(headers, undefined)
  if (checked.outcome === 'refused') return { failure: failTool('not_configured', `${name}: ${checked.message}`) }
  try {
    return { text: await propagation.takeToken(owner, signal) }
  } catch (error) {
    if (signal.aborted) return { failure: failTool('cancelled', 'the call was cancelled before it finished') }
    const { errorType, error: why, suggestion } = explainToolError(error)
    const shown = isSvcError(error) ? why : 'the exchange broke'
    return {
      failure: failTool(errorType, `${name} was not called because it has no transaction token: ${shown}`, suggestion),
    }
  }
}

type Schema = Record<string, unknown>

const maxDepth = 32

/** Every problem as `path: what is wrong`; unknown names are only a problem when additionalProperties is false. */
function findArgumentProblems(schema: Schema, value: unknown): string[] {
  return checkValue(schema, value, { path: '', depth: 0 })
}

type Position = { path: string; depth: number }

function checkValue(schema: unknown, value: unknown, position: Position): string[] {
  if (!isJsonObject(schema) || position.depth > maxDepth) return []
  const types = namedTypes(schema.type)
  if (types.length > 0 && !types.some((type) => hasType(value, type))) {
    return [describe(position, `must be ${types.join(' or ')}, not ${typeOf(value)}`)]
  }
  if (Array.isArray(schema.enum) && !schema.enum.some((allowed) => isSame(allowed, value))) {
    return [describe(position, `must be one of ${JSON.stringify(schema.enum).slice(0, 300)}`)]
  }
  if (Array.isArray(value)) return checkItems(schema.items, value, position)
  return isJsonObject(value) ? checkProperties(schema, value, position) : []
}

function checkItems(items: unknown, values: unknown[], position: Position): string[] {
  return values.flatMap((value, index) => checkValue(items, value, enter(position, String(index))))
}

function checkProperties(schema: Schema, value: Schema, position: Position): string[] {
  const properties = isJsonObject(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required.map(String) : []
  const missing = required.filter((name) => !Object.hasOwn(value, name))
  const unknown =
    schema.additionalProperties === false ? Object.keys(value).filter((n) => !Object.hasOwn(properties, n)) : []
  return [
    ...missing.map((name) => describe(enter(position, name), 'is required')),
    ...unknown.map((name) => describe(enter(position, name), 'is not known')),
    ...Object.entries(properties)
      .filter(([name]) => Object.hasOwn(value, name))
      .flatMap(([name, property]) => checkValue(property, value[name], enter(position, name))),
  ]
}

function enter(position: Position, name: string): Position {
  return { path: position.path === '' ? name : `${position.path}.${name}`, depth: position.depth + 1 }
}

function describe(position: Position, problem: string): string {
  return position.path === '' ? problem : `${position.path}: ${problem}`
}

function namedTypes(type: unknown): string[] {
  return (Array.isArray(type) ? type : [type]).filter((name) => typeof name === 'string')
}

function hasType(value: unknown, type: string): boolean {
  const actual = typeOf(value)
  if (type === 'number') return actual === 'number' || actual === 'integer'
  return actual === type
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
