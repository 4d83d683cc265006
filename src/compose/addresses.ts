// Where the service can be reached, and what that means for those who must not reach it.
import { isIPv6 } from 'node:net'

export type Listening = { host: string; port: number }

const everywhere = ['0.0.0.0', '::']
const loopbackHosts = ['127.0.0.1', 'localhost', '::1']

function writeHost(host: string): string {
  return isIPv6(host) ? `[${host}]` : host
}

/** The address for people and for workers on this machine. */
export function urlOf({ host, port }: Listening): string {
  return `http://${writeHost(everywhere.includes(host) ? '127.0.0.1' : host)}:${port}`
}

/** `host:port` pairs under which tools would find the service itself; never dialled (NET-003). */
export function ownAddresses({ host, port }: Listening): string[] {
  return [...new Set([...loopbackHosts, host])].map((name) => `${writeHost(name)}:${port}`)
}

/** Whether only this machine can reach the service. */
export function isLoopback(host: string): boolean {
  return loopbackHosts.includes(host) || host.startsWith('127.')
}
