// Refuses requests for a foreign host, so that a page whose DNS name points to this address cannot talk to us
// (HTTP-043).
import type { IncomingMessage } from 'node:http'
import { SvcError } from '../../errors.ts'
import { isLoopbackHost } from '../../lib/loopback.ts'

/** The name or address in a Host header without the port, in lower case; undefined when it is malformed. */
function parseHost(header: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(header)
  const host = (match?.[1] ?? match?.[2])?.toLowerCase()
  return host?.replace(/\.$/, '')
}

function unmap(address: string): string {
  return address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '')
}

export type HostRules = {
  /** `--public-host`: names that requests may carry besides the bound address. */
  publicHosts: readonly string[]
}

/** Creates the check. Forbidden unless Host is a loopback name, the address of this connection, or allowed. */
export function createHostCheck(rules: HostRules): (request: IncomingMessage) => void {
  const allowed = new Set(rules.publicHosts.map((name) => parseHost(name) ?? name.toLowerCase()))
  const isNamed = (host: string) => isLoopbackHost(host) || allowed.has(host)
  // Most requests of a client have the same header.
  const known = new Set<string>()
  return (request) => {
    refuseRepeated(request.rawHeaders)
    const header = readAuthority(request)
    if (known.has(header)) return
    const host = parseHost(header)
    if (host === undefined || !(isNamed(host) || isBound(host, request))) throw foreignHost(header)
    if (isNamed(host) && known.size < 100) known.add(header)
  }
}

/**
 * InvalidRequest when Host or Authorization occurs twice: Node uses the first, a proxy may use the last, so what
 * one of them checked is not what the other uses (RFC 9112 section 3.2, RFC 9110 section 5.3).
 */
function refuseRepeated(rawHeaders: readonly string[]): void {
  for (const single of ['host', 'authorization']) {
    const count = countHeaders(rawHeaders, single)
    if (count > 1) throw new SvcError('InvalidRequest', `the header ${single} occurs ${count} times; send it once`)
  }
}

/** Names and values alternate. */
function countHeaders(rawHeaders: readonly string[], name: string): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const found = rawHeaders[at]
    if (found?.length === name.length && found.toLowerCase() === name) count += 1
  }
  return count
}

/** A target in absolute form names the host and overrides Host (RFC 9112 section 3.2.2). */
function readAuthority(request: IncomingMessage): string {
  const { url: target = '', headers, httpVersion } = request
  if (headers.host === undefined && httpVersion === '1.1') {
    throw new SvcError('InvalidRequest', 'the header Host is missing; HTTP/1.1 requires it')
  }
  if (target.startsWith('/') || target === '*') return headers.host ?? ''
  return URL.parse(target)?.host ?? ''
}

function isBound(host: string, request: IncomingMessage): boolean {
  return host === unmap(request.socket.localAddress ?? '')
}

function foreignHost(header: string): SvcError {
  const shown = header.slice(0, 100)
  return new SvcError('Forbidden', `the Host "${shown}" is not a name of this service; allow it with --public-host`)
}
