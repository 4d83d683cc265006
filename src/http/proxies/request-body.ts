// What a proxied request is: its route, found by path, its body as raw bytes, and the headers that go on to a vendor.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { type ProxyMethods, proxyEndpoints } from '../../contract/api/providers/proxies.ts'
import { SvcError } from '../../errors.ts'
import { defaultVersion } from '../../proxy/target.ts'
import type { ProxyFamily } from '../../proxy/types.ts'

const jsonType = /^application\/(?:json|[\w.+-]+\+json)\s*(?:;|$)/i

function tooLarge(limit: number): SvcError {
  return new SvcError('TooLarge', `the body is larger than ${limit} bytes; send less at once`)
}

/** UnsupportedMediaType when it is not JSON, or compressed; TooLarge when Content-Length is over the limit. */
export function checkBodyHeaders({ headers }: IncomingMessage, limit: number): void {
  if (!jsonType.test(headers['content-type'] ?? '')) {
    throw new SvcError(
      'UnsupportedMediaType',
      'the body must be JSON; send it with the header Content-Type: application/json',
    )
  }
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') {
    throw new SvcError(
      'UnsupportedMediaType',
      `Content-Encoding ${encoding.slice(0, 50)} is not supported here; send the body uncompressed`,
    )
  }
  if (Number(headers['content-length'] ?? 0) > limit) throw tooLarge(limit)
}

/** TooLarge beyond the limit; ClientClosed when the client disconnects before the end. */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let size = 0
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size <= limit) return void parts.push(chunk)
      request.off('data', onData)
      reject(tooLarge(limit))
    }
    // Both events also come after the end; the error is only created when one is due.
    const onGone = () => {
      if (!request.complete) reject(new SvcError('ClientClosed', 'the client closed the connection'))
    }
    request.on('data', onData)
    request.once('end', () => {
      request.off('close', onGone)
      resolve(parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts))
    })
    request.once('error', onGone)
    request.once('close', onGone)
  })
}

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

export type ProxyRoute = {
  method: keyof ProxyMethods
  /** The path of the route, with `:model` for the id of a model, `:id` for that of a response. */
  path: string
  endpoint: NonNullable<ProxyMethods[keyof ProxyMethods]>
  /** The variable part of the path, decoded; ids of models may contain a slash, which clients write as it is or as `%2F`. */
  id?: string
  /** Without the question mark. */
  query: string
}

export type FoundProxyRoute = { route: ProxyRoute | undefined; methods: string[]; path: string }

const variablePaths = [
  { pattern: /^(\/(?:llma|llmo)\/v1\/models\/)(.+)$/s, variable: ':model' },
  { pattern: /^(\/llmo\/v1\/responses\/)([^/]+)$/, variable: ':id' },
]

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The route's path, with an id in its variable part. */
function readVariablePath(path: string): { path: string; id?: string } {
  for (const { pattern, variable } of variablePaths) {
    const [, base, id] = pattern.exec(path) ?? []
    if (base !== undefined && id !== undefined) return { path: base + variable, id: decode(id) }
  }
  return { path }
}

/** The route of a request; without one, the methods that its path supports. */
export function findProxyRoute(requested: string, target: string): FoundProxyRoute {
  const mark = target.indexOf('?')
  const pathname = mark === -1 ? target : target.slice(0, mark)
  const { path, id } = readVariablePath(pathname)
  const known: ProxyMethods = proxyEndpoints.get(path) ?? {}
  const method = (requested === 'HEAD' ? 'GET' : requested) as keyof ProxyMethods
  const endpoint = Object.hasOwn(known, method) ? known[method] : undefined
  if (endpoint === undefined) {
    const methods = Object.keys(known).flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : [each]))
    return { route: undefined, methods, path: pathname }
  }
  const query = mark === -1 ? '' : target.slice(mark + 1)
  return { route: { method, path, endpoint, query, id }, methods: [], path: pathname }
}
