// Slows down whoever tries credentials: so many failures per address and minute, then 429. Bounded in memory.
import { hash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../ports/clock.ts'

const windowMs = 60_000
const mostAddresses = 10_000
const mostGood = 2_000

export type FailedAttempts = {
  /** TooManyRequests when the address has failed too often of late, unless the credential was good a while ago. */
  check(attempt: Attempt): void
  /** Notes a failure; true when it was the last one allowed. */
  fail(address: string): boolean
  succeed(attempt: Pick<Attempt, 'credential' | 'connection'>): void
}

export type Attempt = {
  address: string
  credential: string
  /** What it came by: a connection shows the same credential again and again. */
  connection: object
}

type Count = { failures: number; since: number }

/** Who has one IPv6 address has the 2^64 of its network. */
function groupOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  return isIPv6(plain) ? expand(plain).slice(0, 4).join(':') : plain
}

function expand(address: string): string[] {
  const [head = '', tail = ''] = (address.split('%')[0] ?? '').toLowerCase().split('::')
  const [before, after] = [head, tail].map((part) => (part === '' ? [] : part.split(':')))
  const zeros = Array.from({ length: Math.max(0, 8 - (before?.length ?? 0) - (after?.length ?? 0)) }, () => '0')
  return [...(before ?? []), ...zeros, ...(after ?? [])].map((group) => group.replace(/^0+(?=.)/, ''))
}

/** Keeps the map at its size: the entry that was not touched for longest goes. */
function put<V>(map: Map<string, V>, key: string, value: V, most: number): void {
  map.delete(key)
  const oldest = map.size >= most ? map.keys().next().value : undefined
  if (oldest !== undefined) map.delete(oldest)
  map.set(key, value)
}

/** `limit` 0: no limit. */
export function createFailedAttempts(limit: number, clock: Clock): FailedAttempts {
  const counts = new Map<string, Count>()
  // Good credentials by hash: one bad program behind an address does not lock out the others there.
  const good = new Map<string, true>()
  const lastGood = new WeakMap<object, string>()
  const digest = (credential: string) => hash('sha256', credential, 'base64')

  function current(group: string): Count | undefined {
    const count = counts.get(group)
    return count !== undefined && Math.abs(clock.now().getTime() - count.since) < windowMs ? count : undefined
  }

  return {
    check({ address, credential, connection }) {
      const count = limit === 0 || counts.size === 0 ? undefined : current(groupOf(address))
      if (count === undefined || count.failures < limit) return
      if (lastGood.get(connection) === credential || good.has(digest(credential))) return
      const retryAfterSeconds = Math.ceil((count.since + windowMs - clock.now().getTime()) / 1000)
      throw new SvcError('TooManyRequests', 'too many failed authentications from this address: try again later', {
        retryAfterSeconds,
      })
    },
    fail(address) {
      if (limit === 0) return false
      const group = groupOf(address)
      const count = current(group) ?? { failures: 0, since: clock.now().getTime() }
      count.failures += 1
      put(counts, group, count, mostAddresses)
      return count.failures === limit
    },
    succeed({ credential, connection }) {
      if (limit === 0 || lastGood.get(connection) === credential) return
      lastGood.set(connection, credential)
      put(good, digest(credential), true, mostGood)
    },
  }
}
