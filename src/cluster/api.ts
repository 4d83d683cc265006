// Talks to the API server: JSON requests over kept-alive connections, counted, and repeated where that is safe.
import type { Dispatcher } from 'undici'
import { isSvcError } from '../errors.ts'
import { abortable } from '../lib/abort.ts'
import { type Backoff, delayMs } from '../lib/backoff.ts'
import type { Clock, Ids } from '../lib/clock.ts'
import { isUnsent } from '../lib/error-code.ts'
import type { ApiConnection } from './api/connection.ts'
import { answerTimeoutMs, createPools } from './api/connection.ts'
import { type ApiStatus, describeFailure, describeUnreachable, parseStatus } from './api/failures.ts'
import { type ApiTarget, formatApiPath, formatResource, type QueryValue } from './api/paths.ts'

export type ApiVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'

export type ApiRequest = ApiTarget & {
  verb: ApiVerb
  query?: Record<string, QueryValue>
  body?: unknown
  /** The content type of a patch. */
  patch?: 'merge' | 'json' | 'strategic' | 'apply'
  /** Requests only the metadata of objects. */
  metadataOnly?: boolean | undefined
  signal?: AbortSignal | undefined
  /** The most tries, including the first; default 4. */
  tries?: number
  /** Milliseconds without a byte of a stream before it counts as dead; default: no limit. */
  silenceMs?: number
}

export type RequestCount = { verb: ApiVerb; resource: string; count: number }

export interface KubernetesApi {
  /** Namespace of the service itself. */
  readonly namespace: string
  /** The answer's JSON. Throws the SvcError of `describeFailure`. */
  request<T>(request: ApiRequest): Promise<T>
  /** The answer's bytes as they arrive: watches, logs. Uses separate connections, so that requests never wait. */
  stream(request: ApiRequest): Promise<AsyncIterable<Uint8Array>>
  /** Requests sent so far, including repeats, by verb and resource (`tasks/status`). */
  countRequests(): RequestCount[]
  /** Ends running requests and closes the connections. */
  close(): Promise<void>
}

export type KubernetesApiOptions = {
  connection: ApiConnection
  clock: Clock
  ids: Ids
}

const methods: Record<ApiVerb, Dispatcher.HttpMethod> = {
  get: 'GET',
  list: 'GET',
  watch: 'GET',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETE',
}

const patchTypes = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
}

const defaultTries = 4
const backoff: Backoff = { firstMs: 200, maxMs: 5000 }

type Refused = { status: ApiStatus; retryAfterSeconds: number | undefined }

function readRetryAfter(headers: Record<string, string | string[] | undefined>): number | undefined {
  const seconds = Number(headers['retry-after'])
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined
}

function isReading(verb: ApiVerb): boolean {
  return verb === 'get' || verb === 'list' || verb === 'watch'
}

/**
 * The server answers 401 and 429 before it does anything, and so a 503 with a Retry-After; any other server error may
 * follow the write, so only reads are repeated.
 */
function isRepeatable(verb: ApiVerb, { status, retryAfterSeconds }: Refused): boolean {
  const code = status.code ?? 0
  if (code === 401 || code === 429 || (code === 503 && retryAfterSeconds !== undefined)) return true
  return code >= 500 && isReading(verb)
}

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches */
function chooseAnswer({ verb, metadataOnly }: ApiRequest): string {
  if (!metadataOnly) return '*/*'
  const kind = verb === 'list' ? 'PartialObjectMetadataList' : 'PartialObjectMetadata'
  return `application/json;as=${kind};g=meta.k8s.io;v=v1`
}

function makeHeaders(request: ApiRequest, credentials: Record<string, string>): Record<string, string> {
  const { patch, body } = request
  const headers = { ...credentials, accept: chooseAnswer(request) }
  if (body === undefined) return headers
  return { ...headers, 'content-type': patch === undefined ? 'application/json' : patchTypes[patch] }
}

type Read<T> = (response: Dispatcher.ResponseData) => Promise<T>

type Outcome<T> = { answer: T } | { error: unknown; isRepeatable: boolean; retryAfterSeconds?: number | undefined }

