// Where pods whose network is the gate find the service and its gate: addresses in their hosts file, since they have no DNS,
// and the only peers of their network policy.
import { lookup } from 'node:dns/promises'
import { isIP, isIPv6 } from 'node:net'
import { messageOf, SvcError } from '../../errors.ts'
import { portOf } from '../../lib/url-port.ts'

export type PodReach = {
  /** In the words of a pod's spec. */
  hostAliases: { ip: string; hostnames: string[] }[]
  /** In the words of a network policy. */
  egress: object[]
}

export type Lookup = (hostname: string) => Promise<{ address: string }[]>

const resolveName: Lookup = (hostname) => lookup(hostname, { all: true })

/** Of a Service of the cluster (`svc.svc-system.svc`): policies are applied to its pods, not to its address. */
function findNamespace(hostname: string): string | undefined {
  return /^[^.]+\.([^.]+)\.svc(?:\.|$)/.exec(hostname)?.[1]
}

function makeBlock(address: string) {
  return { ipBlock: { cidr: `${address}/${isIPv6(address) ? 128 : 32}` } }
}

async function findAddresses(hostname: string, find: Lookup): Promise<string[]> {
  if (isIP(hostname) !== 0) return [hostname]
  try {
    const found = await find(hostname)
    if (found.length > 0) return found.map(({ address }) => address)
  } catch (cause) {
    throw new SvcError('Unavailable', `the address of ${hostname} cannot be looked up: ${messageOf(cause)}`, { cause })
  }
  throw new SvcError('Unavailable', `${hostname} has no address`)
}

/** Unavailable when a name has no address now. */
export async function resolveReach(urls: readonly string[], find: Lookup = resolveName): Promise<PodReach> {
  const targets = await Promise.all(
    urls.map(async (text) => {
      const url = new URL(text)
      const hostname = url.hostname.replace(/^\[|\]$/g, '')
      return { hostname, port: portOf(url), addresses: await findAddresses(hostname, find) }
    }),
  )
  const names = new Map<string, Set<string>>()
  for (const { hostname, addresses } of targets.filter(({ hostname }) => isIP(hostname) === 0)) {
    for (const address of addresses) names.set(address, (names.get(address) ?? new Set()).add(hostname))
  }
  const egress = targets.map(({ hostname, port, addresses }) => {
    const namespace = findNamespace(hostname)
    const matchLabels = { 'kubernetes.io/metadata.name': namespace ?? '' }
    const to = namespace === undefined ? addresses.map(makeBlock) : [{ namespaceSelector: { matchLabels } }]
    return { to, ports: [{ protocol: 'TCP', port }] }
  })
  return { hostAliases: [...names].map(([ip, hostnames]) => ({ ip, hostnames: [...hostnames] })), egress }
}
