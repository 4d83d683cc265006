// What a coordinator and its status learn of a child: bounded, in the order in which it asked.
import type { ChildResult } from '../../contract/api/coordination/coordination.ts'
import { readStructuredResult } from '../../contract/api/tasks/structured-result.ts'
import type { ChildTask } from '../../contract/kinds/tasks/child-task.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { dropUndefined } from '../../lib/json.ts'
import { countRuns } from '../tasks/retry.ts'

const maxResultLength = 4096

export function summarizeChild(child: Task, result: string | undefined): ChildTask {
  const agent = child.spec.agentRef?.name
  const text =
    result !== undefined && result.length > maxResultLength
      ? `${result.slice(0, maxResultLength)}\n[truncated]`
      : result
  return {
    name: child.metadata.name,
    agent,
    phase: child.status?.phase ?? 'Pending',
    result: text,
  }
}

const maxTextLength = 4096
const maxDataLength = 32 * 1024

function cut(text: string): string {
  return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength)}\n[truncated]`
}

function boundData(data: unknown): unknown {
  const bytes = data === undefined ? 0 : Buffer.byteLength(JSON.stringify(data))
  if (bytes <= maxDataLength) return data
  return { truncated: true, originalBytes: bytes, message: 'too large; its artifacts or result hold all of it' }
}

function describeFailure({ status, spec }: Task): ChildResult['failureDetails'] {
  if (status?.phase !== 'Failed' && status?.phase !== 'Cancelled') return undefined
  const { attempts = 0, interruptions = 0, parkings = 0, sharedLosses = 0, message = '' } = status
  return {
    message: cut(message),
    retryCount: Math.max(0, countRuns({ attempts, interruptions, parkings, sharedLosses }) - 1),
    maxRetries: spec.retryPolicy?.maxRetries ?? 0,
  }
}

/** What a task in a repository has changed; a raw diff is never part of it. */
function describeChanges(text: string): Partial<ChildResult> {
  const { summary, verdict, feedback, files, data, baseSHA, headSHA, pushBranch } = readStructuredResult(text)
  return { result: cut(summary), verdict, feedback, files, data: boundData(data), baseSHA, headSHA, pushBranch }
}

/** A name that is no task of the coordinator; whether it is one of somebody else is not told. */
export function describeStranger(task: string): ChildResult {
  return { task, phase: 'Error', error: 'is no task of yours; it may have been deleted' }
}

/** `text`: the stored result, if there is one. */
export function describeChild(child: Task, text: string | undefined, artifacts: readonly string[]): ChildResult {
  const isAutonomous = (child.status?.iteration ?? 0) > 0
  return dropUndefined({
    task: child.metadata.name,
    agent: child.spec.agentRef?.name,
    phase: child.status?.phase ?? 'Pending',
    ...(text !== undefined && describeChanges(text)),
    artifacts: artifacts.length > 0 ? [...artifacts] : undefined,
    iteration: isAutonomous ? child.status?.iteration : undefined,
    failureDetails: describeFailure(child),
  }) as ChildResult
}
