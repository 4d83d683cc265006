// Which agent programs tasks can run here.
import type { AgentRuntime } from '../contract/resources/agent.ts'
/**
 * Whether the program of a runtime was found; if not, how to install it. `command`: program and arguments of one that the
 * owner of the service has added.
 */
export type AgentProgram = { found: true; command?: string[] } | { found: false; command: string; install: string }

/** By runtime type, and by the name of those that were added. A runtime that is absent has no program here at all. */
export type AgentPrograms = Readonly<Record<string, AgentProgram | undefined>>

/** What an agent calls its program; undefined: nothing. */
export function nameOfProgram({ type, runtimeRef }: Pick<AgentRuntime, 'type' | 'runtimeRef'>): string | undefined {
  return type ?? runtimeRef?.name
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
  return `the program "${program.command}" of agent runtime ${name} is not installed; run \`${program.install}\` where the service runs, then restart the service`
}
