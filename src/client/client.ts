// The typed REST client, built from the route table: one `call` for every route that is defined there.
import type {
  ErrorBody,
  Route,
  RouteAnswer,
  RouteBodyInput,
  RouteHeaders,
  RouteParams,
  RouteQueryInput,
} from '../contract/api/resources/route.ts'
import { type ErrorReason, errorStatus, messageOf, SvcError } from '../errors.ts'
import { tryParseJson } from '../lib/json.ts'

export type ApiClientOptions = {
  /** Base address, such as `http://127.0.0.1:8080`. */
  url: string
  token: string
  fetch?: typeof globalThis.fetch
}

/** A stream is sent in chunks; its length need not be known. */
export type RawBody = string | Uint8Array | AsyncIterable<Uint8Array | string>

export type CallInput<R extends Route> = {
  params?: { [K in keyof RouteParams<R>]: string }
  query?: RouteQueryInput<R>
  headers?: Partial<RouteHeaders<R>>
  body?: RouteBodyInput<R>
  /** For routes with `rawBody`. */
  raw?: { body: RawBody; contentType: string }
  signal?: AbortSignal
}

export interface Client {
  readonly url: string
  /** The JSON answer; undefined when the route has none. SvcError with the server's reason, or Unavailable. */
  call<R extends Route>(route: R, input?: CallInput<R>): Promise<RouteAnswer<R>>
  /** The answer with its body unread: event streams, files. */
  open<R extends Route>(route: R, input?: CallInput<R>): Promise<Response>
}

export function createApiClient(options: ApiClientOptions): Client {
  const doFetch = options.fetch ?? globalThis.fetch
  async function open<R extends Route>(route: R, input: CallInput<R> = {}): Promise<Response> {
    const response = await send(doFetch, buildUrl(options.url, route, input), buildRequest(route, options.token, input))
    if (!response.ok) throw await readError(response, input.signal)
    return response
  }
  return {
    url: options.url,
    open,
    async call(route, input) {
      const response = await open(route, input)
      return (await readAnswer(response, route, input?.signal)) as RouteAnswer<typeof route>
    },
  }
}

/** Unavailable where nothing answers at the address: a token would not help. */
export async function requireReachable(url: string): Promise<void> {
  await send(globalThis.fetch, `${url}/healthz`, {})
}

/** UpstreamFailed when the answer should be JSON and is not: something else answers at this address. */
async function readAnswer(response: Response, route: Route, signal: AbortSignal | undefined): Promise<unknown> {
  const text = await readToEnd(() => response.text(), signal)
  if (text === '' || route.responses[response.status]?.schema === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch (error) {
    const { origin } = new URL(response.url)
    throw new SvcError('UpstreamFailed', `the server at ${origin} is not a svc service`, { cause: error })
  }
}

async function send(doFetch: typeof globalThis.fetch, url: string, init: RequestInit): Promise<Response> {
  try {
    return await doFetch(url, init)
  } catch (error) {
    if (init.signal?.aborted) throw error
    const message = `${new URL(url).origin} cannot be reached (${describeCause(error)})`
    throw new SvcError('Unavailable', message, { cause: error })
  }
}

/** Reads a body. Unavailable when the connection is lost before its end. */
export async function readToEnd<T>(read: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (signal?.aborted) throw error
    throw new SvcError('Unavailable', `the answer broke off (${describeCause(error)})`, { cause: error })
  }
}

/** `fetch failed` says nothing; its cause does. */
function describeCause(error: unknown): string {
  const cause = error instanceof Error && error.cause ? error.cause : error
  const code = (cause as { code?: unknown }).code
  return messageOf(cause) || String(code ?? 'the connection failed')
}

function buildUrl(base: string, route: Route, input: CallInput<Route>): string {
  const params = (input.params ?? {}) as Record<string, string>
  const path = route.path.replace(/:([A-Za-z]+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  // A base address with a path, behind a proxy, keeps it.
  const url = new URL(base.replace(/\/$/, '') + path)
  for (const [name, value] of Object.entries(input.query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, String(value))
  }
  return url.href
}

function buildRequest(route: Route, token: string, input: CallInput<Route>): RequestInit {
  const headers: Record<string, string> = { authorization: `Bearer ${token}` }
  for (const [name, value] of Object.entries(input.headers ?? {}))
    if (value !== undefined) headers[name] = String(value)
  const init: RequestInit & { duplex?: 'half' } = { method: route.method, headers, redirect: 'error' }
  if (input.signal) init.signal = input.signal
  if (input.raw) {
    headers['content-type'] = input.raw.contentType
    init.body = input.raw.body as NonNullable<RequestInit['body']>
    init.duplex = 'half'
  } else if (input.body !== undefined) {
    headers['content-type'] = 'application/json'
    init.body = JSON.stringify(input.body)
  }
  return init
}

async function readError(response: Response, signal: AbortSignal | undefined): Promise<SvcError> {
  const text = await readToEnd(() => response.text(), signal)
  const body = parseErrorBody(text)
  const retryAfter = Number(response.headers.get('retry-after'))
  const options = {
    ...(body?.details ? { details: body.details } : {}),
    ...(retryAfter > 0 ? { retryAfterSeconds: retryAfter } : {}),
  }
  const reason = body && body.reason in errorStatus ? (body.reason as ErrorReason) : reasonOfStatus(response.status)
  return new SvcError(
    reason,
    body?.message ?? `the service answered ${response.status}: ${text.slice(0, 200)}`,
    options,
  )
}

function parseErrorBody(text: string): ErrorBody['error'] | undefined {
  return (tryParseJson(text) as ErrorBody | null | undefined)?.error
}

function reasonOfStatus(status: number): ErrorReason {
  // Of a gateway before the service, which it does not reach.
  if (status === 502 || status === 504) return 'Unavailable'
  const found = Object.entries(errorStatus).find(([, known]) => known === status)
  return (found?.[0] as ErrorReason | undefined) ?? 'Internal'
}
