// What the programs of a task have reached and were refused: summed host by host, in one sentence for people, and as a list that allows it.

import type { TaskHost } from '../../contract/api/tasks/network.ts'
import { writeHostName } from '../../contract/values/network-names.ts'
import { describeBytes } from '../../lib/bytes.ts'
import { isPublicHost } from '../providers/address.ts'

type Line = Pick<TaskHost, 'host' | 'port' | 'connections' | 'refused' | 'sent' | 'received'>

/** Of one attempt or of all. `unlisted`: of the refused, those only because the list does not have the host. */
export type HostSum = Omit<TaskHost, 'allowedBy'> & { unlisted: number }

const maxShown = 20
/** As `spec.network.allow` takes them. */
const maxLearned = 200

function addHost(left: HostSum, right: HostSum): HostSum {
  const [earlier, later] = left.lastAt <= right.lastAt ? [left, right] : [right, left]
  const first = left.firstAt < right.firstAt ? left : right
  const reason = later.reason ?? earlier.reason
  return {
    host: left.host,
    port: left.port,
    connections: left.connections + right.connections,
    refused: left.refused + right.refused,
    unlisted: left.unlisted + right.unlisted,
    sent: left.sent + right.sent,
    received: left.received + right.received,
    firstAt: first.firstAt,
    lastAt: later.lastAt,
    ...(reason !== undefined && { reason }),
  }
}

function compareHosts(left: HostSum, right: HostSum): number {
  const byBytes = right.sent + right.received - left.sent - left.received
  return (
    byBytes ||
    right.connections - left.connections ||
    right.refused - left.refused ||
    writeHostName(left).localeCompare(writeHostName(right), 'en')
  )
}

/** One for each host and port: the most bytes first, then the most connections, then what was refused most often. */
export function sumHosts(lines: readonly HostSum[]): HostSum[] {
  const sums = new Map<string, HostSum>()
  for (const line of lines) {
    const key = writeHostName(line)
    const known = sums.get(key)
    sums.set(key, known === undefined ? line : addHost(known, line))
  }
  return [...sums.values()].toSorted(compareHosts)
}

/**
 * What would allow a run like this: the hosts that it reached, and those that it asked for in vain. Never what can only be private,
 * and not what a person has declined. `ports`: those that need not be named.
 */
export function learnHosts(
  sums: readonly HostSum[],
  { ports, declined }: { ports: readonly number[]; declined: ReadonlySet<string> },
): string[] {
  const wanted = sums.filter(
    (sum) =>
      (sum.connections > 0 || sum.unlisted > 0) &&
      sum.host !== '*' &&
      isPublicHost(sum.host) &&
      !declined.has(writeHostName(sum)),
  )
  const entries = wanted.map(({ host, port }) => writeHostName(ports.includes(port) ? { host } : { host, port }))
  return [...new Set(entries)].toSorted().slice(0, maxLearned)
}

function listShown(lines: readonly Line[], write: (line: Line) => string): string {
  const shown = lines.slice(0, maxShown).map(write)
  return [...shown, ...(lines.length > maxShown ? [`${lines.length - maxShown} more`] : [])].join(', ')
}

export function describeTraffic(lines: readonly Line[]): string {
  const reached = lines.filter(({ connections }) => connections > 0)
  const refused = lines.filter((line) => line.refused > 0)
  const parts = [
    listShown(
      reached.toSorted((left, right) => right.sent + right.received - left.sent - left.received),
      ({ host, port, connections, sent, received }) =>
        `${writeHostName({ host, port })} (${connections} ${connections === 1 ? 'connection' : 'connections'}, ${describeBytes(sent)} sent, ${describeBytes(received)} received)`,
    ),
    listShown(
      refused.toSorted((left, right) => right.refused - left.refused),
      ({ host, port, refused: times }) => `${writeHostName({ host, port })} (${times} times)`,
    ),
  ]
  const words = ['reached', 'refused']
  return parts.flatMap((part, at) => (part === '' ? [] : [`${words[at]} ${part}`])).join('; ')
}
