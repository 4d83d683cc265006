// How a process with thousands of attempts calls its service: they would open as many connections at once, until no descriptor is left.
import { loadUndici } from './dialer.ts'

/** Idle connections end soon: nobody needs them while attempts wait. */
const idle = { keepAliveTimeout: 1000, keepAliveMaxTimeout: 2000 }
const maxConnections = 1000

/** `isLasting`: calls to this address last for minutes, so that each has a connection of its own. */
export async function createServiceFetch(isLasting: (url: string) => boolean): Promise<typeof globalThis.fetch> {
  const { Agent, fetch } = await loadUndici()
  const [brief, lasting] = [new Agent({ ...idle, connections: maxConnections }), new Agent(idle)]
  const call = (...[input, init]: Parameters<typeof fetch>) =>
    fetch(input, { ...init, dispatcher: isLasting(String(input)) ? lasting : brief })
  return call as typeof globalThis.fetch
}
