// Which agent programs tasks can run here.
import type { AgentRuntime, AgentSpec } from '../../contract/kinds/agents/agent.ts'
import type { AgentRuntimeSettings } from '../../contract/kinds/tasks/task.ts'
/**
 * Whether the program of a runtime was found; if not, how to install it, or on a cluster the setting that names its image.
 * `command`: program and arguments of one that the owner of the service has added.
 */
export type InstalledAgentProgram =
  | { found: true; command?: string[]; image?: string }
  | { found: false; command: string; install: string }
  | { found: false; setting: string }

/** By runtime type, and by the name of those that were added. A runtime that is absent has no program here at all. */
export type AgentPrograms = Readonly<Record<string, InstalledAgentProgram | undefined>>

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

/** Why a runtime cannot be used here, in one sentence; undefined when it can. */
export function findProgramProblem(runtime: AgentRuntime, programs: AgentPrograms): string | undefined {
  const name = nameOfProgram(runtime)
  const program = name === undefined || !Object.hasOwn(programs, name) ? undefined : programs[name]
  if (program === undefined && runtime.runtimeRef !== undefined) {
    return `agent runtime "${name}" (runtimeRef) is not set up on this service; its owner adds it with --agent-program ${name}=COMMAND`
  }
  if (program === undefined) {
    return `agent runtime ${name} is not available on this service; use an agent without runtime in a task of type ai`
  }
  if (program.found) return undefined
  if ('setting' in program) {
    return `agent runtime ${name} has no image on this service; its owner builds one (deploy/agent.Containerfile) and names it with ${program.setting}`
  }
  return `the program "${program.command}" of agent runtime ${name} is not installed; run \`${program.install}\` where the service runs, then restart the service`
}
