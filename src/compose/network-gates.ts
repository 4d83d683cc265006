// The gates of attempts, with what they write down and what they ask people.
import { createHash } from 'node:crypto'
import type { Config } from '../config/load.ts'
import { defaultApprovalWait } from '../contract/api/coordination/coordination.ts'
import { networkTool } from '../contract/api/tasks/approvals.ts'
import { parseDuration } from '../contract/values/duration.ts'
import { writeHostName } from '../contract/values/network-names.ts'
import { parseQuantity } from '../contract/values/quantity.ts'
import type { HostAnswer } from '../egress/network/dial.ts'
import { createNetworkGates } from '../egress/network/gates.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../observability/log.ts'
import type { Records } from '../ports/index.ts'
import type { Resources } from '../ports/resources/resources.ts'
import type { EgressPolicy } from '../ports/service/egress.ts'
import type { GatedAttempt, NetworkGates } from '../ports/workspaces/network-gates.ts'
import { createNetworkNotes, subjectOf } from './network-notes.ts'

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
