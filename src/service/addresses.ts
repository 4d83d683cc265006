// The addresses of the service: the ones that people and workers use, and the ones that tools must never dial.
import { isIPv6 } from 'node:net'

export type Listening = {
  host: string
  port: number
  /** True for HTTPS. */
  isEncrypted?: boolean
  /** A second port on loopback for workers on this machine, when the first one speaks TLS. */
  workerPort?: number
}

const everywhere = ['0.0.0.0', '::']
const loopbackHosts = ['127.0.0.1', 'localhost', '::1']

function writeHost(host: string): string {
  return isIPv6(host) ? `[${host}]` : host
}

/** The address for people; workers on this machine use it too, unless they have a port of their own. */
export function urlOf({ host, port, isEncrypted }: Listening): string {
  return `${isEncrypted ? 'https' : 'http'}://${writeHost(everywhere.includes(host) ? '127.0.0.1' : host)}:${port}`
}

/** Where workers on this machine reach their API. */
export function workerUrlOf(listening: Listening): string {
  return listening.workerPort === undefined ? urlOf(listening) : `http://127.0.0.1:${listening.workerPort}`
}

/** Where the service can be reached, apart from the address it listens on. */
export type OtherPlaces = {
  /** The names and addresses of its Services and of every replica that are known now. */
  hosts(): readonly string[]
  /** The port of its Service. */
  servicePort?: number | undefined
  metrics?: Listening | undefined
}

const nowhereElse: OtherPlaces = { hosts: () => [] }

function pair(hosts: readonly string[], ports: (number | undefined)[]): string[] {
  const known = [...new Set(ports)].filter((port) => port !== undefined)
  return known.flatMap((port) => hosts.map((host) => `${writeHost(host)}:${port}`))
}

function listOwnAddresses(
  { host, port, workerPort }: Listening,
  { servicePort, metrics }: OtherPlaces,
  others: string[],
) {
  return [
    ...pair([...new Set([...loopbackHosts, host])], [port, workerPort]),
    ...(metrics === undefined ? [] : pair([...new Set([...loopbackHosts, metrics.host])], [metrics.port])),
    ...pair(others, [port, servicePort, metrics?.port]),
  ]
}

/**
 * Every `host:port` at which a tool would reach the service itself, its metrics or another replica; none of them is ever
 * dialled (NET-003). The list is read for each model call and rebuilt only when an address changes.
 */
export function createOwnAddresses(listening: Listening, places: OtherPlaces = nowhereElse): () => string[] {
  let known: { at: string; addresses: string[] } | undefined
  return () => {
    const others = [...new Set(places.hosts())]
    const at = [listening.host, listening.port, listening.workerPort, places.metrics?.port, ...others].join(' ')
    if (known?.at !== at) known = { at, addresses: listOwnAddresses(listening, places, others) }
    return known.addresses
  }
}

/** Whether only this machine can reach the service. */
export function isLoopback(host: string): boolean {
  return loopbackHosts.includes(host) || host.startsWith('127.')
}
