// Which of a caller's headers go on to a vendor: those about the answer, none that identify the caller.
import type { IncomingHttpHeaders } from 'node:http'
import { defaultVersion } from '../../proxy/target.ts'
import type { ProxyFamily } from '../../proxy/types.ts'

const passed = new Set(['accept', 'content-type', 'idempotency-key', 'user-agent', 'x-app', 'x-client-request-id'])
const passedPrefixes: Record<ProxyFamily, string[]> = {
  llma: ['anthropic-', 'x-stainless-'],
  llmo: ['openai-', 'x-stainless-'],
}
/** These name an account, and the account is the provider's. */
const accountHeaders = new Set(['openai-organization', 'openai-project', 'anthropic-organization-id'])

function isPassed(name: string, prefixes: readonly string[]): boolean {
  if (passed.has(name)) return true
  return prefixes.some((prefix) => name.startsWith(prefix)) && !accountHeaders.has(name)
}

/** Names and values alternate. Answers must be uncompressed, so that their tokens can be counted. */
export function pickUpstreamHeaders(headers: IncomingHttpHeaders, family: ProxyFamily): string[] {
  const picked = ['accept-encoding', 'identity']
  const prefixes = passedPrefixes[family]
  for (const name in headers) {
    const value = headers[name]
    if (typeof value === 'string' && isPassed(name, prefixes)) picked.push(name, value)
  }
  if (family === 'llma' && headers['anthropic-version'] === undefined) {
    const version = headers['llma-version']
    picked.push('anthropic-version', typeof version === 'string' ? version : defaultVersion)
  }
  return picked
}
