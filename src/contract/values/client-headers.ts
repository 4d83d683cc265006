// Headers of requests that nobody but the client sets, and placeholders in addresses.

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

/** Not over the borders of a part of the address. */
const placeholder = /\{([^{}/?#]*)\}/g

/** The names, each once, in the order of the address. */
export function listPlaceholders(address: string): string[] {
  return [...new Set([...address.matchAll(placeholder)].map(([, name = '']) => name))]
}

export function fillPlaceholders(text: string, read: (name: string) => string): string {
  return text.replace(placeholder, (_whole, name: string) => read(name))
}

/** Only path and query can take arguments: where a call is sent is not for its model to say. */
export function canBeFilled(address: string): boolean {
  return /^https?:\/\/[^/?#\\{}\s]+(?:[/?#][^\\\s]*)?$/i.test(address)
}
