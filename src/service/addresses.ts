// The addresses of the service: the ones that people and workers use, and the ones that tools must never dial.
import { lookup } from 'node:dns/promises'
import { isIPv6 } from 'node:net'
import { loopbackHosts } from '../lib/loopback.ts'

type FollowedNames = {
  /** The names, and the addresses that the last lookups found. */
  hosts(): readonly string[]
  close(): void
}

type Lookup = (name: string) => Promise<{ address: string }[]>

/** Replicas come and go within minutes. */
const usualIntervalMs = 15_000

/** An unknown name has no addresses. When a lookup fails, the addresses found before stay. */
export function followNames(
  names: readonly string[],
  {
    find = (name) => lookup(name, { all: true }),
    intervalMs = usualIntervalMs,
  }: { find?: Lookup; intervalMs?: number } = {},
): FollowedNames {
  const found = new Map<string, string[]>()
  const ask = async (name: string) => {
    const addresses = await find(name).catch(() => [])
    if (addresses.length > 0)
      found.set(
        name,
        addresses.map(({ address }) => address),
      )
  }
  const askAll = () => void Promise.all(names.map(ask))
  if (names.length > 0) askAll()
  const timer = names.length > 0 ? setInterval(askAll, intervalMs).unref() : undefined
  return {
    hosts: () => [...names, ...[...found.values()].flat()],
    close: () => clearInterval(timer),
  }
}

export type Listening = {
  host: string
  port: number
  /** True for HTTPS. */
  isEncrypted?: boolean
  /** A second port on loopback for workers on this machine, when the first one speaks TLS. */
  workerPort?: number
}

const everywhere = ['0.0.0.0', '::']

function writeHost(host: string): string {
  return isIPv6(host) ? `[${host}]` : host
}

/** The address for people; workers on this machine use it too, unless they have a port of their own. */
export function originOf({ host, port, isEncrypted }: Listening): string {
  return `${isEncrypted ? 'https' : 'http'}://${writeHost(everywhere.includes(host) ? '127.0.0.1' : host)}:${port}`
}

/** Where workers on this machine reach their API. */
export function workerUrlOf(listening: Listening): string {
  return listening.workerPort === undefined ? originOf(listening) : `http://127.0.0.1:${listening.workerPort}`
}

/** Where the service can be reached, apart from the address it listens on. */
type OtherAddresses = {
  /** The names and addresses of its Services and of every replica that are known now. */
  hosts(): readonly string[]
  /** The port of its Service. */
  servicePort?: number | undefined
  /** The port of the gate that programs of tasks reach the network through. */
  gatePort?: number | undefined
  metrics?: Listening | undefined
}

const nowhereElse: OtherAddresses = { hosts: () => [] }

function pair(hosts: readonly string[], ports: (number | undefined)[]): string[] {
  const known = [...new Set(ports)].filter((port) => port !== undefined)
  return known.flatMap((port) => hosts.map((host) => `${writeHost(host)}:${port}`))
}

function listOwnAddresses(
  { host, port, workerPort }: Listening,
  { servicePort, gatePort, metrics }: OtherAddresses,
  others: string[],
) {
  return [
    ...pair([...new Set([...loopbackHosts, host])], [port, workerPort, gatePort]),
    ...(metrics === undefined ? [] : pair([...new Set([...loopbackHosts, metrics.host])], [metrics.port])),
    ...pair(others, [port, servicePort, gatePort, metrics?.port]),
  ]
}

/**
 * Every `host:port` at which a tool would reach the service itself, its metrics or another replica; none of them is ever
 * dialled (NET-003). The list is read for each model call and rebuilt only when an address changes.
 */
export function createOwnAddresses(listening: Listening, configured: OtherAddresses = nowhereElse): () => string[] {
  let known: { at: string; addresses: string[] } | undefined
  return () => {
    const others = [...new Set(configured.hosts())]
    const at = [listening.host, listening.port, listening.workerPort, configured.metrics?.port, ...others].join(' ')
    if (known?.at !== at) known = { at, addresses: listOwnAddresses(listening, configured, others) }
    return known.addresses
  }
}
