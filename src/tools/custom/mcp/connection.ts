// One session with an MCP server, over the SDK of the protocol, which is loaded with the first one (ADR 0043); a run's link to
// the server, opened with its first call and again when the server has lost its session; and errors that name the server.
import type {
  JsonSchemaValidatorResult,
  jsonSchemaValidator as Validator,
} from '@modelcontextprotocol/sdk/validation/types.js'
import { z } from 'zod'
import type { McpServer } from '../../../contract/api/tools/assigned-tool.ts'
import { isSvcError, messageOf, SvcError } from '../../../errors.ts'
import { abortable, followSignals } from '../../../lib/abort.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { createGuardedFetch, type Reach } from './guarded-fetch.ts'

export type McpCallOptions = {
  signal: AbortSignal
  /** Goes along in `_meta`. */
  traceparent?: string | undefined
  /** How far the server says it is. */
  onProgress?:
    | ((progress: { progress: number; total?: number | undefined; message?: string | undefined }) => void)
    | undefined
}

type Limits = { signal: AbortSignal; timeout: number; onprogress: McpCallOptions['onProgress'] }

export type McpConnection = {
  /** Results as the server gives them: one odd part of a list or a content says nothing against the others. */
  listTools(cursor: string | undefined, options: McpCallOptions): Promise<JsonObject>
  callTool(call: { name: string; args: JsonObject }, options: McpCallOptions): Promise<JsonObject>
  /** Whether the server gave it a session, which can be lost. */
  hasSession(): boolean
  /** Why it can be used no more; the SDK's own errors do not say. */
  failure(): SvcError | undefined
  /** Values that no result may show, besides those of the server's own. */
  secrets(): string[]
  /** Ends the session at the server as well. Never rejects. */
  close(): Promise<void>
}

/** Node allows a timer of 2^31 - 1 ms at most. The signal of a call ends it sooner. */
const unlimited = 2 ** 31 - 1
const closingMs = 2000

async function loadSdk() {
  const [{ Client }, { StreamableHTTPClientTransport }] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
  ])
  return { Client, StreamableHTTPClientTransport }
}

const AnyResult = z.looseObject({})

async function createAuthProvider({ oauth }: McpServer) {
  if (oauth === undefined) return undefined
  const { ClientCredentialsProvider } = await import('@modelcontextprotocol/sdk/client/auth-extensions.js')
  const { issuer: expectedIssuer, scope, ...client } = oauth
  return new ClientCredentialsProvider({ ...client, expectedIssuer, ...(scope === undefined ? {} : { scope }) })
}

/** Schemas of results are the server's own: nothing is compiled from them. */
const jsonSchemaValidator: Validator = {
  getValidator<T>() {
    return (data): JsonSchemaValidatorResult<T> => ({ valid: true, data: data as T, errorMessage: undefined })
  },
}

/** Rejects with errors of the SDK and of the egress room. */
export async function openConnection(server: McpServer, reach: Reach, signal: AbortSignal): Promise<McpConnection> {
  const [{ Client, StreamableHTTPClientTransport }, authProvider] = await Promise.all([
    loadSdk(),
    createAuthProvider(server),
  ])
  const broken = new AbortController()
  const fetch = createGuardedFetch(server, reach, (error) => broken.abort(error))
  const client = new Client({ name: 'svc', version: '1' }, { jsonSchemaValidator })
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    fetch,
    authProvider,
  })
  /** The SDK listens to a signal for ever, and would tell the server that a call is cancelled which it answered long ago. */
  const request = async <T>({ signal: own, onProgress }: McpCallOptions, send: (limits: Limits) => Promise<T>) => {
    const { signal: running, release } = followSignals(own, broken.signal)
    return await send({ signal: running, timeout: unlimited, onprogress: onProgress }).finally(release)
  }

  async function close(): Promise<void> {
    const late = setTimeout(() => void client.close(), closingMs)
    await transport.terminateSession().catch(() => {})
    clearTimeout(late)
    await client.close().catch(() => {})
  }

  try {
    // The SDK's own types do not know exactOptionalPropertyTypes.
    await request({ signal }, (limits) => client.connect(transport as Parameters<typeof client.connect>[0], limits))
  } catch (error) {
    await close()
    throw broken.signal.aborted ? broken.signal.reason : error
  }

  return {
    listTools(cursor, options) {
      const params = cursor === undefined ? {} : { cursor }
      return request(options, (limits) => client.request({ method: 'tools/list', params }, AnyResult, limits))
    },
    callTool({ name, args }, options) {
      const { traceparent } = options
      const params = { name, arguments: args, ...(traceparent && { _meta: { traceparent } }) }
      return request(options, (limits) => client.request({ method: 'tools/call', params }, AnyResult, limits))
    },
    hasSession: () => transport.sessionId !== undefined,
    failure: () => (broken.signal.aborted ? broken.signal.reason : undefined),
    secrets: () => [authProvider?.tokens()?.access_token].filter((token) => token !== undefined),
    close,
  }
}

