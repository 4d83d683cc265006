// Addresses that only this machine reaches.
import { isIP } from 'node:net'

/** Names and addresses by which the machine reaches itself. */
export const loopbackHosts = ['127.0.0.1', 'localhost', '::1']

/** Whether a host is this machine, in lower case and without brackets. */
export function isLoopbackHost(host: string): boolean {
  return loopbackHosts.includes(host) || (isIP(host) === 4 && host.startsWith('127.'))
}
