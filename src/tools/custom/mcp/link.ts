// A run's link to an MCP server: opened with its first call, and opened again when the server has lost its session.
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { McpServer } from '../../../contract/api/tools/assigned-tool.ts'
import type { JsonObject } from '../../../contract/schema/json.ts'
import { type Asked, type McpConnection, openConnection } from './connection.ts'
import { statusOf } from './failures.ts'
import type { Reach } from './guarded-fetch.ts'

/** `secrets`: values that the result must not show. */
export type Answered = { result: CallToolResult; secrets: string[] }

export type McpLink = {
  call(call: { name: string; args: JsonObject }, asked: Asked): Promise<Answered>
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

  async function callOnce(call: { name: string; args: JsonObject }, asked: Asked): Promise<Answered | 'lost'> {
    const connecting = open()
    const connection = await follow(connecting, asked.signal)
    try {
      return { result: await connection.callTool(call, asked), secrets: connection.secrets() }
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
    async call(call, asked) {
      const first = await callOnce(call, asked)
      const answered = first === 'lost' ? await callOnce(call, asked) : first
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

/** The value, unless the signal comes first. */
async function follow<T>(value: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const stop = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([value, aborted.promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
