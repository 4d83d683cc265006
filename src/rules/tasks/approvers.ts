// Who may answer an approval, of those who may change the task that asks.
import type { Approver } from '../../contract/kinds/agents/agent.ts'
import { callerKey, identifyCaller } from '../identity/caller-identity.ts'

type Answerer = Parameters<typeof identifyCaller>[0] & { groups: readonly string[]; isModel?: boolean }

function listNames({ groups, ...caller }: Answerer): string[] {
  return [callerKey(identifyCaller(caller)), ...groups.map((group) => `group:${group}`)]
}

/** Why the caller may not answer, or undefined. `approvers`: those of the agent that asks; absent: whoever may change the task. */
export function findAnswerProblem(caller: Answerer, approvers: readonly Approver[] | undefined): string | undefined {
  if (caller.agent !== undefined || caller.isModel === true)
    return 'a task or a model answers no approval: a person must'
  const names = listNames(caller)
  if (approvers === undefined || approvers.some(({ kind, id }) => names.includes(`${kind}:${id}`))) return undefined
  const named = approvers.map(({ kind, id }) => `${kind} ${id}`).join(', ')
  return `"${caller.username}" may not answer: coordination.approvers of the agent names ${named}`
}
