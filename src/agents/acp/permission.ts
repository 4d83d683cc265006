// Answers what an agent asks a person for by the rules of the task.
import { resolve, sep } from 'node:path'
import type { AgentJob } from '../runtime.ts'
import type { PermissionRequest, ToolCall } from './protocol.ts'

/** Why the call is not allowed; undefined if it is. Tools are named by their kind or their title. */
export function findObstacle(job: AgentJob, { kind, title, locations }: ToolCall): string | undefined {
  const { allowBash, allowedTools, disallowedTools = [], workFolder } = job
  const isNamed = (names: string[]) => [kind, title].some((name) => typeof name === 'string' && names.includes(name))
  const isInside = (path: string) => `${resolve(workFolder, path)}${sep}`.startsWith(`${workFolder}${sep}`)
  if (kind === 'execute' && !allowBash) return 'The task allows no shell commands.'
  if (isNamed(disallowedTools)) return 'The task does not allow this tool.'
  if (allowedTools !== undefined && !isNamed(allowedTools)) return 'The task allows other tools only.'
  const outside = kind === 'read' ? undefined : locations?.find(({ path }) => !isInside(path))
  return outside === undefined ? undefined : `${outside.path} lies outside of the workspace.`
}

/** The answer that holds for this call alone, where there is one. */
export function chooseOption({ options }: PermissionRequest, isAllowed: boolean): object {
  const word = isAllowed ? 'allow' : 'reject'
  const chosen = [`${word}_once`, `${word}_always`].flatMap((kind) =>
    options.filter((option) => option.kind === kind),
  )[0]
  return chosen === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: chosen.optionId }
}
