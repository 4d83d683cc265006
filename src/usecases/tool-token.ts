// A context token for one call of a custom tool: exchanged for it alone, and never for more than the transaction allows.
import { SvcError } from '../errors.ts'
import type { CallerTransaction } from '../ports/identity.ts'
import { chooseOutboundScope } from '../rules/token-propagation.ts'
import type { UsecaseDeps } from './deps.ts'

export type ToolTokenRequest = {
  /** What the new token may not go beyond. */
  transaction: { scope?: string | undefined; scopes?: readonly string[] | undefined }
  /** What is exchanged, where the settings want the caller's own: a task's token, or the one that a request came with. */
  subject: { subjectToken?: string; incoming?: CallerTransaction }
  tool: string
  namespace: string
  task?: string
}

export type ToolToken = { token: string; expiresAt?: string }

/** NotConfigured where nothing is exchanged; Forbidden beyond the transaction's scope; what the exchange rejects with. */
export async function issueToolToken(
  { ports, settings }: Pick<UsecaseDeps, 'ports' | 'settings'>,
  request: ToolTokenRequest,
  signal?: AbortSignal,
): Promise<ToolToken> {
  const { propagation } = settings
  if (ports.tokenExchange === undefined || propagation === undefined) {
    throw new SvcError('NotConfigured', 'context tokens are not exchanged here: see --context-token-tts-url')
  }
  const choice = chooseOutboundScope(propagation.outboundScope, request.transaction)
  if (choice.outcome === 'refused') throw new SvcError('Forbidden', choice.message)
  const { tool, namespace, task } = request
  const details = { operation: 'httpTool', tool, namespace, ...(task === undefined ? {} : { task }) }
  const exchange = { ...request.subject, scope: choice.scope, ttlMs: propagation.toolTtlMs, details }
  const { requesterContext = {} } = request.subject.incoming ?? {}
  const about = Object.keys(requesterContext).length === 0 ? {} : { requesterContext }
  return ports.tokenExchange.exchange({ ...exchange, ...about }, signal)
}
