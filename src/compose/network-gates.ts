// The gates of attempts, with what they ask people and what they write down: the sums of each host as records, first refusals as
// events and steps, and all of it in one event at the end.
import { createHash } from 'node:crypto'
import type { Config } from '../config/load.ts'
import { defaultApprovalWait } from '../contract/api/coordination/coordination.ts'
import { networkTool } from '../contract/api/tasks/approvals.ts'
import { attemptStep, stepLimits } from '../contract/api/tasks/steps.ts'
import { parseDuration } from '../contract/values/duration.ts'
import { writeHostName } from '../contract/values/network-names.ts'
import { parseQuantity } from '../contract/values/quantity.ts'
import type { HostAnswer } from '../egress/network/dial.ts'
import { createNetworkGates } from '../egress/network/gates.ts'
import { messageOf } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../observability/log.ts'
import type { Records } from '../ports/index.ts'
import type { Resources } from '../ports/resources/resources.ts'
import type { EgressPolicy } from '../ports/service/egress.ts'
import type { HostRecord } from '../ports/tasks/network-records.ts'
import type { GatedAttempt, HostTraffic, NetworkGates } from '../ports/workspaces/network-gates.ts'
import { describeTraffic, sumHosts } from '../rules/workspaces/network-traffic.ts'

type NotesParts = {
  records: Pick<Records, 'events' | 'steps' | 'network'>
  clock: Pick<Clock, 'now'>
  log: Pick<Logger, 'error'>
}

/** Hosts whose first refusal is an event and a step of its own; the sums have all. */
const maxNamed = 50

/** Of one gate, by the host with its port. */
type Book = {
  /** The sums so far, and when each was first and last heard of. */
  hosts: Map<string, HostRecord>
  /** Those that are stored. */
  stored: Map<string, HostRecord>
  work: Promise<void>
}

function subjectOf({ key, namespace, taskName }: GatedAttempt) {
  return { taskUid: key.taskUid, attempt: key.attempt, namespace, taskName }
}

/** What has come since. */
function subtract(host: HostRecord, stored: HostRecord | undefined): HostRecord {
  if (stored === undefined) return host
  return {
    ...host,
    connections: host.connections - stored.connections,
    refused: host.refused - stored.refused,
    unlisted: host.unlisted - stored.unlisted,
    sent: host.sent - stored.sent,
    received: host.received - stored.received,
  }
}

/** The same host has the same one in each gate of the attempt. */
function nameStep(host: string): string {
  return `network-${createHash('sha256').update(host).digest('hex').slice(0, 24)}`
}

