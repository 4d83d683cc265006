// What every call of a custom tool has around it: arguments that fit, the transaction's token, nothing secret in results.
import type { JsonObject } from '../../contract/schema/json.ts'
import { isSvcError } from '../../errors.ts'
import { createRedactor, type Redactor } from '../../observability/redaction.ts'
import { propagateToken } from '../../rules/identity/token-propagation.ts'
import { guardRun, type OutwardContext, type Tool, type ToolOutcome } from '../registry/tool.ts'
import { explainToolError, failTool, type ToolFailure } from '../registry/tool-error.ts'
import { findArgumentProblems } from './json-schema.ts'

/** The most bytes of one answer that are read. */
export const largestAnswer = 10 * 1_048_576
/** Limit of the answer as a model receives it (BUILT-028). */
export const largestShown = 61_440
const secretHeader = /auth|token|key|secret|cookie|password/i

export type CustomCall = {
  args: JsonObject
  context: OutwardContext
  signal: AbortSignal
  redact: Redactor
  /** Sent as Txn-Token. */
  token: string | undefined
}

export type Called = {
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
  called: Called,
  run: (call: CustomCall) => Promise<ToolOutcome>,
): Tool<OutwardContext>['invoke'] {
  const { name, parameters } = called
  const own = [...called.secrets, ...secretsOf(called.headers)]
  const redactOwn = createRedactor(own, 'tokens')
  return async (args, context, signal) => {
    const problems = findArgumentProblems(parameters, args)
    if (problems.length > 0) return failTool('invalid_arguments', `wrong arguments of ${name}: ${problems.join('; ')}`)
    const token = await takeToken(called, context, signal)
    if (token?.failure !== undefined) return { ...token.failure, error: redactOwn(token.failure.error) }
    const redact = token?.text === undefined ? redactOwn : createRedactor([...own, token.text], 'tokens')
    const outcome = await guardRun(() => run({ args, context, signal, redact, token: token?.text }), signal)
    return outcome.success ? outcome : { ...outcome, error: redact(outcome.error) }
  }
}

function secretsOf(headers: Record<string, string>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => (secretHeader.test(name) ? [value] : []))
}

type TakenToken = { text: string | undefined; failure?: undefined } | { failure: ToolFailure }

/** The transaction's token for this one call, or why there is none: then nothing is sent (reference 3.7). */
async function takeToken(
  { name, owner, headers }: Called,
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
