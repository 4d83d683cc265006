// Counts what an attempt reaches and is refused, host by host, and reports the sums now and then: however many attempts a
// program makes, there is one line for each host.
import type { HostTraffic } from '../../ports/workspaces/network-gates.ts'

/** What a task has used, over its attempts and over gates that were closed while it was quiet. */
export type UsedTraffic = {
  bytes: number
  /** Limits that were reached; each is reported once. */
  reached: Set<string>
}

/** Hosts that are counted apart; the others share one line. */
const maxHosts = 500
const otherHosts = '*'
const reportMs = 1000

export type Traffic = {
  opened(host: string, port: number): void
  /** `isUnlisted`: only because the list does not have it. */
  refused(host: string, port: number, reason: string, isUnlisted?: boolean): void
  moved(host: string, port: number, bytes: { sent?: number; received?: number }): void
  /** Of the task. */
  bytes(): number
  /** Reports what has changed. */
  flush(): void
}

/** `report` gets the sums so far of the hosts that have changed; it never rejects. */
export function createTraffic(report: (changed: HostTraffic[]) => void, used: UsedTraffic): Traffic {
  const hosts = new Map<string, HostTraffic>()
  const changed = new Set<HostTraffic>()
  let timer: NodeJS.Timeout | undefined

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (changed.size === 0) return
    report([...changed].map((one) => ({ ...one })))
    changed.clear()
  }

  function lineOf(host: string, port: number): HostTraffic {
    const key = `${host} ${port}`
    const known = hosts.get(key)
    if (known !== undefined) return known
    if (hosts.size >= maxHosts && host !== otherHosts) return lineOf(otherHosts, 0)
    const line = { host, port, connections: 0, refused: 0, unlisted: 0, sent: 0, received: 0 }
    hosts.set(key, line)
    return line
  }

  function change(host: string, port: number, apply: (line: HostTraffic) => void): void {
    const line = lineOf(host, port)
    apply(line)
    changed.add(line)
    timer ??= setTimeout(flush, reportMs).unref()
  }

  return {
    opened: (host, port) =>
      change(host, port, (line) => {
        line.connections += 1
      }),
    refused: (host, port, reason, isUnlisted = false) =>
      change(host, port, (line) => {
        line.refused += 1
        if (isUnlisted) line.unlisted += 1
        line.reason = reason
      }),
    moved: (host, port, { sent = 0, received = 0 }) => {
      used.bytes += sent + received
      change(host, port, (line) => {
        line.sent += sent
        line.received += received
      })
    },
    bytes: () => used.bytes,
    flush,
  }
}
