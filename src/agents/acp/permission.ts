// Answers what an agent asks a person for by the rules of the task.
import { resolve, sep } from 'node:path'
import type { AgentJob } from '../runtime.ts'
import type { PermissionRequest, ToolCall } from './protocol.ts'

/** Tools are named by their kind or their title. */
function isNamed(names: string[], { kind, title }: ToolCall): boolean {
  return [kind, title].some((name) => typeof name === 'string' && names.includes(name))
}

/** Why the call is not allowed; undefined if it is. */
export function findObstacle(job: AgentJob, call: ToolCall): string | undefined {
  const { allowBash, allowedTools, disallowedTools = [], workFolder } = job
  const { kind, locations } = call
  const isInside = (path: string) => `${resolve(workFolder, path)}${sep}`.startsWith(`${workFolder}${sep}`)
  if (kind === 'execute' && !allowBash) return 'The task allows no shell commands.'
  if (isNamed(disallowedTools, call)) return 'The task does not allow this tool.'
  if (allowedTools !== undefined && !isNamed(allowedTools, call)) return 'The task allows other tools only.'
  const outside = kind === 'read' ? undefined : locations?.find(({ path }) => !isInside(path))
  return outside === undefined ? undefined : `${outside.path} lies outside of the workspace.`
}

/** Whether a person decides about a call that the rules allow. A program that tells no kind means `other`. */
export function needsApproval({ approvalRequiredTools = [] }: AgentJob, call: ToolCall): boolean {
  return isNamed(approvalRequiredTools, { ...call, kind: call.kind ?? 'other' })
}

/** The answer that holds for this call alone, where there is one. */
export function chooseOption({ options }: PermissionRequest, isAllowed: boolean): object {
  const word = isAllowed ? 'allow' : 'reject'
  const chosen = [`${word}_once`, `${word}_always`].flatMap((kind) =>
    options.filter((option) => option.kind === kind),
  )[0]
  return chosen === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: chosen.optionId }
}
