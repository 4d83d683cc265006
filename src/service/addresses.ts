// Where the service can be reached, and what that means for those who must not reach it.
import { isIPv6 } from 'node:net'

export type Listening = {
  host: string
  port: number
  /** HTTPS. */
  isEncrypted?: boolean
  /** On loopback, for workers of this machine. */
  workerPort?: number
}

const everywhere = ['0.0.0.0', '::']
const loopbackHosts = ['127.0.0.1', 'localhost', '::1']

function writeHost(host: string): string {
  return isIPv6(host) ? `[${host}]` : host
}

/** The address for people, and for workers on this machine unless they have one of their own. */
export function urlOf({ host, port, isEncrypted }: Listening): string {
  return `${isEncrypted ? 'https' : 'http'}://${writeHost(everywhere.includes(host) ? '127.0.0.1' : host)}:${port}`
}

/** Where workers on this machine find their API. */
export function workerUrlOf(listening: Listening): string {
  return listening.workerPort === undefined ? urlOf(listening) : `http://127.0.0.1:${listening.workerPort}`
}

/** Where the service is found beside the address it listens on. */
export type OtherPlaces = {
  /** Names and addresses of its Services and of every replica, as far as they are known now. */
  hosts(): readonly string[]
  /** Of its Service. */
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
 * `host:port` pairs under which tools would find the service itself, its metrics and its other replicas, by every name they
 * have; never dialled (NET-003). Asked for each call of a model, and made anew when one of them changes.
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
