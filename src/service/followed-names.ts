// Keeps up with names whose addresses change while the service runs: those of its Service and of every replica.
import { lookup } from 'node:dns/promises'

export type FollowedNames = {
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
