// Which agent programs tasks can run here.
import type { AgentProgramItem } from '../../contract/api/service/agent-programs.ts'
import type { AgentRuntime, AgentSpec } from '../../contract/kinds/agents/agent.ts'
import type { AgentRuntimeSettings } from '../../contract/kinds/tasks/task.ts'
import { dropUndefined } from '../../lib/json.ts'

/** How a program of this machine is started, wherever and however it is installed. */
export type AgentLaunch = {
  /** The real path of the program, after the interpreter that it names. */
  argv: string[]
  /** Folders and files that it reads, at their own paths. */
  folders: string[]
  /** Where it looks up what it starts, as in the variable PATH. */
  path: string
  /** As it says; absent: it was not asked. */
  version?: string
}

/**
 * Whether the program of a runtime can be used; if not, why, as the end of a sentence about it, and how to install one that can;
 * or on a cluster the setting that names its image. `command`: program and arguments of one that the owner of the service has added.
 */
export type InstalledAgentProgram =
  | { found: true; command?: string[]; image?: string; file?: string; launch?: AgentLaunch }
  | { found: false; command: string; install?: string; file?: string; problem?: string }
  | { found: false; setting: string }

/** The programs of this service as they are now: what is installed, changed or removed meanwhile counts. */
export type AgentPrograms = {
  /** By runtime type, and by the name of those that were added. Undefined: the runtime has no program here at all. */
  find(name: string): Promise<InstalledAgentProgram | undefined>
  /** What may be asked for. */
  names: readonly string[]
}

export const noAgentPrograms: AgentPrograms = { find: async () => undefined, names: [] }

/** The program of an agent; undefined: its runtime has none here, or it has no runtime. */
export async function findProgramOf(
  runtime: AgentRuntime | undefined,
  { find }: AgentPrograms,
): Promise<InstalledAgentProgram | undefined> {
  const name = runtime && nameOfProgram(runtime)
  return name === undefined ? undefined : await find(name)
}

/** What an agent calls its program; undefined: nothing. */
export function nameOfProgram({ type, runtimeRef }: Pick<AgentRuntime, 'type' | 'runtimeRef'>): string | undefined {
  return type ?? runtimeRef?.name
}

/** What a program may do: the task's own limits before those of its agent. */
export function limitsOf(runtime: AgentRuntime, own: AgentRuntimeSettings | undefined) {
  return {
    maxTurns: own?.maxTurns ?? runtime.defaultMaxTurns,
    allowedTools: own?.allowedTools ?? runtime.defaultAllowedTools,
    disallowedTools: own?.disallowedTools,
    allowBash: own?.allowBash ?? runtime.defaultAllowBash,
  }
}

/** Tools for which people are asked; undefined: none. Only programs that speak the Agent Client Protocol ask. */
export function approvalsOf({ runtime, coordination }: AgentSpec): string[] | undefined {
  const named = coordination?.approvalRequiredTools ?? []
  return runtime?.runtimeRef === undefined || named.length === 0 ? undefined : named
}

/** A limit that a program cannot keep must not look as if it were kept. */
export function findUnkeptLimit(runtime: AgentRuntime, own: AgentRuntimeSettings | undefined): string | undefined {
  if (runtime.type !== 'llmo-cli') return undefined
  const { allowBash, allowedTools, disallowedTools = [] } = limitsOf(runtime, own)
  if (!allowBash) {
    return 'agent runtime llmo-cli can do nothing without its shell; set agentRuntime.allowBash or use another runtime'
  }
  if (allowedTools === undefined && disallowedTools.length === 0) return undefined
  return 'the tools of agent runtime llmo-cli cannot be limited; remove allowedTools and disallowedTools, or use another runtime'
}

/** Why a program cannot be used, and what to do, in one sentence. */
function explainMissing(name: string, program: Extract<InstalledAgentProgram, { found: false }>): string {
  if ('setting' in program)
    return `agent runtime ${name} has no image on this service; its owner builds one (deploy/agent.Containerfile) and names it with ${program.setting}`
  const { command, install, file, problem } = program
  const what = `the program "${command}" of agent runtime ${name}${file === undefined ? '' : ` (${file})`}`
  const advice =
    install === undefined ? 'install it where the service runs' : `run \`${install}\` where the service runs`
  return `${what} ${problem ?? 'is not installed'}; ${advice}`
}

async function describeProgram(name: string, { find }: AgentPrograms): Promise<AgentProgramItem> {
  const program = await find(name)
  if (!program?.found) {
    const file = program && 'file' in program ? program.file : undefined
    return { name, ready: false, ...(file && { file }), ...(program && { problem: explainMissing(name, program) }) }
  }
  const { file, image, launch } = program
  return dropUndefined({ name, ready: true, file, image, version: launch?.version })
}

/** For those who own the service. */
export async function describeAgentPrograms(programs: AgentPrograms): Promise<AgentProgramItem[]> {
  return await Promise.all(programs.names.map((name) => describeProgram(name, programs)))
}

/** Why a runtime cannot be used here, in one sentence; undefined when it can. */
export function findProgramProblem(
  runtime: AgentRuntime,
  program: InstalledAgentProgram | undefined,
): string | undefined {
  const name = nameOfProgram(runtime) ?? ''
  if (program === undefined && runtime.runtimeRef !== undefined) {
    return `agent runtime "${name}" (runtimeRef) is not set up on this service; its owner adds it with --agent-program ${name}=COMMAND`
  }
  if (program === undefined) {
    return `agent runtime ${name} is not available on this service; use an agent without runtime in a task of type ai`
  }
  return program.found ? undefined : explainMissing(name, program)
}
