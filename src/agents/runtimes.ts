// The agent programs by the names that agents give them.
import type { RuntimeType } from '../contract/kinds/agents/runtime-types.ts'
import { acpRuntime } from './acp/client.ts'
import type { AgentProgram } from './agent-runtime.ts'
import { codehostCli } from './codehost-cli.ts'
import { llmaCli } from './llma-cli.ts'
import { llmoCli } from './llmo-cli.ts'
import { opencode } from './opencode.ts'

export const agentRuntimes: Record<RuntimeType, AgentProgram> = {
  'llma-cli': llmaCli,
  'llmo-cli': llmoCli,
  'codehost-cli': codehostCli,
  opencode,
}

/** `command`: of a program that speaks the Agent Client Protocol. Undefined: there is none of that name. */
export function findRuntime({ runtime, command }: { runtime: string; command?: string[] | undefined }) {
  const known: Partial<Record<string, AgentProgram>> = agentRuntimes
  if (command !== undefined) return acpRuntime(command)
  return Object.hasOwn(known, runtime) ? known[runtime] : undefined
}
