// What a person is asked about a host that no list names, and what `always` comes to.
import { networkTool } from '../../contract/api/tasks/approvals.ts'
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { AppliedNetwork, Network } from '../../contract/kinds/tasks/network.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { readHostName, writeHostName } from '../../contract/values/network-names.ts'

type Question = { tool: string; arguments: Readonly<Record<string, unknown>> }

/** The host with its port, as lists write it; none for a question about anything else. */
export function readAskedHost({ tool, arguments: { host } }: Question): string[] {
  const name = tool === networkTool && typeof host === 'string' ? readHostName(host) : undefined
  return name === undefined ? [] : [writeHostName(name)]
}

type Remembering = { task: Task; agent: Agent | undefined; applied: AppliedNetwork; host: string }

/** Why an answer cannot be remembered by the agent, with what to do; undefined where it can. */
export function findAlwaysProblem({ task, agent, applied, host }: Remembering): string | undefined {
  const { name, namespace } = task.metadata
  const instead = `answer for the task, and add ${host}`
  if (applied.narrowedBy !== undefined)
    return `task "${name}" has no more than ${applied.narrowedBy.task ?? 'a task above it that is gone'}: ${instead} to the network of that one's agent for the next run`
  if (applied.from === 'task')
    return `task "${name}" has a network of its own, whatever its agent has: ${instead} to its spec.network for the next run`
  if (agent === undefined || task.spec.type !== 'agent')
    return `task "${name}" has no agent whose network its programs have: ${instead} to spec.network of the next task, or to --namespace-network for all in "${namespace}"`
  if (agent.metadata.namespace !== namespace)
    return `agent "${agent.metadata.name}" is of namespace "${agent.metadata.namespace}", and gives "${namespace}" no wider network: ${instead} to --namespace-network`
  return undefined
}

/** The network with the host; `ports` are those that need not be named. */
export function addHost({ allow, onUnknown, limits }: Network, named: string, ports: readonly number[]): Network {
  const { host, port = 0 } = readHostName(named) ?? { host: named }
  const entry = writeHostName(ports.includes(port) ? { host } : { host, port })
  const others = allow.filter((one) => one !== 'none' && one !== entry)
  return { allow: [...others, entry], onUnknown, ...(limits && { limits }) }
}
