// A context token for one call of a custom tool: exchanged for that call, and never with more than the transaction's
// rights.
import { dropUndefined } from '../contract/json.ts'
import { SvcError } from '../errors.ts'
import type { CallerTransaction } from '../ports/identity.ts'
import { chooseOutboundScope } from '../rules/token-propagation.ts'
import type { UsecaseDeps } from './deps.ts'

export type ToolTokenRequest = {
  /** The limits of the new token. */
  transaction: { scope?: string | undefined; scopes?: readonly string[] | undefined }
  /** What to exchange when the settings ask for the caller's own token: a task's token, or the one of the request. */
  subject: { subjectToken?: string; incoming?: CallerTransaction }
  tool: string
  namespace: string
  task?: string
}

export type ToolToken = { token: string; expiresAt?: string }

/** NotConfigured when there is no exchange; Forbidden beyond the transaction's scope; errors of the exchange. */
export async function issueToolToken(
  { ports, settings }: Pick<UsecaseDeps, 'ports' | 'settings'>,
  request: ToolTokenRequest,
  signal?: AbortSignal,
): Promise<ToolToken> {
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
