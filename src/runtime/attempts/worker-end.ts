// What the end of a worker process means for its attempt, and what it reports on file descriptor 3: JSON lines, the
// last one its outcome.
import { readRunFailure } from '../../contract/kinds/tasks/failures.ts'
import { isJsonObject, tryParseJson } from '../../lib/json.ts'
import { type AttemptEnd, describeMemory, describeProcessEnd, isSandboxFailure, type ProcessExit } from './end.ts'

export type WorkerEnd = {
  exit: ProcessExit
  /** It reported that it was ready for work. */
  wasReady: boolean
  outcome: WorkerOutcome | undefined
  /** Its supervisor stopped it once its outcome had arrived. */
  endedHere?: boolean
  /** The last part of stderr. */
  errorTail: string
  wasOutOfMemory: boolean
  /** From `Workspace.explainFull`. */
  outOfDisk?: string | undefined
}

/** An end that the worker itself announced: by its outcome, or with it by exit code 0 or 1. */
function readAnnouncedEnd({ exit, outcome, endedHere = false }: WorkerEnd): AttemptEnd | undefined {
  if (!endedHere && exit.code !== 0 && exit.code !== 1) return undefined
  if (outcome?.ok === false) {
    const message = outcome.message ?? outcome.reason ?? 'The worker gave no reason.'
    // A worker is not trusted: an unknown reason is ignored.
    const cause = readRunFailure(outcome.reason)
    return { ok: false, reason: 'ExitCode', ...(cause && { cause }), message, exitCode: 1 }
  }
  return endedHere || exit.code === 0 ? { ok: true } : undefined
}

/** The line of a stack trace that says what is wrong, else the last line. */
export function pickErrorLine(errorTail: string): string {
  const lines = errorTail.split('\n')
  return (lines.find((line) => /^(\w*Error|bwrap)\b/.test(line)) ?? lines.at(-1) ?? '').slice(0, 500)
}

/** The message of a worker that ended before it was ready for work. */
function readStartFailure({ exit, errorTail, wasReady }: WorkerEnd): string | undefined {
  const neverBegan = !wasReady && exit.signal === null
  if (!neverBegan && !isSandboxFailure(exit, errorTail)) return undefined
  return exit.startError ?? (errorTail === '' ? `exit code ${exit.code}` : pickErrorLine(errorTail))
}

/** The memory of a worker is that of the program that it runs, which the kernel kills first. */
function readProgramMemory({ exit, outcome, wasOutOfMemory }: WorkerEnd, memoryBytes: number): AttemptEnd | undefined {
  if (!wasOutOfMemory || outcome?.reason !== 'AgentKilled') return undefined
  const outOfMemory = describeMemory(memoryBytes)
  return describeProcessEnd({ exit, what: 'The program of the agent', errorTail: '', outOfMemory })
}

/** What a worker's end means for its attempt. */
export function judgeWorkerEnd(end: WorkerEnd, memoryBytes: number): AttemptEnd {
  const hungry = readProgramMemory(end, memoryBytes)
  if (hungry !== undefined) return hungry
  const announced = readAnnouncedEnd(end)
  if (announced !== undefined) return announced
  const failure = readStartFailure(end)
  if (failure !== undefined) {
    return { ok: false, reason: 'StartFailed', message: `The worker could not be started: ${failure}` }
  }
  const outOfMemory = end.wasOutOfMemory ? describeMemory(memoryBytes) : undefined
  const { exit, errorTail, outOfDisk } = end
  return describeProcessEnd({ exit, what: 'The worker', errorTail, outOfMemory, outOfDisk })
}

/**
 * The protocol of the worker program:
 * - it starts idle, without an assignment; once it is ready for one it writes `{"ready":true}` on descriptor 3;
 * - one line of JSON, the WorkAssignment, arrives on stdin, which then stays open: its end means that the service has died
 *   or released the worker, and the worker exits at once;
 * - stdout and stderr are log lines of the task;
 * - it ends with a WorkerOutcome on descriptor 3 and exit code 0 (its result is submitted) or 1 (failed, the reason is
 *   submitted). Anything else is a crash.
 */
type WorkerOutcome = { ok: boolean; reason?: string; message?: string }

export type WorkerReport = { isReady: boolean; outcome: WorkerOutcome | undefined }

function readText(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, 4096) : undefined
}

function readOutcome(value: Record<string, unknown>): WorkerOutcome | undefined {
  if (typeof value.ok !== 'boolean') return undefined
  const reason = readText(value.reason)
  const message = readText(value.message)
  return { ok: value.ok, reason, message }
}

/** Adds one line to the report. A worker is not trusted: other lines are ignored. */
export function readReportLine(report: WorkerReport, line: string): WorkerReport {
  const value = tryParseJson(line)
  if (!isJsonObject(value)) return report
  return { isReady: report.isReady || value.ready === true, outcome: readOutcome(value) ?? report.outcome }
}
