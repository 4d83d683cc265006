// Answers to what the gate asks: whoever may give a task such a network answers for its hosts, and `always` is written to its agent.
import type { ApprovalScope } from '../../contract/api/tasks/approvals.ts'
import { Network } from '../../contract/kinds/tasks/network.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { parseOrThrow } from '../../contract/schema/validation.ts'
import { SvcError } from '../../errors.ts'
import { findLineage } from '../../lookup/lineage.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { Approval } from '../../ports/tasks/parking.ts'
import { findAnswerProblem } from '../../rules/tasks/approvers.ts'
import { applyNetwork, defaultNetworkSettings } from '../../rules/workspaces/network.ts'
import { addHost, findAlwaysProblem, readAskedHost } from '../../rules/workspaces/network-answers.ts'
import { requireActingInTask } from '../resources/admission/acting.ts'
import { requireNetwork } from '../resources/admission/network.ts'
import type { ResourceUsecases } from '../resources/resources.ts'
import { repeatOnConflict } from '../resources/write-conflict.ts'
import type { UsecaseDeps } from '../service/deps.ts'

type HostAnswer = { status: 'approved' | 'declined'; scope?: ApprovalScope | undefined }

/** InvalidRequest, Forbidden. Returns the scope to store. */
type AnswerHost = (
  caller: Caller,
  question: { approval: Approval; task: Task },
  answer: HostAnswer,
) => Promise<ApprovalScope | undefined>

export function createHostAnswers(deps: UsecaseDeps, resources: Pick<ResourceUsecases, 'replace'>): AnswerHost {
  const { ports, settings } = deps
  const { network: networks = defaultNetworkSettings } = settings

  /** With the caller's right to change the agent, and to widen its network. */
  async function widenAgent(caller: Caller, { task, host }: { task: Task; host: string }): Promise<void> {
    const lineage = await findLineage(ports.resources, task)
    const { agent } = lineage
    const applied = applyNetwork(lineage, networks)
    const problem = findAlwaysProblem({ task, agent, applied, host })
    if (agent === undefined || problem !== undefined) throw new SvcError('InvalidRequest', problem ?? '')
    const widened = addHost(agent.spec.network ?? applied, host, networks.ports)
    const network = parseOrThrow(Network, widened, 'network')
    const { namespace, name, resourceVersion } = agent.metadata
    const body = { metadata: { resourceVersion }, spec: { ...agent.spec, network } }
    await resources.replace(caller, 'Agent', { namespace, name }, body)
  }

  async function requireWidening(caller: Caller, { task, host }: { task: Task; host: string }): Promise<void> {
    const problem = findAnswerProblem(caller, undefined)
    if (problem !== undefined) throw new SvcError('Forbidden', problem)
    const { namespace } = task.metadata
    const network: Network = { allow: [host], onUnknown: 'refuse' }
    const { agent, ancestors } = await findLineage(ports.resources, task)
    // Its own default may be wider than that of those which bound it.
    const types = new Set([task, ...ancestors.flatMap((one) => one?.task ?? [])].map(({ spec }) => spec.type))
    for (const type of types) await requireNetwork(caller, { namespace, type, network }, deps)
    const approvers = agent?.spec.coordination?.approvers
    // Whom the agent names was chosen by somebody with the right to its Secrets.
    const isNamed = approvers !== undefined && findAnswerProblem(caller, approvers) === undefined
    if (!isNamed) await requireActingInTask(caller, task, deps)
  }

  return async (caller, { approval, task }, { status, scope = 'task' }) => {
    const [host] = readAskedHost(approval)
    if (host === undefined) throw new SvcError('InvalidRequest', 'the question names no host')
    await requireWidening(caller, { task, host })
    if (status === 'declined') return undefined
    if (scope === 'always' && approval.status === 'pending')
      await repeatOnConflict(() => widenAgent(caller, { task, host }))
    return scope
  }
}
