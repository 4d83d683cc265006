// Which URLs may be requested, decided before any name is resolved.
import { isAllowedHost } from '../contract/values/allowed-hosts.ts'
import { SvcError } from '../errors.ts'
import type { EgressPolicy } from '../ports/service/egress.ts'
import { isLoopback, isMetadataName, normalizeAddress } from './address.ts'

function refuse(host: string, why: string): never {
  throw new SvcError('Forbidden', `The request to ${host} was refused: ${why}.`)
}

/** Parses and checks one URL: the first of a request, or the target of a redirect. */
export function checkDestination(text: string, policy: EgressPolicy): URL {
  const url = URL.parse(text)
  if (url === null)
    throw new SvcError('InvalidRequest', `"${text.slice(0, 200)}" is not a URL. Use one like https://host/path.`)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    refuse(url.host || 'this address', `${url.protocol} is not supported, only http and https`)
  }
  if (url.username !== '' || url.password !== '') refuse(url.host, 'user names and passwords in URLs are not sent')
  const hostname = url.hostname
  if (hostname.endsWith('.')) refuse(url.host, 'write the host name without a trailing dot')
  if (isMetadataName(hostname)) refuse(url.host, 'it is a metadata service')
  const address = normalizeAddress(hostname)
  // The parser reads 0x7f.1 and 2130706433 as addresses; nobody has a good reason to write them that way.
  if (address !== undefined && !hostname.startsWith('[') && !text.includes(hostname)) {
    refuse(url.host, 'write the address as four decimal numbers')
  }
  checkAllowedHosts(url, policy)
  return url
}

export function portOf(url: { protocol?: string | undefined; port?: string | number | undefined }): number {
  if (url.port !== undefined && url.port !== '') return Number(url.port)
  return url.protocol === 'https:' ? 443 : 80
}

function checkAllowedHosts(url: URL, { allowedHosts }: EgressPolicy): void {
  if (allowedHosts === undefined || isAllowedHost(url, allowedHosts)) return
  refuse(url.host, "the credential's annotation svc.ai/allowed-hosts does not name this host")
}

type Denied = { host: string; port: number; own: boolean }

function parseDenied(entry: string): Denied {
  const colon = entry.lastIndexOf(':')
  const written = entry.slice(0, colon).toLowerCase()
  const host = normalizeAddress(written) ?? written
  return { host, port: Number(entry.slice(colon + 1)), own: host === 'localhost' || isLoopback(host) }
}

/**
 * Whether a destination is in `deny` (NET-003). An entry for loopback or for "all addresses" covers every address of
 * this machine, in any spelling.
 */
export function isDenied(host: string, port: number, machine: { deny: string[]; ownAddresses: string[] }): boolean {
  const address = normalizeAddress(host)
  const name = address ?? host
  const isOwn = address !== undefined && (isLoopback(address) || machine.ownAddresses.includes(address))
  return machine.deny
    .map(parseDenied)
    .some((entry) => entry.port === port && (entry.host === name || (entry.own && isOwn)))
}
