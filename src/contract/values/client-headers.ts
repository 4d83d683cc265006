// Headers of requests that nobody but the client sets: what somebody else wrote into them would be lost.

/** Of the connection, of how the body is framed, or meant for a proxy (RFC 9110, RFC 9112). */
export const clientHeaders: readonly string[] = [
  'host',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'upgrade',
  'te',
  'expect',
  'proxy-authorization',
]

/** Of the protocol that MCP servers speak over HTTP. */
export const mcpHeaders: readonly string[] = [
  'accept',
  'content-type',
  'mcp-session-id',
  'mcp-protocol-version',
  'last-event-id',
]
