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

function listOwnAddresses({ host, port, workerPort }: Listening, serviceNames: readonly string[]): string[] {
  const ports = workerPort === undefined ? [port] : [port, workerPort]
  const names = [...new Set([...loopbackHosts, host])]
  const own = ports.flatMap((number) => names.map((name) => `${writeHost(name)}:${number}`))
  return [...own, ...serviceNames.map((name) => `${name}:${port}`)]
}

/**
 * `host:port` pairs under which tools would find the service itself, by every name it has; never dialled (NET-003). Asked
 * for each call of a model, and the same once the service listens.
 */
export function createOwnAddresses(listening: Listening, serviceNames: readonly string[] = []): () => string[] {
  let known: { at: string; addresses: string[] } | undefined
  return () => {
    const at = `${listening.host} ${listening.port} ${listening.workerPort}`
    if (known?.at !== at) known = { at, addresses: listOwnAddresses(listening, serviceNames) }
    return known.addresses
  }
}

/** Whether only this machine can reach the service. */
export function isLoopback(host: string): boolean {
  return loopbackHosts.includes(host) || host.startsWith('127.')
}
