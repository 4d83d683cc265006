// Which tools an ai task has: the built-in ones, its agent's and its own.
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { isPrMonitor, issueTools, pullRequestTools } from '../codehost/code-host-tools.ts'
import { isConfined } from '../tasks/task-bounds.ts'

/** Tools of every worker (BUILT-001). Naming one changes nothing; an agent can switch one off. */
export const builtInTools = ['web_search', 'code_exec', 'file_read', 'web_fetch', 'file_write'] as const

/** Tools that come with `coordination.enabled`; naming one changes nothing. */
const coordinationTools = [
  ...['delegate_task', 'wait_for_tasks', 'create_container_task', 'cancel_task', 'send_message', 'check_messages'],
  ...['create_agent', 'delete_agent', 'update_plan', 'request_approval'],
]

/** Tools that come with `coordination.enabled`, or where they are named. */
const memoryTools = ['recall_memory', 'remember', 'propose_memory', 'search_transcript']

/** Tools of the service that are not objects of kind Tool; all other names are custom tools. */
/** `skill_read` comes with the skills of a task. */
const serviceTools = new Set<string>([
  ...builtInTools,
  'skill_read',
  ...coordinationTools,
  ...memoryTools,
  ...pullRequestTools,
  ...issueTools,
])

export function isServiceTool(name: string): boolean {
  return serviceTools.has(name)
}

export type CustomTool = { name: string; namespace: string }

type ToolNames = {
  /** Names of the enabled tools of the service. */
  builtIn: string[]
  /** Custom tools and where to look them up: the agent's in its namespace, the task's in its own. */
  custom: CustomTool[]
}

/**
 * The union of the agent's and the task's tools; `enabled: false` on the agent switches one off. A monitor of pull requests reads
 * what strangers wrote, and has nothing but the tools for that; a confined task has only those that it names itself.
 */
export function chooseTools(task: Task, agent: Agent | undefined): ToolNames {
  if (isPrMonitor(task)) return { builtIn: [], custom: [] }
  const named = task.spec.ai?.tools ?? []
  if (isConfined(task)) return { builtIn: builtInTools.filter((name) => named.includes(name)), custom: [] }
  const off = new Set((agent?.spec.tools ?? []).filter((tool) => !tool.enabled).map((tool) => tool.name))
  const own = named.map((name) => ({ name, namespace: task.metadata.namespace }))
  const home = agent?.metadata.namespace ?? ''
  const agents = (agent?.spec.tools ?? []).map((tool) => ({ name: tool.name, namespace: home }))
  const each = new Map([...own, ...agents].map((tool) => [tool.name, tool]))
  const wanted = [...each.values()].filter((tool) => !off.has(tool.name))
  const standard = builtInTools.filter((name) => !off.has(name))
  const extra = wanted.map((tool) => tool.name).filter(isServiceTool)
  return {
    builtIn: [...new Set([...standard, ...extra])],
    custom: wanted.filter((tool) => !isServiceTool(tool.name)),
  }
}
