// Which URLs may be requested, decided before any name is resolved.
import ipaddr from 'ipaddr.js'
import { isAllowedHost } from '../contract/values/allowed-hosts.ts'
import { SvcError } from '../errors.ts'
import type { EgressPolicy } from '../ports/service/egress.ts'

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

function checkAllowedHosts(url: URL, { allowedHosts }: EgressPolicy): void {
  if (allowedHosts === undefined || isAllowedHost(url, allowedHosts)) return
  refuse(url.host, "the credential's annotation svc.ai/allowed-hosts does not name this host")
}

type Denied = { host: string; port: number; own: boolean }

function parseDenied(entry: string): Denied {
  const colon = entry.lastIndexOf(':')
  const written = entry.slice(0, colon).toLowerCase()
  const host = normalizeAddress(written) ?? written
  return { host, port: Number(entry.slice(colon + 1)), own: host === 'localhost' || isLoopbackAddress(host) }
}

/**
 * Whether a destination is in `deny` (NET-003). An entry for loopback or for "all addresses" covers every address of
 * this machine, in any spelling.
 */
export function isDenied(host: string, port: number, machine: { deny: string[]; ownAddresses: string[] }): boolean {
  const address = normalizeAddress(host)
  const name = address ?? host
  const isOwn = address !== undefined && (isLoopbackAddress(address) || machine.ownAddresses.includes(address))
  return machine.deny
    .map(parseDenied)
    .some((entry) => entry.port === port && (entry.host === name || (entry.own && isOwn)))
}

// Which IP addresses may be dialled: public ones, those that the owner listed, and never metadata addresses.

type Address = ipaddr.IPv4 | ipaddr.IPv6

/**
 * Instance metadata services, which give credentials to anyone who asks: link-local ones of all clouds, AWS ECS and
 * EKS, AWS and GCP over IPv6, Alibaba, Azure's wire server, Oracle.
 */
const metadataAddresses = [
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
].map((text) => ipaddr.parse(text).toNormalizedString())

const metadataNames = [
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'instance-data',
  'instance-data.ec2.internal',
]

/** Ranges that a trusted destination may be in (NET-004). */
const trustedRanges = ['loopback', 'private', 'uniqueLocal', 'carrierGradeNat']

/** RFC 4291 section 2.4: all global unicast addresses in use are in 2000::/3. */
const globalUnicast = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number]

function isMetadataName(hostname: string): boolean {
  return metadataNames.includes(hostname)
}

function parseAddress(text: string): Address | undefined {
  const bare = text.replace(/^\[|\]$/g, '').replace(/%[\s\S]*$/, '')
  // The parser finds out by an error with a stack, which costs a sixth of a connection; in all spellings IPv4 begins with a digit.
  if (!bare.includes(':') && !(bare >= '0' && bare < ':')) return undefined
  return ipaddr.isValid(bare) ? ipaddr.parse(bare) : undefined
}

/** One spelling per address, IPv4-mapped ones as IPv4; undefined when `text` is a name. */
export function normalizeAddress(text: string): string | undefined {
  const address = parseAddress(text)
  if (address === undefined) return undefined
  return unmapAddress(address).toNormalizedString()
}

function unmapAddress(address: Address): Address {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address
}

function readIPv4(bytes: number[]): Address[] {
  return bytes.length === 4 ? [ipaddr.fromByteArray(bytes)] : []
}

/** An IPv6 address may contain an IPv4 one that a gateway dials instead (RFC 6052, 3056, 4291): both are judged. */
function listForms(text: string): Address[] {
  const parsed = parseAddress(text)
  if (parsed === undefined) return []
  const address = unmapAddress(parsed)
  if (address instanceof ipaddr.IPv4) return [address]
  const bytes = address.toByteArray()
  const range = address.range()
  if (range === 'rfc6052' || range === 'rfc6145') return [address, ...readIPv4(bytes.slice(12))]
  if (range === '6to4') return [address, ...readIPv4(bytes.slice(2, 6))]
  const isCompatible = bytes.slice(0, 12).every((byte) => byte === 0)
  return isCompatible && range !== 'loopback' && range !== 'unspecified'
    ? [address, ...readIPv4(bytes.slice(12))]
    : [address]
}

function isIn(address: Address, cidr: string): boolean {
  try {
    const [network, bits] = ipaddr.parseCIDR(cidr.includes('/') ? cidr : `${cidr}/${cidr.includes(':') ? 128 : 32}`)
    return network.kind() === address.kind() && address.match(network, bits)
  } catch {
    return false
  }
}

function nameRange(address: Address): string {
  const range = address.range()
  if (range !== 'unicast' || address instanceof ipaddr.IPv4) return range
  return address.match(globalUnicast) ? range : 'reserved'
}

const rangeWords: Record<string, string> = {
  linkLocal: 'link-local',
  uniqueLocal: 'private',
  deprecatedSiteLocal: 'site-local',
  carrierGradeNat: 'carrier-grade NAT',
  rfc6052: 'NAT64',
  rfc6145: 'NAT64',
}

/** `isTrusted`: the destination is the origin that the policy trusts. */
type Rules = Pick<EgressPolicy, 'allowNetworks'> & { isTrusted?: boolean }

/** Why an address may not be dialled, or undefined (NET-002, NET-005). */
export function refuseAddress(text: string, { allowNetworks, isTrusted = false }: Rules): string | undefined {
  const forms = listForms(text)
  if (forms.length === 0) return 'is not an IP address'
  if (forms.some((form) => metadataAddresses.includes(form.toNormalizedString()))) return 'is a metadata address'
  for (const form of forms) {
    const range = nameRange(form)
    const allowed =
      range === 'unicast' ||
      allowNetworks.some((cidr) => isIn(form, cidr)) ||
      (isTrusted && trustedRanges.includes(range))
    if (!allowed) return `is a ${rangeWords[range] ?? range} address`
  }
  return undefined
}

/** Why a program of a task may not reach an address, whatever networks are allowed otherwise: it is this machine, or says what it is. */
export function refuseMachine(text: string, ownAddresses: readonly string[]): string | undefined {
  for (const form of listForms(text)) {
    const range = nameRange(form)
    if (['loopback', 'linkLocal', 'unspecified', 'multicast', 'broadcast'].includes(range))
      return `is a ${rangeWords[range] ?? range} address`
    if (ownAddresses.includes(form.toNormalizedString())) return 'is an address of this machine'
  }
  return undefined
}

function isLoopbackAddress(text: string): boolean {
  const forms = listForms(text)
  return forms.some((form) => form.range() === 'loopback' || form.range() === 'unspecified')
}
