// What the end of the worker in a workspace means for its attempt.
import type { WorkloadState } from '../../ports/tasks/workloads.ts'
import { readExit } from '../attempts/exit.ts'
import { judgeWorkerEnd } from '../attempts/worker-end.ts'
import { readReportLine } from '../attempts/worker-report.ts'
import type { EndedCommand } from './short-command.ts'

const timedOut = 124
const tailLength = 4096

export type Failed = Extract<WorkloadState, { phase: 'Failed' }>

export function fail(reason: Failed['reason'], message: string, finishedAt: Date): Failed {
  return { phase: 'Failed', reason, message, finishedAt }
}

/** The worker's outcome is the last line that it prints. */
export function judgeEnd(end: EndedCommand, startedAt: Date, finishedAt: Date): WorkloadState {
  const times = { startedAt, finishedAt }
  if (end.exitCode === timedOut) {
    return { ...fail('DeadlineExceeded', 'The attempt ran longer than its workspace allows.', finishedAt), startedAt }
  }
  const start = { isReady: true, outcome: undefined }
  const { outcome } = end.stdout.split('\n').reduce<ReturnType<typeof readReportLine>>(readReportLine, start)
  const exit = readExit(end.exitCode, null)
  const errorTail = end.stderr.slice(-tailLength).trim()
  const judged = judgeWorkerEnd({ exit, wasReady: true, outcome, errorTail, wasOutOfMemory: false }, 0)
  if (judged.ok) return { phase: 'Succeeded', ...times }
  const { ok: _, ...failure } = judged
  return { phase: 'Failed', ...failure, ...times }
}
