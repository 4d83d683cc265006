// What coordination tools work with, and arguments that several of them take.
import { z } from 'zod'
import { Name } from '../../contract/kinds/resources/metadata.ts'
import { isTerminalPhase, type Task } from '../../contract/kinds/tasks/task.ts'
import { formatDuration, PositiveDuration } from '../../contract/values/duration.ts'
import { isSvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { dropUndefined } from '../../lib/json.ts'
import type { OrchestratedTask, Orchestration } from '../../ports/coordination/coordination.ts'
import type { ModelTool, ToolOutcome } from '../registry/tool.ts'
import { failTool } from '../registry/tool-error.ts'

export type OrchestrationContext = Pick<OrchestratedTask, 'step'> & {
  orchestration: Orchestration
  /** After this time the loop gives a call up. */
  toolTimeoutMs: number
  clock: Pick<Clock, 'now'>
}

export type OrchestrationTool = ModelTool<OrchestrationContext>

export const namespace = Name.optional().describe('Namespace; left out: the one of this conversation')
export const taskName = z.string().min(1).max(253).describe('Name of the task, as the tool that made it gave it')
export const title = z.string().min(1).max(253).describe('A short name for people; the real one is in the answer')
export const timeout = PositiveDuration.optional().describe('Longest run, such as 30s, 10m or 1h')
export const priority = z.int().min(0).max(1000).optional().describe('Higher starts first; 500 is usual')
export const schedule = z.string().min(1).optional().describe('Cron expression; the task then runs again and again')

const secretName = z.string().min(1).optional().describe('Name of the Secret that opens the repository')
export const workspace = z
  .strictObject({
    gitRepo: z.string().min(1).describe('Repository to check out, such as https://github.com/owner/repo'),
    branch: z.string().optional(),
    ref: z.string().optional().describe('Tag, branch or commit'),
    gitSecretRef: secretName,
    subPath: z.string().optional().describe('Folder in the repository'),
    pushBranch: z.string().optional().describe('Branch that changes are pushed to'),
  })
  .optional()
  .describe('Repository that the task works in')

/** The argument in the shape of the contract. */
export function toWorkspace(argument: z.output<typeof workspace>): object | undefined {
  if (argument === undefined) return undefined
  const { gitSecretRef, ...rest } = argument
  return { ...rest, ...(gitSecretRef === undefined ? {} : { gitSecretRef: { name: gitSecretRef } }) }
}

/** Creates a task; the result of all tools that create one. */
export async function makeTask(
  { orchestration, step }: OrchestrationContext,
  request: OrchestratedTask,
): Promise<ToolOutcome> {
  try {
    return describeCreated(await orchestration.createTask({ ...request, step }))
  } catch (error) {
    if (isSvcError(error, 'TooManyRequests')) return failTool('limit_reached', error.message)
    throw error
  }
}

function describeCreated(task: Task): ToolOutcome {
  const { name, namespace } = task.metadata
  const { schedule } = task.spec
  const message = schedule === undefined ? 'Task created' : `Task created; it runs on the schedule "${schedule}"`
  return { success: true, data: { name, namespace, phase: task.status?.phase ?? 'Pending', message } }
}

const howToAnswer =
  'A person answers, over REST, in the dashboard or at the command line (approvals approve ID, for a host with --for once, task or always; approvals decline ID); no tool can.'

async function describeQuestions(orchestration: Orchestration, task: Task): Promise<object> {
  // A task is not parked for a host that it asks for.
  if (isTerminalPhase(task.status?.phase)) return {}
  const questions = await orchestration.listQuestions(task)
  if (questions.length === 0) return {}
  const pending = questions.map(({ id, agentName, tool, arguments: args, message, expiresAt }) =>
    dropUndefined({ id, agent: agentName, tool, arguments: args, message, expiresAt }),
  )
  return { waitsForApproval: pending, howToAnswer }
}

/** The current state of a task, with what it asks people for. */
export async function describeTask(orchestration: Orchestration, task: Task): Promise<Record<string, unknown>> {
  return { ...describeState(task), ...(await describeQuestions(orchestration, task)) }
}

function describeState(task: Task): Record<string, unknown> {
  const { name, namespace } = task.metadata
  const { phase = 'Pending', message, startTime, completionTime, conditions } = task.status ?? {}
  const end = completionTime === undefined ? undefined : Date.parse(completionTime)
  const duration =
    startTime === undefined || end === undefined ? undefined : formatDuration(end - Date.parse(startTime))
  return dropUndefined({
    name,
    namespace,
    phase,
    message: message ?? `The task is ${phase}`,
    duration,
    conditions: conditions?.map(({ type, status, reason, message: text }) =>
      dropUndefined({ type, status, reason, message: text }),
    ),
  })
}
