// Which agent programs tasks can run here.
import type { AgentRuntime } from '../contract/resources/agent.ts'
import type { RuntimeType } from '../contract/resources/runtime-types.ts'

/** Whether the program of a runtime was found; if not, how to install it. */
export type AgentProgram = { found: true } | { found: false; command: string; install: string }

/** A runtime that is absent has no program here at all. */
export type AgentPrograms = Partial<Record<RuntimeType, AgentProgram>>

/** Why a runtime cannot be used here, in one sentence; undefined when it can. */
export function findProgramProblem({ type, runtimeRef }: AgentRuntime, programs: AgentPrograms): string | undefined {
  const program = type && programs[type]
  if (program === undefined) {
    return `agent runtime ${type ?? `runtimeRef ${runtimeRef?.name}`} is not available on this service; use an agent without runtime in a task of type ai`
  }
  if (program.found) return undefined
  return `the program "${program.command}" of agent runtime ${type} is not installed; run \`${program.install}\` where the service runs, then restart the service`
}
