// One session with an MCP server, over the SDK of the protocol, which is loaded with the first one (ADR 0043).
import type { CallToolResult, ListToolsResult } from '@modelcontextprotocol/sdk/types.js'
import type {
  JsonSchemaValidatorResult,
  jsonSchemaValidator as Validator,
} from '@modelcontextprotocol/sdk/validation/types.js'
import type { McpServer } from '../../../contract/api/tools/assigned-tool.ts'
import type { JsonObject } from '../../../contract/schema/json.ts'
import type { SvcError } from '../../../errors.ts'
import { createGuardedFetch, type Reach } from './guarded-fetch.ts'

export type Asked = {
  signal: AbortSignal
  /** How far the server says it is. */
  onProgress?:
    | ((progress: { progress: number; total?: number | undefined; message?: string | undefined }) => void)
    | undefined
}

export type McpConnection = {
  listTools(cursor: string | undefined, asked: Asked): Promise<ListToolsResult>
  callTool(call: { name: string; args: JsonObject }, asked: Asked): Promise<CallToolResult>
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
  const [{ Client }, { StreamableHTTPClientTransport }, types] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ])
  return { Client, StreamableHTTPClientTransport, types }
}

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
  const [{ Client, StreamableHTTPClientTransport, types }, authProvider] = await Promise.all([
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
  const limit = ({ signal: own, onProgress }: Asked) => ({
    signal: AbortSignal.any([own, broken.signal]),
    timeout: unlimited,
    onprogress: onProgress,
  })

  async function close(): Promise<void> {
    const late = setTimeout(() => void client.close(), closingMs)
    await transport.terminateSession().catch(() => {})
    clearTimeout(late)
    await client.close().catch(() => {})
  }

  try {
    // The SDK's own types do not know exactOptionalPropertyTypes.
    await client.connect(transport as Parameters<typeof client.connect>[0], limit({ signal }))
  } catch (error) {
    await close()
    throw broken.signal.aborted ? broken.signal.reason : error
  }

  return {
    listTools: (cursor, asked) =>
      client.request(
        { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
        types.ListToolsResultSchema,
        limit(asked),
      ),
    callTool: ({ name, args }, asked) =>
      client.request(
        { method: 'tools/call', params: { name, arguments: args } },
        types.CallToolResultSchema,
        limit(asked),
      ),
    hasSession: () => transport.sessionId !== undefined,
    failure: () => (broken.signal.aborted ? broken.signal.reason : undefined),
    secrets: () => [authProvider?.tokens()?.access_token].filter((token) => token !== undefined),
    close,
  }
}
