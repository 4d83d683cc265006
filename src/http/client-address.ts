// The client's address behind the operator's proxies, which pass it on in the standard headers.
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

/** The address that a request comes from, as far as it can be trusted. */
export type ClientAddress = (request: Pick<IncomingMessage, 'socket' | 'headers'>) => string

type IsTrusted = (address: string) => boolean

export function unmap(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '')
}

function createTrust(networks: readonly string[]): IsTrusted {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    list.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family)
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1` or `[2001:db8::1]:4711`; undefined when it is not an address. */
function readNode(text: string): string | undefined {
  const plain = text.trim()
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(plain)?.[1] ?? /^([\d.]+)(?::\d+)?$/.exec(plain)?.[1] ?? plain
  const address = unmap(bare)
  return isIP(address) === 0 ? undefined : address
}

/** The node of one element of `Forwarded` (RFC 7239). */
function readForwardedFor(element: string): string | undefined {
  const node = /(?:^|;)\s*for=(?:"([^"\\]+)"|([^";\s]+))/i.exec(element)
  return node === null ? undefined : readNode(node[1] ?? node[2] ?? '')
}

/** Walks from the nearest hop back to the first untrusted one; an unreadable hop ends the walk. */
function walkBack(nearest: string, header: string, read: typeof readNode, isTrusted: IsTrusted): string {
  let address = nearest
  for (const hop of header.split(',').toReversed()) {
    const before = isTrusted(address) ? read(hop) : undefined
    if (before === undefined) return address
    address = before
  }
  return address
}

function textOf(value: string | string[] | undefined): string {
  return Array.isArray(value) ? value.join(',') : (value ?? '')
}

/**
 * `networks`: addresses and networks (CIDR) of trusted proxies. A proxy that writes only one of the two headers
 * passes on the other as its client sent it, so when they differ, neither is trusted.
 */
export function createClientAddress(networks: readonly string[]): ClientAddress {
  const isTrusted = createTrust(networks)
  return ({ socket, headers }) => {
    const nearest = unmap(socket.remoteAddress ?? '')
    if (networks.length === 0 || !isTrusted(nearest)) return nearest
    const [forwarded, plain] = [textOf(headers.forwarded), textOf(headers['x-forwarded-for'])]
    const reported = new Set([
      ...(forwarded === '' ? [] : [walkBack(nearest, forwarded, readForwardedFor, isTrusted)]),
      ...(plain === '' ? [] : [walkBack(nearest, plain, readNode, isTrusted)]),
    ])
    const [address = nearest] = reported
    return reported.size === 1 ? address : nearest
  }
}