/** Sends a request once. */
function createSender({ connection, clock }: KubernetesApiOptions, count: (request: ApiRequest) => void) {
  const pools = createPools({ connection, clock })
  const closed = new AbortController()

  async function send(request: ApiRequest, isStream: boolean): Promise<Dispatcher.ResponseData> {
    const { requests, streams, headers } = await pools.open()
    count(request)
    const { verb, body, query, silenceMs = 0 } = request
    const signal = request.signal === undefined ? closed.signal : AbortSignal.any([request.signal, closed.signal])
    const sent = (isStream ? streams : requests).request({
      origin: connection.origin,
      path: `${connection.pathPrefix}${formatApiPath(request, query)}`,
      method: methods[verb],
      headers: makeHeaders(request, headers),
      body: body === undefined ? null : JSON.stringify(body),
      headersTimeout: answerTimeoutMs,
      bodyTimeout: isStream ? silenceMs : answerTimeoutMs,
      signal,
    })
    // While it waits for a connection undici does not heed the signal, for as long as a handshake may take.
    return abortable(sent, signal)
  }

  async function refuse(response: Dispatcher.ResponseData): Promise<Refused> {
    const status = parseStatus(await response.body.text(), response.statusCode)
    if (status.code === 401) pools.forget()
    return { status, retryAfterSeconds: readRetryAfter(response.headers) ?? status.details?.retryAfterSeconds }
  }

  async function attempt<T>(request: ApiRequest, isStream: boolean, read: Read<T>): Promise<Outcome<T>> {
    const { verb, signal } = request
    try {
      const response = await send(request, isStream)
      if (response.statusCode < 300) return { answer: await read(response) }
      const refused = await refuse(response)
      const { status, retryAfterSeconds } = refused
      return { error: describeFailure(status), isRepeatable: isRepeatable(verb, refused), retryAfterSeconds }
    } catch (error) {
      if (signal?.aborted || isSvcError(error)) throw error
      const canRepeat = !closed.signal.aborted && (isUnsent(error) || isReading(verb))
      return { error: describeUnreachable(error), isRepeatable: canRepeat }
    }
  }

  return {
    attempt,
    close: async () => {
      closed.abort()
      await pools.close()
    },
  }
}

/** An empty list may have `null` for its items, as metadata lists do. */
async function readAnswer<T>({ verb }: ApiRequest, { body }: Dispatcher.ResponseData): Promise<T> {
  const answer = (await body.json()) as T & { items?: unknown[] | null }
  return verb === 'list' ? { ...answer, items: answer.items ?? [] } : answer
}

/** A body that breaks before it is read must not end the process: its reader receives the error. */
async function openBody({ body }: Dispatcher.ResponseData): Promise<AsyncIterable<Uint8Array>> {
  body.on('error', () => undefined)
  return body
}

export function createKubernetesApi(options: KubernetesApiOptions): KubernetesApi {
  const { connection, clock, ids } = options
  const counts = new Map<string, RequestCount>()
  const sender = createSender(options, (request) => {
    const { verb } = request
    const resource = formatResource(request)
    const entry = counts.get(`${verb} ${resource}`) ?? { verb, resource, count: 0 }
    counts.set(`${verb} ${resource}`, { ...entry, count: entry.count + 1 })
  })

  /** Waits before the next try; false when there is none. */
  async function waitToRepeat(request: ApiRequest, tried: number, retryAfterSeconds = 0): Promise<boolean> {
    if (tried >= (request.tries ?? defaultTries) || retryAfterSeconds * 1000 > backoff.maxMs) return false
    await clock.sleep(Math.max(delayMs(backoff, tried, ids.random()), retryAfterSeconds * 1000), request.signal)
    return true
  }

  async function perform<T>(request: ApiRequest, isStream: boolean, read: Read<T>): Promise<T> {
    for (let tried = 1; ; tried += 1) {
      const outcome = await sender.attempt(request, isStream, read)
      if ('answer' in outcome) return outcome.answer
      if (!outcome.isRepeatable || !(await waitToRepeat(request, tried, outcome.retryAfterSeconds))) throw outcome.error
    }
  }

  return {
    namespace: connection.namespace,
    request: <T>(request: ApiRequest) => perform(request, false, (response) => readAnswer<T>(request, response)),
    stream: (request) => perform(request, true, openBody),
    countRequests: () => [...counts.values()],
    close: sender.close,
  }
}

const pageSize = 500

/** Every object of a collection, page after page. */
export async function listAllPages<T>(
  api: Pick<KubernetesApi, 'request'>,
  { query = {}, ...request }: Omit<ApiRequest, 'verb'>,
): Promise<T[]> {
  type Page = { items: T[]; metadata: { continue?: string } }
  const found: T[] = []
  let token: string | undefined
  do {
    const page: Page = await api.request({
      ...request,
      verb: 'list',
      query: { ...query, limit: pageSize, continue: token },
    })
    found.push(...page.items)
    token = page.metadata.continue || undefined
  } while (token !== undefined)
  return found
}
