// Token exchange (RFC 8693) with a transaction-token service: a new context token for a child task or a tool's call.
import { readFile } from 'node:fs/promises'
import { SvcError } from '../../errors.ts'
import { type Clock, monotonicMs } from '../../lib/clock.ts'
import { isJsonObject, tryParseJson } from '../../lib/json.ts'
import { trimTrailing } from '../../lib/trim.ts'
import type { CallerTransaction, ExchangeRequest, TokenExchange } from '../../ports/identity/identity.ts'
import { type FetchLike, fetchText } from '../document.ts'

const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange'
const transactionType = 'urn:ietf:params:oauth:token-type:txn_token'
const accessType = 'urn:ietf:params:oauth:token-type:access_token'
const maxTokenLength = 16_384

/** What is exchanged: the service's own token, the caller's, or nothing (the exchange already knows the service). */
export type SubjectSource = 'serviceAccount' | 'incoming' | 'none'

export type ExchangeSettings = {
  url: string
  audience?: string
  timeoutMs: number
  source: SubjectSource
  /** Absent: access_token of a service account, else txn_token. */
  subjectTokenType?: string
}

export type ExchangeOptions = {
  settings: ExchangeSettings
  clock: Clock
  /** The service's own token, for the source `serviceAccount`. */
  readOwnToken?: () => Promise<string | undefined>
  /** The token that a request came with, for the source `incoming`. */
  incomingTokens?: Pick<IncomingTokens, 'of'>
  fetch?: FetchLike
  /** Called with each exchange, for the metrics. */
  observe?: (result: {
    result: 'ok' | 'failed'
    reason: 'ok' | 'exchange_error' | 'not_configured'
    ms: number
  }) => void
}

function endpointOf(url: string): string {
  return `${trimTrailing(url, '/')}/token_endpoint`
}

function missing(what: string): never {
  throw new SvcError('NotConfigured', `the token exchange has no ${what}: see --context-token-tts-token-source`)
}

function pickIncoming({ subjectToken, incoming }: ExchangeRequest, options: ExchangeOptions): string {
  return subjectToken ?? (incoming && options.incomingTokens?.of(incoming)) ?? missing('incoming token')
}

async function pickSubject(request: ExchangeRequest, options: ExchangeOptions): Promise<string | undefined> {
  const { source } = options.settings
  if (source === 'none') return undefined
  if (source === 'incoming') return pickIncoming(request, options)
  return (await options.readOwnToken?.()) ?? missing('service-account token')
}

function writeForm(request: ExchangeRequest, settings: ExchangeSettings, subject: string | undefined): URLSearchParams {
  const type = settings.subjectTokenType ?? (settings.source === 'serviceAccount' ? accessType : transactionType)
  const form = new URLSearchParams({ grant_type: grantType, requested_token_type: transactionType })
  if (subject !== undefined) form.set('subject_token', subject)
  if (subject !== undefined) form.set('subject_token_type', type)
  form.set('scope', request.scope)
  if (settings.audience !== undefined) form.set('audience', settings.audience)
  form.set('requested_expires_in', String(Math.max(1, Math.ceil(request.ttlMs / 1000))))
  form.set('request_details', JSON.stringify(request.details))
  if (request.requesterContext !== undefined) form.set('request_context', JSON.stringify(request.requesterContext))
  return form
}

function refused(status: number): SvcError {
  // Quotes nothing of the answer, which may repeat the token that was sent.
  return new SvcError('UpstreamFailed', `the transaction-token service refused the exchange (status ${status})`)
}

type Reply = { access_token?: unknown; expires_in?: unknown; issued_token_type?: unknown }

function parseReply(text: string): Reply {
  const value = tryParseJson(text)
  return isJsonObject(value) ? value : {}
}

function readReply(
  { status, text }: { status: number; text: string },
  now: Date,
): { token: string; expiresAt?: string } {
  if (status !== 200) throw refused(status)
  const { access_token: token, expires_in: seconds, issued_token_type: type } = parseReply(text)
  const isToken = typeof token === 'string' && /^[\x21-\x7e]+$/.test(token) && token.length <= maxTokenLength
  if (!isToken || (type !== undefined && type !== transactionType)) throw refused(status)
  if (typeof seconds !== 'number' || !(seconds > 0) || seconds > 1e9) return { token }
  return { token, expiresAt: new Date(now.getTime() + seconds * 1000).toISOString() }
}

async function send(form: URLSearchParams, options: ExchangeOptions, signal: AbortSignal | undefined) {
  const { settings } = options
  const init = { method: 'POST', body: form, headers: { accept: 'application/json' } }
  const reach = options.fetch === undefined ? {} : { fetch: options.fetch }
  const limits = { timeoutMs: settings.timeoutMs, signal }
  try {
    return await fetchText(endpointOf(settings.url), { ...reach, ...limits, init })
  } catch {
    signal?.throwIfAborted()
    throw new SvcError('Unavailable', 'the transaction-token service cannot be reached: try again later')
  }
}

export function createTokenExchange(options: ExchangeOptions): TokenExchange {
  const { settings, clock, observe } = options

  async function run(request: ExchangeRequest, signal: AbortSignal | undefined) {
    const form = writeForm(request, settings, await pickSubject(request, options))
    return readReply(await send(form, options, signal), clock.now())
  }

  return {
    async exchange(request, signal) {
      const began = monotonicMs(clock)
      const elapsed = () => monotonicMs(clock) - began
      try {
        const token = await run(request, signal)
        observe?.({ result: 'ok', reason: 'ok', ms: elapsed() })
        return token
      } catch (error) {
        const isMissing = error instanceof SvcError && error.reason === 'NotConfigured'
        observe?.({ result: 'failed', reason: isMissing ? 'not_configured' : 'exchange_error', ms: elapsed() })
        throw error
      }
    },
  }
}

// The service account's token, which the kubelet mounts into the service's pod and renews: read before each exchange.

const mountedToken = '/var/run/secrets/kubernetes.io/serviceaccount/token'

/** Undefined when there is none, as outside a cluster. */
export async function readServiceAccountToken(path = mountedToken): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim() || undefined
  } catch {
    return undefined
  }
}

// The context tokens of requests, for as long as their transactions live: stored separately, so that code that
// shows or stores a caller can never show its token.

export type IncomingTokens = {
  keep(transaction: CallerTransaction, token: string): void
  of(transaction: CallerTransaction): string | undefined
}

export function createIncomingTokens(): IncomingTokens {
  const tokens = new WeakMap<CallerTransaction, string>()
  return {
    keep: (transaction, token) => void tokens.set(transaction, token),
    of: (transaction) => tokens.get(transaction),
  }
}
