// Whether an attempt shares a process with others, or has one of its own.
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { AttemptIsolation, IsolationReason, ResourceRequirements } from '../../contract/kinds/tasks/execution.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { gitWorkspaceOf } from '../workspaces/git-workspace.ts'
import { choosePlacement } from './bounds.ts'

export type IsolationSettings = {
  /** Of ai tasks for which nothing asks for `process`. */
  usual: 'shared' | 'process'
  /** Namespaces whose tasks never share a process. */
  processNamespaces: readonly string[]
}

/** `isSuspect`: an attempt of the task may have ended the process that it shared. */
type Circumstances = { settings: IsolationSettings; isSuspect?: boolean }

type Facts = Circumstances & { task: Task; agent: Agent | undefined }

/**
 * The first one that holds is shown: what a task is before what somebody asks for. Execution workspaces are those of agent
 * tasks. Nobody can ask for `shared`, so the strictest wins.
 */
const causes: [IsolationReason, (facts: Facts) => boolean][] = [
  ['TaskType', ({ task }) => task.spec.type !== 'ai'],
  ['Checkout', ({ task }) => gitWorkspaceOf(task.spec) !== undefined],
  ['Placement', ({ task, agent }) => hasEntries(choosePlacement(task, agent))],
  ['Resources', ({ task, agent }) => setsResources(task.spec.resources ?? agent?.spec.resources)],
  ['Suspect', ({ isSuspect = false }) => isSuspect],
  ['TaskIsolation', ({ task }) => task.spec.execution?.isolation === 'process'],
  ['AgentIsolation', ({ agent }) => agent?.spec.execution?.isolation === 'process'],
  ['NamespaceIsolation', ({ task, settings }) => settings.processNamespaces.includes(task.metadata.namespace)],
  ['ServiceIsolation', ({ settings }) => settings.usual === 'process'],
]

function hasEntries(values: object): boolean {
  return Object.values(values).some((value) => value !== undefined && !isEmpty(value))
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function setsResources({ requests, limits }: ResourceRequirements = {}): boolean {
  return hasEntries({ requests, limits })
}

export function chooseIsolation(task: Task, agent: Agent | undefined, circumstances: Circumstances): AttemptIsolation {
  const facts = { task, agent, ...circumstances }
  const reason = causes.find(([, applies]) => applies(facts))?.[0]
  return reason === undefined ? { mode: 'shared' } : { mode: 'own', reason }
}
