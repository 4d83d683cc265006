// Addresses of providers and tools: their class, whether the owner of the machine vouched for them (NET-004), and which hosts may receive
// a Secret.
import ipaddr from 'ipaddr.js'
import type { Provider } from '../../contract/kinds/providers/provider.ts'
import { isAllowedHost } from '../../contract/values/allowed-hosts.ts'
import { portOf } from '../../lib/url-port.ts'

/** `name`: a host name, whose address is known only after DNS. */
export type AddressClass = 'public' | 'private' | 'metadata' | 'service' | 'name'

export const metadataNames: readonly string[] = [
  'metadata.google.internal',
  'metadata.goog',
  'metadata',
  'instance-data',
]
// Link-local and vendor addresses where clouds serve credentials to whoever asks.
const metadataAddresses: readonly string[] = [
  '169.254.169.254',
  '169.254.170.2',
  '100.100.100.200',
  '168.63.129.16',
  'fd00:ec2::254',
]

type Network = [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number]
type Ranges = Record<string, Network | Network[]>

/**
 * The library's own table of address ranges, which its types leave out. An IPv4 address inside IPv6 is read as IPv4.
 */
function listRanges(): [name: string, cidr: string][] {
  const tables = [ipaddr.IPv4, ipaddr.IPv6].map(
    (family) => (family.prototype as unknown as { SpecialRanges: Ranges }).SpecialRanges,
  )
  return tables
    .flatMap((table) => Object.entries(table))
    .filter(([name]) => name !== 'ipv4Mapped')
    .flatMap(([name, value]) => {
      const networks = (Array.isArray(value[0]) ? value : [value]) as Network[]
      return networks.map(([address, bits]): [string, string] => [name, `${address.toString()}/${bits}`])
    })
}

/** Every network (CIDR) that is not public. */
export function specialNetworks(): string[] {
  return listRanges().map(([, cidr]) => cidr)
}

/** Networks (CIDR) where clouds hand out credentials, and link-local ones. */
export function metadataNetworks(): string[] {
  const single = metadataAddresses.map((address) => `${address}/${address.includes(':') ? 128 : 32}`)
  return [...single, ...listRanges().flatMap(([name, cidr]) => (name === 'linkLocal' ? [cidr] : []))]
}

/**
 * Names that public DNS does not serve (RFC 6761, RFC 6762 appendix G, RFC 8375), and those of a cluster's services.
 */
const localSuffixes = [
  ...['localhost', 'local', 'internal', 'test', 'home', 'corp', 'lan', 'intranet', 'private', 'home.arpa'],
  'svc',
]

function classifyName(host: string): AddressClass {
  if (metadataNames.includes(host)) return 'metadata'
  return host === 'localhost' || host.endsWith('.localhost') ? 'private' : 'name'
}

function classifyAddress(host: string): AddressClass {
  const address = ipaddr.process(host)
  if (metadataAddresses.includes(address.toString())) return 'metadata'
  const range = address.range()
  if (range === 'linkLocal') return 'metadata'
  return range === 'unicast' ? 'public' : 'private'
}

function isService(host: string, port: number, service: readonly string[]): boolean {
  const isLoopback = classifyName(host) === 'private' || (ipaddr.isValid(host) && isHere(host))
  return service.some((own) => own === `${host}:${port}` || (isLoopback && own.endsWith(`:${port}`)))
}

function isHere(host: string): boolean {
  return ['loopback', 'unspecified'].includes(ipaddr.process(host).range())
}

function isAllowed(host: string, networks: readonly string[]): boolean {
  const address = ipaddr.process(host)
  return networks.some((cidr) => {
    const full = cidr.includes('/') ? cidr : `${cidr}/${cidr.includes(':') ? 128 : 32}`
    if (!ipaddr.isValidCIDR(full)) return false
    const [network, bits] = ipaddr.parseCIDR(full)
    return network.kind() === address.kind() && address.match(network, bits)
  })
}

function readHost({ hostname }: URL): string {
  return hostname
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase()
}

/** Whether the host can only be on this machine or in a private network: a private address or a local name. */
function mayBePrivate(text: string): boolean {
  const url = URL.parse(text)
  if (url === null) return false
  const host = readHost(url)
  return ipaddr.isValid(host) ? classifyAddress(host) === 'private' : isLocalName(host)
}

function isLocalName(host: string): boolean {
  return !host.includes('.') || localSuffixes.some((suffix) => host.endsWith(`.${suffix}`))
}

/** Whether the name or address can be one of the Internet; names are judged as they are, and may lead elsewhere. */
export function isPublicHost(host: string): boolean {
  if (ipaddr.isValid(host)) return classifyAddress(host) === 'public'
  return !isLocalName(host) && !metadataNames.includes(host)
}

/**
 * The class of the URL's host. `service` holds `host:port` of the service itself; the loopback spellings of its port
 * are the service too. Private addresses in `networks` (CIDR) count as public. WHATWG URLs have already turned octal
 * and hexadecimal spellings into plain addresses.
 */
export function classifyUrl(text: string, service: readonly string[], networks: readonly string[]): AddressClass {
  const url = new URL(text)
  const host = readHost(url)
  if (isService(host, portOf(url), service)) return 'service'
  if (!ipaddr.isValid(host)) return classifyName(host)
  const found = classifyAddress(host)
  return found === 'private' && isAllowed(host, networks) ? 'public' : found
}

export const trustedAnnotation = 'svc.ai/trusted-base-url'

/**
 * The annotation holds for exactly the address it was given for; changing the address loses the trust. A public address
 * needs none, and gets none: its name must not lead into the private network later.
 */
export function isTrustedAddress(provider: Provider): boolean {
  const trusted = provider.metadata.annotations?.[trustedAnnotation]
  return trusted !== undefined && trusted === provider.spec.baseURL && mayBePrivate(trusted)
}

export const allowedHostsAnnotation = 'svc.ai/allowed-hosts'

/** Hosts that a Secret may be sent to; undefined means any (SECRET-006). */
export function readAllowedHosts(annotations: Record<string, string> | undefined): string[] | undefined {
  const text = annotations?.[allowedHostsAnnotation]
  if (text === undefined) return undefined
  return text
    .split(',')
    .map((host) => host.trim())
    .filter((host) => host !== '')
}

/**
 * `code`: a process or pod, whose connections nobody checks. `vendor`: the vendor's own address, checked when dialling.
 */
export type Receiver = URL | 'code' | 'vendor'

type Annotated = { namespace: string; name: string; annotations: Record<string, string> | undefined }

/** Why the receiver may not have the Secret; undefined when it may. */
export function findReceiverProblem({ namespace, name, annotations }: Annotated, to: Receiver): string | undefined {
  const hosts = readAllowedHosts(annotations)
  if (hosts === undefined || to === 'vendor' || (to !== 'code' && isAllowedHost(to, hosts))) return undefined
  const where = to === 'code' ? 'the code of a task' : to.host
  return `the secret "${namespace}/${name}" may be sent to ${hosts.join(', ') || 'no host'} (annotation ${allowedHostsAnnotation}), not to ${where}`
}
