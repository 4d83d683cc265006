// Which tools an ai task has: the built-in ones, its agent's and its own, as far as their servers list them.
import { createHash } from 'node:crypto'
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import type { Tool } from '../../contract/kinds/tools/tool.ts'
import type { ListedTool, OfferedTool } from '../../contract/kinds/tools/tool-http.ts'
import { isPrMonitor, issueTools, pullRequestTools } from '../codehost/tools.ts'
import { isConfined } from '../tasks/bounds.ts'

/** A finding is believed for this long; checks of a tool that is not available follow each other more closely. */
const believedMs = 60_000

/** Whether the status is about the spec as it is now. */
export function hasStatusOfSpec({ metadata, status }: Tool): boolean {
  return status?.observedGeneration === metadata.generation
}

/** Why its calls fail at once, and until when; undefined when they are tried. */
export function readOutage(tool: Tool): { message: string; until: string } | undefined {
  const { available, error, lastCheck } = tool.status ?? {}
  if (available !== false || error === undefined || lastCheck === undefined || !hasStatusOfSpec(tool)) return undefined
  return { message: error, until: new Date(Date.parse(lastCheck) + believedMs).toISOString() }
}

/** Models choose badly among more, and each costs tokens in every call. */
const maxTools = 128
/** The descriptions and schemas of all of them, as JSON. */
const maxBytes = 262_144
/** Both vendor families allow 64 letters, digits, "_" and "-". */
const maxNameLength = 64
const digits = 8

/** `docs__search`: the Tool, then the server's name for it. What vendors do not allow, or is too long, ends in a hash. */
function nameListedTool(tool: string, serverName: string): string {
  const plain = `${tool}__${serverName}`
  if (plain.length <= maxNameLength && /^[\w-]+$/.test(plain)) return plain
  const hash = createHash('sha256').update(plain).digest('hex').slice(0, digits)
  return `${plain.replace(/[^\w-]/g, '_').slice(0, maxNameLength - digits - 1)}_${hash}`
}

/** `*` stands for any text. */
function matches(name: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return name === pattern
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false
  let at = first.length
  const end = name.length - last.length
  return rest.every((part) => {
    const found = name.indexOf(part, at)
    at = found + part.length
    return found >= 0 && at <= end
  })
}

type Choice = { tools: ListedTool[]; problem?: undefined } | { problem: string }

export function chooseListedTools(
  { name, patterns }: { name: string; patterns: readonly string[] | undefined },
  offered: readonly OfferedTool[],
): Choice {
  const tools = offered.filter((one) => patterns?.some((pattern) => matches(one.serverName, pattern)) ?? true)
  if (offered.length > 0 && tools.length === 0)
    return { problem: `mcp.tools matches none of its ${offered.length} tools` }
  if (tools.length > maxTools) {
    return { problem: `the server offers ${tools.length} tools; choose at most ${maxTools} of them with mcp.tools` }
  }
  const named = tools.map((one) => ({ name: nameListedTool(name, one.serverName), ...one }))
  const bytes = Buffer.byteLength(JSON.stringify(named))
  if (bytes <= maxBytes) return { tools: named }
  return { problem: `what the server says of its tools is ${bytes} bytes; choose fewer of them with mcp.tools` }
}

/** What is wrong with the server of an actor that has no tool of the Tool's name; undefined when it has one. */
export function findMissingTool(name: string, offered: readonly OfferedTool[]): string | undefined {
  if (offered.some(({ serverName }) => serverName === name)) return undefined
  const names = offered.map(({ serverName }) => serverName).slice(0, 8)
  const has = names.length === 0 ? 'it has no tools' : `it has ${names.join(', ')}`
  return `the server in the actor has no tool named "${name}"; ${has}. Name the Tool like the tool that it stands for`
}

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