/** `secrets`: values that the result must not show. */
type McpAnswer = { result: JsonObject; secrets: string[] }

export type McpLink = {
  call(call: { name: string; args: JsonObject }, options: McpCallOptions): Promise<McpAnswer>
  close(): Promise<void>
}

export function createMcpLink(server: McpServer, reach: Reach): McpLink {
  let opened: Promise<McpConnection> | undefined

  function forget(connecting: Promise<McpConnection>): void {
    if (opened === connecting) opened = undefined
  }

  /** Calls at the same time share it, so that none of them can end it for the others. */
  function open(): Promise<McpConnection> {
    if (opened !== undefined) return opened
    const connecting = openConnection(server, reach, AbortSignal.timeout(server.timeoutMs))
    opened = connecting
    connecting.catch(() => forget(connecting))
    return connecting
  }

  async function callOnce(
    call: { name: string; args: JsonObject },
    options: McpCallOptions,
  ): Promise<McpAnswer | 'lost'> {
    const connecting = open()
    const connection = await abortable(connecting, options.signal)
    try {
      return { result: await connection.callTool(call, options), secrets: connection.secrets() }
    } catch (error) {
      // A server that does not know a session any more has not run the call.
      const isLost = statusOf(error) === 404 && connection.hasSession()
      const failure = connection.failure()
      if (!isLost && failure === undefined) throw error
      forget(connecting)
      void connection.close()
      if (isLost) return 'lost'
      throw failure
    }
  }

  return {
    async call(call, options) {
      const first = await callOnce(call, options)
      const answered = first === 'lost' ? await callOnce(call, options) : first
      if (answered === 'lost') throw new Error('it loses its sessions')
      return answered
    },
    async close() {
      const connection = await opened?.catch(() => undefined)
      opened = undefined
      await connection?.close()
    },
  }
}

const maxMessageLength = 500

/** The status of an HTTP answer that the server gave instead of one of the protocol. */
function statusOf(error: unknown): number | undefined {
  const { name, code } = (error ?? {}) as { name?: unknown; code?: unknown }
  return name === 'Error' && typeof code === 'number' && code >= 100 && code <= 599 ? code : undefined
}

const maxIssues = 3

/** The SDK reports what its schemas refuse as JSON. */
function describeError(error: unknown): string {
  const { issues } = (error ?? {}) as { issues?: unknown }
  if (!Array.isArray(issues)) return messageOf(error)
  const issueLines = issues.slice(0, maxIssues).map(({ path, message }) => `${[path].flat().join('.')}: ${message}`)
  return `its answer is not what the protocol says: ${issueLines.join('; ')}`
}

/** JSON-RPC 2.0, section 5.1. */
const invalidParams = -32_602

/** What is wrong with an answer, by the field. */
export function answerFault(problem: string): Error {
  return new Error(`its answer is not what the protocol says: ${problem}`)
}

/** Of an answer that is none of the protocol: web servers send pages, which say nothing that is read here. */
function describeBody(status: number, message: string): string {
  const body = message.replace(/^Streamable HTTP error: (?:Error POSTing to endpoint: )?/, '').trim()
  const quoted = body === '' || /^<(?:!doctype|html)/i.test(body) ? '' : `: ${body}`
  return status === 404 || status === 405 ? `${quoted}; is the path of mcp.url that of its MCP endpoint?` : quoted
}

/** `host`: the server, or a tool of it. Errors of the protocol and of OAuth have no common class, but a code. */
export function explainMcpFailure(error: unknown, host: string): SvcError {
  if (isSvcError(error)) return error
  const message = describeError(error).slice(0, maxMessageLength)
  const status = statusOf(error)
  if (status === 401 || status === 403) {
    const advice = 'http.authSecretRef or mcp.oauth of the tool is to give it one that it takes'
    return new SvcError(
      'NotConfigured',
      `${host} refused the credential of the tool, or wants one (status ${status}): ${advice}`,
      {
        cause: error,
      },
    )
  }
  if (status !== undefined)
    return new SvcError('UpstreamFailed', `${host} answered ${status}${describeBody(status, message)}`, {
      cause: error,
    })
  const { code, errorCode } = (error ?? {}) as { code?: unknown; errorCode?: unknown }
  if (errorCode !== undefined) {
    return new SvcError('NotConfigured', `no token for ${host} could be had: ${message}`, { cause: error })
  }
  if (code === invalidParams)
    return new SvcError('InvalidRequest', `${host} refused the call: ${message}`, { cause: error })
  return new SvcError('UpstreamFailed', `${host}: ${message}`, { cause: error })
}
