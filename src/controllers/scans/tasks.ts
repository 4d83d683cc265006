// Tasks of a scan: made once by name, owned by the scan, confined to what their own spec names.

import { apiVersion } from '../../contract/kinds/resources/metadata.ts'
import type { RepositoryScan } from '../../contract/kinds/scans/repository-scan.ts'
import { isTerminalPhase, type Task, type TaskSpec } from '../../contract/kinds/tasks/task.ts'
import { isSvcError } from '../../errors.ts'
import { readResultText } from '../../lookup/result-text.ts'
import { type ScanStage, scanLabels } from '../../rules/scans/task-names.ts'
import { cleanupFinalizer } from '../../rules/tasks/scheduled-run.ts'
import { confinedAnnotation } from '../../rules/tasks/task-bounds.ts'
import { markCancelled } from '../../rules/tasks/task-decision.ts'
import { RunFailure, type ScanContext } from './context.ts'

export type ScanTask = {
  name: string
  stage: ScanStage
  labels: Partial<Record<keyof typeof scanLabels, string | undefined>>
  annotations?: Record<string, string>
}

const longestAnswer = 4 * 1024 * 1024

function describeTask({ metadata: { namespace, name: owner, uid } }: RepositoryScan, task: ScanTask) {
  const labels = Object.entries({ ...task.labels, scan: owner, stage: task.stage }).flatMap(([key, value]) =>
    value === undefined ? [] : [[scanLabels[key as keyof typeof scanLabels], value]],
  )
  return {
    namespace,
    name: task.name,
    labels: Object.fromEntries(labels) as Record<string, string>,
    annotations: { ...task.annotations, [confinedAnnotation]: 'true' },
    finalizers: [cleanupFinalizer],
    ownerReferences: [
      { apiVersion, kind: 'RepositoryScan', name: owner, uid, controller: true, blockOwnerDeletion: true },
    ],
  }
}

/** The task as it is; made when there is none. RunFailure when its name belongs to something else. */
export async function ensureTask(
  context: ScanContext,
  scan: RepositoryScan,
  task: ScanTask,
  describeSpec: () => Promise<TaskSpec>,
): Promise<Task> {
  const key = { namespace: scan.metadata.namespace, name: task.name }
  const known = await context.resources.get('Task', key)
  if (known !== undefined) return requireOwn(scan, known)
  try {
    const draft = { metadata: describeTask(scan, task), spec: await describeSpec() }
    return await context.resources.create('Task', draft)
  } catch (error) {
    const made = isSvcError(error, 'AlreadyExists') ? await context.resources.get('Task', key) : undefined
    if (made === undefined) throw error
    return requireOwn(scan, made)
  }
}

function requireOwn({ metadata: { uid } }: RepositoryScan, task: Task): Task {
  if (task.metadata.ownerReferences?.some((owner) => owner.uid === uid)) return task
  throw new RunFailure('NameTaken', `task "${task.metadata.name}" is not one of this scan: delete it, and start a run`)
}

/** Every task of a run. */
export async function listRunTasks({ resources }: ScanContext, scan: RepositoryScan, run: string): Promise<Task[]> {
  const { namespace, uid } = scan.metadata
  const tasks: Task[] = []
  let token: string | undefined
  do {
    const query = { namespace, labelSelector: `${scanLabels.run}=${run}`, limit: 500, continue: token }
    const page = await resources.list('Task', query)
    tasks.push(...page.items.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid)))
    token = page.continue
  } while (token !== undefined)
  return tasks
}

export type TaskOutcome = { state: 'active' } | { state: 'failed'; why: string } | { state: 'answered'; text: string }

/** How the task ended, if it has. */
export async function readOutcome({ records }: ScanContext, task: Task): Promise<TaskOutcome> {
  const { phase, message } = task.status ?? {}
  if (!isTerminalPhase(phase)) return { state: 'active' }
  if (phase !== 'Succeeded') return { state: 'failed', why: message ?? `task "${task.metadata.name}" ${phase}` }
  const text = await readResultText(records.results, { taskUid: task.metadata.uid }, longestAnswer)
  if (text !== undefined) return { state: 'answered', text }
  return { state: 'failed', why: `task "${task.metadata.name}" left no result` }
}

/** Asks for the end of a task that runs, or waits. */
export async function cancelTask({ resources }: ScanContext, task: Task, reason: string): Promise<void> {
  if (isTerminalPhase(task.status?.phase)) return
  try {
    await resources.update('Task', markCancelled(task, reason))
  } catch (error) {
    if (!isSvcError(error, 'Conflict') && !isSvcError(error, 'NotFound')) throw error
  }
}

/** Tokens in and out, and cost, of tasks so far. */
export function sumUsage(tasks: readonly Task[]): { tokens: number; cost: number } {
  const used = tasks.map(({ status }) => status?.usage)
  const tokens = used.reduce((sum, usage) => sum + countTokens(usage), 0)
  return { tokens, cost: used.reduce((sum, usage) => sum + (usage?.cost ?? 0) + (usage?.estimatedCost ?? 0), 0) }
}

function countTokens(usage: NonNullable<Task['status']>['usage']): number {
  const { inputTokens = 0, outputTokens = 0, estimatedInputTokens = 0, estimatedOutputTokens = 0 } = usage ?? {}
  return inputTokens + outputTokens + estimatedInputTokens + estimatedOutputTokens
}
