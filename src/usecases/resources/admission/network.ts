// Whoever gives a task or an agent a wider network than its namespace has needs the right to do so.
import { isDeepStrictEqual } from 'node:util'
import type { AgentSpec } from '../../../contract/kinds/agents/agent.ts'
import type { Kind } from '../../../contract/kinds/index.ts'
import type { Network } from '../../../contract/kinds/tasks/network.ts'
import type { TaskSpec } from '../../../contract/kinds/tasks/task.ts'
import { isSvcError, SvcError } from '../../../errors.ts'
import type { Caller } from '../../../ports/identity/identity.ts'
import {
  defaultNetworkSettings,
  findWider,
  hasOpenNetwork,
  networkOfNamespace,
} from '../../../rules/workspaces/network.ts'
import { requireAccess } from '../../identity/access.ts'
import type { UsecaseDeps } from '../../service/deps.ts'
import type { AdmissionRequest } from './request.ts'

type Wish = { namespace: string; type: TaskSpec['type']; network: Network }

/** Forbidden when the network is wider than that of the namespace, and the caller may not widen it there. */
export async function requireNetwork(
  caller: Caller,
  { namespace, type, network }: Wish,
  { ports, settings }: UsecaseDeps,
): Promise<void> {
  const { network: rules = defaultNetworkSettings } = settings
  const wider = findWider(network, networkOfNamespace({ namespace, type }, rules))
  if (wider.length === 0) return
  const what = `the network of "${namespace}" does not have ${wider.join(', ')}`
  if (hasOpenNetwork(network) && !rules.allowsOpen) {
    throw new SvcError('Forbidden', `${what}, and this service allows it to nobody (--allow-open-network)`)
  }
  try {
    await requireAccess(ports, caller, { verb: 'update', kind: 'Network', namespace })
  } catch (error) {
    if (!isSvcError(error, 'Forbidden')) throw error
    throw new SvcError('Forbidden', `${what}: ${error.message}`)
  }
}

/** The same for what a request sets or changes. */
export async function requireOwnNetwork<K extends Kind>(
  kind: K,
  { caller, namespace, spec, before }: AdmissionRequest<K>,
  deps: UsecaseDeps,
): Promise<void> {
  if (kind !== 'Task' && kind !== 'Agent') return
  const [now, old] = [spec, before?.spec].map((from) => from as Partial<TaskSpec & AgentSpec> | undefined)
  const { network, type = 'agent' } = now ?? {}
  if (network === undefined || isDeepStrictEqual(old?.network, network)) return
  await requireNetwork(caller, { namespace, type, network }, deps)
}
