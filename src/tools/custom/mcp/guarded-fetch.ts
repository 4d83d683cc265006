// The `fetch` that the protocol's SDK gets: under the rules of the egress room, bounded in size, and with the
// server's credential for the server alone.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { McpServer } from '../../../contract/api/tools/assigned-tool.ts'
import { isSvcError, SvcError } from '../../../errors.ts'
import { answerBuffers, BufferQuotaError } from '../../../lib/buffer-quota.ts'
import type { Egress, EgressPolicy } from '../../../ports/service/egress.ts'
import { propagationHeader } from '../../../rules/identity/token-propagation.ts'
import { maxAnswerBytes } from '../custom-call.ts'

/** What dials out. */
export type Reach = { egress: Pick<Egress, 'fetchWith'>; egressPolicy: Pick<EgressPolicy, 'allowNetworks' | 'deny'> }

/** The transaction's token of the call that a request belongs to. */
export const callToken = new AsyncLocalStorage<string | undefined>()

type Fetch = typeof globalThis.fetch
type Target = { url: URL; method: string; headers: Headers }

/** `onExcess` hears of an answer that is cut off, because the SDK does not say what became of a stream. */
export function createGuardedFetch(server: McpServer, reach: Reach, onExcess: (error: SvcError) => void): Fetch {
  const { allowedHosts, via } = server
  const policy = { ...reach.egressPolicy, ...(via === undefined ? {} : { via }) }
  const open = reach.egress.fetchWith(policy)
  const guarded = allowedHosts === undefined ? open : reach.egress.fetchWith({ ...policy, allowedHosts })
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    const target = { url, method: init?.method ?? 'GET', headers: new Headers(init?.headers) }
    if (isIdleStream(target, server)) return new Response(null, { status: 405 })
    if (url.origin === new URL(server.url).origin) addOwnHeaders(target.headers, server)
    const send = mayHoldSecret(target, server) ? guarded : open
    return limit(await send(url.href, { ...init, headers: [...target.headers] }), url, onExcess)
  }
}

/** A stream for what the server says unasked: nothing that this client wants. Streams that are taken up again are. */
function isIdleStream({ url, method, headers }: Target, server: McpServer): boolean {
  const isStream = method === 'GET' && headers.get('accept') === 'text/event-stream'
  return isStream && !headers.has('last-event-id') && url.href === new URL(server.url).href
}

/** Those of the protocol win. */
function addOwnHeaders(headers: Headers, { headers: own, token }: McpServer): void {
  const transaction = callToken.getStore()
  if (transaction !== undefined) headers.set(propagationHeader, transaction)
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
  for (const [name, value] of Object.entries(own)) if (!headers.has(name)) headers.set(name, value)
}

/** The secret of an OAuth client goes to the authorization server, never to the MCP server itself. */
function mayHoldSecret({ url, method }: Target, server: McpServer): boolean {
  if (server.oauth === undefined) return true
  const endpoint = new URL(server.url)
  return url.href !== endpoint.href && !(method === 'GET' && url.origin === endpoint.origin)
}

/** The SDK's parser of streams makes an error object of each line that it does not know. */
const maxLines = 20_000

function countLines(chunk: Uint8Array): number {
  let count = 0
  for (const byte of chunk) if (byte === 0x0a || byte === 0x0d) count += 1
  return count
}

/** Why no more of an answer is read; undefined when it is another failure. */
function explainExcess(error: unknown, host: string): SvcError | undefined {
  if (error instanceof BufferQuotaError) return new SvcError('TooLarge', `${host}: ${error.message}`, { cause: error })
  return isSvcError(error, 'TooLarge') ? error : undefined
}

/** Says what a chunk has too much of. */
function createMeter(headers: Headers): (chunk: Uint8Array) => string | undefined {
  const isStream = headers.get('content-type')?.includes('event-stream') === true
  let bytes = 0
  let lines = 0
  return (chunk) => {
    bytes += chunk.byteLength
    if (isStream) lines += countLines(chunk)
    if (bytes > maxAnswerBytes) return `${maxAnswerBytes / 1_048_576} MiB`
    return lines > maxLines ? `${maxLines} lines` : undefined
  }
}

async function* readLimited({ headers, body }: Response, host: string, onExcess: (error: SvcError) => void) {
  const findExcess = createMeter(headers)
  const buffer = answerBuffers.open()
  try {
    for await (const chunk of body ?? []) {
      const allowed = findExcess(chunk)
      if (allowed !== undefined) throw new SvcError('TooLarge', `${host} sent more than ${allowed} in one answer`)
      await buffer.add(chunk.byteLength)
      yield chunk
    }
  } catch (error) {
    const excess = explainExcess(error, host)
    if (excess !== undefined) onExcess(excess)
    throw excess ?? error
  } finally {
    buffer.release()
  }
}

function limit(response: Response, { host }: URL, onExcess: (error: SvcError) => void): Response {
  if (response.body === null) return response
  const { status, statusText, headers } = response
  const body = ReadableStream.from(readLimited(response, host, onExcess))
  return new Response(body, { status, statusText, headers: [...headers] })
}
