// A context token for one call of a custom tool: exchanged for that call, and never with more than the transaction's
// rights.
import { SvcError } from '../../errors.ts'
import { dropUndefined } from '../../lib/json.ts'
import type { Caller, CallerTransaction } from '../../ports/identity/identity.ts'
import { chooseOutboundScope } from '../../rules/identity/token-propagation.ts'
import type { TokenPropagation } from '../../tools/registry/tool.ts'
import type { UsecaseDeps } from '../service/deps.ts'

export type ToolTokenRequest = {
  /** The limits of the new token. */
  transaction: { scope?: string | undefined; scopes?: readonly string[] | undefined }
  /** What to exchange when the settings ask for the caller's own token: a task's token, or the one of the request. */
  subject: { subjectToken?: string; incoming?: CallerTransaction }
  tool: string
  namespace: string
  task?: string
}

export type IssuedToolToken = { token: string; expiresAt?: string }

/** NotConfigured when there is no exchange; Forbidden beyond the transaction's scope; errors of the exchange. */
export async function issueToolToken(
  { ports, settings }: Pick<UsecaseDeps, 'ports' | 'settings'>,
  request: ToolTokenRequest,
  signal?: AbortSignal,
): Promise<IssuedToolToken> {
  const { propagation } = settings
  if (ports.tokenExchange === undefined || propagation === undefined) {
    throw new SvcError('NotConfigured', 'this service does not exchange context tokens; see --context-token-tts-url')
  }
  const choice = chooseOutboundScope(propagation.outboundScope, request.transaction)
  if (choice.outcome === 'refused') throw new SvcError('Forbidden', choice.message)
  const { tool, namespace, task } = request
  const details = dropUndefined({ operation: 'httpTool', tool, namespace, task })
  const exchange = { ...request.subject, scope: choice.scope, ttlMs: propagation.toolTtlMs, details }
  const { requesterContext = {} } = request.subject.incoming ?? {}
  const about = Object.keys(requesterContext).length === 0 ? {} : { requesterContext }
  return ports.tokenExchange.exchange({ ...exchange, ...about }, signal)
}

/** A request's own transaction is sent along with its tool calls; without an exchange there is no token to send. */
export function propagateOf(
  deps: Pick<UsecaseDeps, 'ports' | 'settings'>,
  { caller: { transaction }, namespace }: { caller: Caller; namespace: string },
): TokenPropagation | undefined {
  if (deps.settings.propagation === undefined) return undefined
  return {
    async takeToken(tool, signal) {
      if (transaction === undefined || deps.ports.tokenExchange === undefined) return undefined
      const request = { transaction, subject: { incoming: transaction }, tool, namespace }
      return (await issueToolToken(deps, request, signal)).token
    },
  }
}
