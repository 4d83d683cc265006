// One worker process: started without work, given one assignment over a pipe, observed to its end.
import type { WorkAssignment } from '../../../contract/api/tasks/assignment.ts'
import { createLineFeed, feedLines, forgive, type TakeOutput } from '../../../lib/line-reader.ts'
import { readReportLine, type WorkerEnd, type WorkerReport } from '../../attempts/worker-end.ts'
import type { AttemptWorkspace } from '../../folders/workspaces.ts'
import type { ControlGroup } from '../confinement/control-group.ts'
import type { LocalProcess } from '../confinement/local-process.ts'

export type WorkerProcess = {
  id: string
  pid: number | undefined
  /** Its own folder, seen inside as /workspace. */
  folder: string
  /**
   * Gives it its one assignment; from then on its output goes to `sink`. `keep` is called when nothing of it runs any
   * more, before its folder is removed.
   */
  assign(assignment: WorkAssignment, sink: TakeOutput, keep?: KeepFolder): void
  limit(limits: { memoryBytes?: number; cpu?: number }): Promise<void>
  /** Resolves when no process of it is left and all its output is read; never rejects. */
  ended: Promise<WorkerEnd>
  /** Resolves after that, when its folder and control group are gone as well; never rejects. */
  released: Promise<void>
  /** Resolves when it is ready or has ended. */
  settled: Promise<void>
  terminate(): Promise<void>
  kill(): Promise<void>
}

export type KeepFolder = (end: WorkerEnd) => Promise<void>

export type WorkerParts = {
  id: string
  workspace: Pick<AttemptWorkspace, 'folder' | 'guard' | 'explainFull'>
  running: LocalProcess
  group: ControlGroup | undefined
  /** Removes folder and control group, once the process has ended. */
  release: () => Promise<void>
}

const errorTailLength = 4096

type WorkerStreams = {
  sink: TakeOutput | undefined
  keep: KeepFolder | undefined
  errorTail: string
  report: WorkerReport
  endedHere: boolean
}

function watchStreams(running: LocalProcess, streams: WorkerStreams, markReady: () => void): Promise<unknown> {
  const takeReport = (lines: string[]) => {
    for (const line of lines) streams.report = readReportLine(streams.report, line)
    if (streams.report.isReady) markReady()
    // The outcome is the worker's last message, sent once everything is submitted: exiting by itself takes 50 ms more.
    if (streams.report.outcome !== undefined) {
      streams.endedHere = true
      void running.kill()
    }
  }
  const takeErrors = (lines: string[]) => {
    streams.errorTail = `${streams.errorTail}${lines.join('\n')}\n`.slice(-errorTailLength)
    return streams.sink?.(lines, 'stderr')
  }
  return Promise.all([
    feedLines(running.stdout, createLineFeed(forgive((lines) => streams.sink?.(lines, 'stdout')))),
    feedLines(running.stderr, createLineFeed(forgive(takeErrors))),
    running.report === undefined ? undefined : feedLines(running.report, createLineFeed(takeReport)),
  ])
}

async function awaitEnd(parts: WorkerParts, streams: WorkerStreams, drained: Promise<unknown>): Promise<WorkerEnd> {
  const exit = await parts.running.exited
  const events = await parts.group?.readEvents()
  const outOfDisk = await parts.workspace.explainFull()
  // Programs that it left running hold its pipes open, and may write in the folder.
  if (streams.keep !== undefined) await parts.group?.remove().catch(() => undefined)
  await drained
  const wasOutOfMemory = (events?.memoryKills ?? 0) > 0 || /JavaScript heap out of memory/.test(streams.errorTail)
  const end = {
    exit,
    wasReady: streams.report.isReady,
    outcome: streams.report.outcome,
    endedHere: streams.endedHere,
    errorTail: streams.errorTail.trim(),
    wasOutOfMemory: exit.code !== 0 && wasOutOfMemory,
    outOfDisk,
  }
  await streams.keep?.(end)
  return end
}

export function superviseWorker(parts: WorkerParts): WorkerProcess {
  const { running, group } = parts
  const streams: WorkerStreams = {
    sink: undefined,
    keep: undefined,
    errorTail: '',
    report: { isReady: false, outcome: undefined },
    endedHere: false,
  }
  const ready = Promise.withResolvers<void>()
  const ended = awaitEnd(parts, streams, watchStreams(running, streams, ready.resolve))
  // Nobody who waits for the outcome waits for this.
  const released = ended.then(parts.release).catch(() => undefined)
  return {
    id: parts.id,
    pid: running.pid,
    folder: parts.workspace.folder,
    assign: (assignment, sink, keep) => {
      streams.sink = sink
      streams.keep = keep
      parts.workspace.guard(() => void running.kill())
      running.stdin?.write(`${JSON.stringify(assignment)}\n`)
    },
    limit: async (limits) => group?.setLimits(limits),
    ended,
    released,
    settled: Promise.race([ready.promise, ended.then(() => undefined)]),
    terminate: running.terminate,
    kill: running.kill,
  }
}
