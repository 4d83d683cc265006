// Whether a task can run at all, now that its agent is known. Each problem is one clear sentence.
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import { agentProblems } from '../../contract/kinds/agents/agent-problems.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { taskProblems, type WorkspaceDefaults } from '../../contract/kinds/tasks/task-problems.ts'
import { summarizeProblems } from '../../contract/schema/validation.ts'
import { approvalsOf, findProgramProblem, findUnkeptLimit, type InstalledAgentProgram } from '../agents/programs.ts'
import { findForeignReference, findNamespaceProblems, listForeignWorkspaces } from '../identity/isolation.ts'

/** What this service supports. */
export type Abilities = {
  /** The program of the agent, as it is now. */
  program?: InstalledAgentProgram | undefined
  workspaces?: WorkspaceDefaults | undefined
  /** True when references into another namespace are refused. */
  isolateNamespaces: boolean
}

/** A sentence that names the first problem, or undefined. */
type Check = (task: Task, agent: Agent | undefined, abilities: Abilities) => string | undefined

const checkSpec: Check = (task, _agent, { workspaces }) => {
  const problems = taskProblems(task.spec, workspaces)
  return problems.length === 0 ? undefined : summarizeProblems('task', problems)
}

/** For objects stored before namespaces were isolated; new references are refused when they are written. */
const checkIsolation: Check = (task, agent, { isolateNamespaces }) => {
  if (!isolateNamespaces) return undefined
  const own = findForeignReference('Task', task.metadata.namespace, task.spec)
  return own ?? (agent && findForeignReference('Agent', agent.metadata.namespace, agent.spec))
}

const checkNamespaces: Check = ({ metadata: { namespace }, spec }, _agent, { workspaces, isolateNamespaces }) => {
  const references = listForeignWorkspaces(namespace, spec, workspaces)
  const problems = findNamespaceProblems({ kind: 'Task', namespace }, references, isolateNamespaces)
  return problems.length === 0 ? undefined : summarizeProblems('task', problems)
}

const checkAgent: Check = (_task, agent) => {
  if (agent === undefined) return undefined
  const problems = agentProblems(agent.spec)
  return problems.length === 0 ? undefined : summarizeProblems(`agent "${agent.metadata.name}"`, problems)
}

const checkRuntime: Check = (task, agent, { program }) => {
  const runtime = agent?.spec.runtime
  const name = agent?.metadata.name
  if (task.spec.type === 'ai' && runtime !== undefined) {
    return `agent "${name}" has a runtime and can only be used by tasks of type agent; change the task's type or name another agent`
  }
  if (task.spec.type !== 'agent' || agent === undefined) return undefined
  if (runtime === undefined) {
    return `agent "${name}" has no runtime; set its spec.runtime.type or make this a task of type ai`
  }
  return findProgramProblem(runtime, program) ?? findUnkeptLimit(runtime, task.spec.agentRuntime)
}

const checkApproval: Check = (task, agent) => {
  const coordination = agent?.spec.coordination
  const names = [
    ...(agent?.spec.tools ?? []).filter((t) => t.enabled).map((t) => t.name),
    ...(task.spec.ai?.tools ?? []),
  ]
  // Programs that speak the Agent Client Protocol ask by themselves.
  const needsTools = agent !== undefined && approvalsOf(agent.spec) === undefined
  const guarded = needsTools ? (coordination?.approvalRequiredTools ?? []) : []
  const wantsApproval = names.includes('request_approval') || guarded.length > 0
  if (!wantsApproval || coordination?.enabled === true) return undefined
  return 'approvals need an agent with coordination.enabled; set it, or remove request_approval and approvalRequiredTools'
}

const checks: Check[] = [checkSpec, checkIsolation, checkNamespaces, checkAgent, checkRuntime, checkApproval]

/** Why the task can never run as it is, in one sentence; undefined when it can. */
export function findTaskProblem(task: Task, agent: Agent | undefined, abilities: Abilities): string | undefined {
  for (const check of checks) {
    const problem = check(task, agent, abilities)
    if (problem !== undefined) return problem
  }
  return undefined
}
