// What the end of a worker process means for its attempt.
import { readRunFailure } from '../../contract/kinds/tasks/failures.ts'
import { type AttemptEnd, describeEnd, describeMemory } from './end.ts'
import { isSandboxFailure, type ProcessExit } from './exit.ts'
import type { WorkerOutcome } from './worker-report.ts'

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
function pickErrorLine(errorTail: string): string {
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
  return describeEnd({ exit, what: 'The program of the agent', errorTail: '', outOfMemory })
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
  return describeEnd({ exit, what: 'The worker', errorTail, outOfMemory, outOfDisk })
}
