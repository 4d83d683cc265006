// Refuses requests that name a foreign host: a page whose DNS name was bound to this address cannot talk to us (HTTP-043).
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { SvcError } from '../../errors.ts'

/** Name or address of a Host header without the port, in lower case; undefined when it is malformed. */
function parseHost(header: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(header)
  const host = (match?.[1] ?? match?.[2])?.toLowerCase()
  return host?.replace(/\.$/, '')
}

function unmap(address: string): string {
  return address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '')
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

export type HostRules = {
  /** `--public-host`: names, beside the bound address, that requests may carry. */
  publicHosts: readonly string[]
}

/** Makes the check. Forbidden when the Host is no loopback name, no address this connection came in on, and not allowed. */
export function createHostCheck(rules: HostRules): (request: IncomingMessage) => void {
  const allowed = new Set(rules.publicHosts.map((name) => parseHost(name) ?? name.toLowerCase()))
  const isNamed = (host: string) => isLoopback(host) || allowed.has(host)
  // Most requests of a client carry the same header.
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
 * InvalidRequest when Host or Authorization comes twice: Node believes the first, a proxy before it maybe the last, and
 * what one of them checked is not what the other uses (RFC 9112 section 3.2, RFC 9110 section 5.3).
 */
function refuseRepeated(rawHeaders: readonly string[]): void {
  for (const single of ['host', 'authorization']) {
    const count = countHeaders(rawHeaders, single)
    if (count > 1) throw new SvcError('InvalidRequest', `the header ${single} is there ${count} times; send it once`)
  }
}

/** Names and values stand in turn. */
function countHeaders(rawHeaders: readonly string[], name: string): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at]
    if (given?.length === name.length && given.toLowerCase() === name) count += 1
  }
  return count
}

/** A target in absolute form names the host, whatever Host says (RFC 9112 section 3.2.2). */
function readAuthority(request: IncomingMessage): string {
  const { url: target = '', headers, httpVersion } = request
  if (headers.host === undefined && httpVersion === '1.1') {
    throw new SvcError('InvalidRequest', 'the header Host is missing; HTTP/1.1 asks for it')
  }
  if (target.startsWith('/') || target === '*') return headers.host ?? ''
  return URL.parse(target)?.host ?? ''
}

function isBound(host: string, request: IncomingMessage): boolean {
  return host === unmap(request.socket.localAddress ?? '')
}

function foreignHost(header: string): SvcError {
  const shown = header.slice(0, 100)
  return new SvcError('Forbidden', `the Host "${shown}" is not one of this service; allow it with --public-host`)
}