function createNetworkNotes({ records, clock, log }: NotesParts) {
  const books = new Map<GatedAttempt, Book>()
  const ignore = (what: string) => (error: unknown) => log.error({ error: messageOf(error) }, `${what} was lost`)

  const append = (attempt: GatedAttempt, type: string, message: string) =>
    records.events.append({ ...subjectOf(attempt), type, message }).catch(ignore('an event of a network'))

  function openBook(attempt: GatedAttempt): Book {
    const known = books.get(attempt)
    if (known !== undefined) return known
    const book: Book = { hosts: new Map(), stored: new Map(), work: Promise.resolve() }
    books.set(attempt, book)
    return book
  }

  async function noteRefusal(attempt: GatedAttempt, host: string, { reason = '' }: HostTraffic): Promise<void> {
    const step = {
      id: nameStep(host),
      parent: attemptStep,
      kind: 'network' as const,
      name: host.slice(0, stepLimits.name),
      startedAt: clock.now().toISOString(),
      durationMs: 0,
      outcome: 'refused' as const,
      error: reason.slice(0, stepLimits.error),
    }
    await append(attempt, 'NetworkRefused', `${host} was refused: ${reason}`)
    await records.steps.write(attempt.key, [step]).catch(ignore('a step of a network'))
  }

  /** What cannot be stored now is stored with what comes next. */
  async function store({ key }: GatedAttempt, { hosts, stored }: Book): Promise<void> {
    const changed = [...hosts].filter(([name, host]) => stored.get(name) !== host)
    await records.network
      .add(
        key,
        changed.map(([name, host]) => subtract(host, stored.get(name))),
      )
      .then(() => changed.forEach(([name, host]) => void stored.set(name, host)))
      .catch(ignore('what a program has reached'))
  }

  return {
    report(attempt: GatedAttempt, changed: HostTraffic[]): void {
      const book = openBook(attempt)
      const lastAt = clock.now().toISOString()
      for (const traffic of changed) {
        const name = writeHostName(traffic)
        const known = book.hosts.get(name)
        book.hosts.set(name, { ...traffic, firstAt: known?.firstAt ?? lastAt, lastAt })
        const isFirst = traffic.refused > 0 && (known?.refused ?? 0) === 0
        if (isFirst && book.hosts.size <= maxNamed)
          book.work = book.work.then(() => noteRefusal(attempt, name, traffic))
      }
      book.work = book.work.then(() => store(attempt, book))
    },

    limit(attempt: GatedAttempt, message: string): void {
      void append(attempt, 'NetworkLimitReached', message)
    },

    async end(attempt: GatedAttempt): Promise<void> {
      const book = books.get(attempt)
      books.delete(attempt)
      if (book === undefined) return
      await book.work.then(() => store(attempt, book))
      // Of all gates of the attempt: on a cluster each replica has one.
      const hosts = await records.network.list(attempt.key).catch(() => [...book.hosts.values()])
      await append(attempt, 'NetworkUsed', describeTraffic(sumHosts(hosts)))
    },
  }
}

export type NetworkParts = {
  records: Records
  resources: Resources
  policy: EgressPolicy
  clock: Clock
  log: Logger
}

/** For tests: where names lead. */
type Leading = Pick<Parameters<typeof createNetworkGates>[0], 'resolve' | 'redirect'>

/** Asked once for each host and task. The answer counts for the task, whenever it comes, or for one connection. */
async function askPerson(parts: NetworkParts, attempt: GatedAttempt, host: string): Promise<HostAnswer> {
  const { records, resources, clock } = parts
  const { namespace, taskName: name, key } = attempt
  const task = await resources.get('Task', { namespace, name })
  if (task?.metadata.uid !== key.taskUid) return 'declined'
  const expiresAt = new Date(clock.now().getTime() + parseDuration(defaultApprovalWait))
  const approval = await records.approvals.ask({
    namespace,
    task: { uid: key.taskUid, name },
    agentName: task.spec.agentRef?.name,
    call: createHash('sha256').update(`network ${host}`).digest('hex'),
    tool: networkTool,
    arguments: { host },
    message: `May it reach ${host}?`,
    expiresAt,
  })
  if (approval.status === 'pending' && approval.expiresAt === expiresAt.toISOString()) {
    const message = `asks for approval ${approval.id}: ${approval.message}`
    await records.events.append({ ...subjectOf(attempt), type: 'ApprovalRequested', message })
  }
  const { id, status, scope } = approval
  if (status !== 'approved' || scope !== 'once') return status === 'expired' ? 'declined' : status
  // Another connection that has used it meanwhile has had the answer; this one asks anew.
  return (await records.approvals.use(id)) ? 'once' : askPerson(parts, attempt, host)
}

export function openNetworkGates(
  config: Pick<Config, 'networkConnections' | 'networkBytes'>,
  parts: NetworkParts,
  leading: Leading = {},
): NetworkGates {
  return createNetworkGates({
    ...leading,
    policy: parts.policy,
    limits: { connections: config.networkConnections, bytes: parseQuantity(config.networkBytes) },
    ...createNetworkNotes(parts),
    async countSpent({ key: { taskUid } }) {
      const hosts = await parts.records.network.list({ taskUid })
      return hosts.reduce((sum, { sent, received }) => sum + sent + received, 0)
    },
    ask: (attempt, target) => askPerson(parts, attempt, writeHostName(target)),
  })
}
