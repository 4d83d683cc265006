// Reads the assignment and starts the run that it describes.
import { join } from 'node:path'
import { WorkAssignment } from '../contract/api/tasks/assignment.ts'
import { tryParseJson } from '../lib/json.ts'
import { runAi } from './ai/ai-run.ts'
import type { WorkerDeps } from './deps.ts'
import { type AttemptOutcome, failRun } from './outcome.ts'

export type RunAssignment = typeof runAssignment

export async function runAssignment(text: string, deps: WorkerDeps, signal: AbortSignal): Promise<AttemptOutcome> {
  const assignment = readAssignment(text)
  if (typeof assignment === 'string') return failRun('InvalidAssignment', assignment)
  const { type } = assignment.task
  const subPath = assignment.checkout?.subPath ?? ''
  const scoped = { ...deps, workspaceRoot: join(deps.workspaceRoot, subPath) }
  if (type === 'ai') return runAi(assignment, scoped, signal)
  const { runAgent } = await import('./agent/agent-run.ts')
  return runAgent(assignment, scoped, signal)
}

/** Does what is slow the first time before there is work: building the parser, loading the demo model. */
export async function preload(): Promise<void> {
  WorkAssignment.safeParse({})
  await import('../llm/demo/client.ts')
}

/** The assignment, or what is wrong with it. The message quotes no values, because they include secrets. */
function readAssignment(text: string): WorkAssignment | string {
  const parsed = WorkAssignment.safeParse(tryParseJson(text))
  if (parsed.success) return parsed.data
  const paths = parsed.error.issues.map((issue) => issue.path.join('.') || 'the whole line')
  return `The assignment cannot be read (${paths.join(', ')}); service and worker are of different versions.`
}
