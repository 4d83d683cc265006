// The network of a task for callers who may read it: what applies and who said so, and what its programs reached and were refused.
import { networkTool } from '../../contract/api/tasks/approvals.ts'
import type { TaskHost, TaskNetwork } from '../../contract/api/tasks/network.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { writeHostName } from '../../contract/values/network-names.ts'
import { listProviderHosts } from '../../lookup/gated-attempt.ts'
import { findLineage } from '../../lookup/lineage.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import type { Approval } from '../../ports/tasks/parking.ts'
import { listAllowedHosts } from '../../rules/identity/context-token.ts'
import {
  applyNetwork,
  createAllowingSearch,
  defaultNetworkSettings,
  listRepositoryHosts,
} from '../../rules/workspaces/network.ts'
import { readAskedHost } from '../../rules/workspaces/network-answers.ts'
import { type HostSum, learnHosts, sumHosts } from '../../rules/workspaces/network-traffic.ts'
import type { ResourceUsecases } from '../resources/resources.ts'
import type { UsecaseDeps } from '../service/deps.ts'

export type TaskNetworks = {
  network(caller: Caller, key: ResourceKey): Promise<TaskNetwork>
}

const maxAnswers = 500

export function createTaskNetworks(deps: UsecaseDeps, resources: ResourceUsecases): TaskNetworks {
  const { ports, settings } = deps
  const { network: networks = defaultNetworkSettings } = settings

  async function describeRules(task: Task) {
    if (task.spec.type === 'ai') return undefined
    const { context } = task.spec.transaction ?? {}
    const within = context && listAllowedHosts(context, settings.contextMode ?? 'off')
    const applied = applyNetwork(await findLineage(ports.resources, task), networks)
    return { ...applied, ...(within !== undefined && { within: [...within] }) }
  }

  /** What people have answered about hosts, by the host with its port. */
  async function readAnswers({ metadata: { namespace, name, uid } }: Task): Promise<Map<string, string>> {
    const found = await ports.records.approvals.list({ namespaces: [namespace], taskName: name, limit: maxAnswers })
    const own = found.filter(({ taskUid, tool }) => taskUid === uid && tool === networkTool)
    const stateOf = ({ status, scope }: Approval) => (scope === 'once' ? 'once' : status)
    return new Map(own.toReversed().flatMap((one) => readAskedHost(one).map((host) => [host, stateOf(one)] as const)))
  }

  function present({ unlisted: _, ...sum }: HostSum, allowedBy: string | undefined): TaskHost {
    return { ...sum, ...(allowedBy !== undefined && { allowedBy }) }
  }

  return {
    async network(caller, key) {
      const task = await resources.get(caller, 'Task', key)
      const { namespace, uid: taskUid } = task.metadata
      const rules = await describeRules(task)
      const records = await ports.records.network.list({ taskUid })
      const sums = sumHosts(records.map(({ attempt: _, ...record }) => record))
      if (rules === undefined || sums.length === 0) return { ...(rules && { network: rules }), hosts: [], learned: [] }
      const answers = await readAnswers(task)
      const own = { codehost: listRepositoryHosts(task), model: await listProviderHosts(ports, namespace, rules) }
      const findAllowing = createAllowingSearch(rules, { own, ports: networks.ports })
      const explain = (sum: HostSum) =>
        findAllowing(sum) ?? (answers.get(writeHostName(sum)) === 'approved' ? 'approval' : undefined)
      const declined = new Set([...answers].flatMap(([host, status]) => (status === 'declined' ? [host] : [])))
      return {
        network: rules,
        hosts: sums.map((sum) => present(sum, explain(sum))),
        learned: learnHosts(sums, { ports: networks.ports, declined }),
      }
    },
  }
}
