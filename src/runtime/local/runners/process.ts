// The process of a runner: confined as a worker is, but it starts nothing, and sees the folders of all its attempts.
import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { type RunnerSetup, stepFile } from '../../../contract/api/tasks/runners.ts'
import { createLineFeed, feedLines } from '../../../lib/line-reader.ts'
import { removeTree } from '../../../lib/tree-removal.ts'
import type { ProcessExit } from '../../attempts/end.ts'
import { makeWorkFolder } from '../../folders/work-folder.ts'
import type { LocalProcess } from '../confinement/local-process.ts'
import { forgetProcess, recordProcess } from '../confinement/process-record.ts'
import { attemptsInside, startWorkerProgram, type WorkerLauncherOptions } from '../workers/worker-launcher.ts'

export type RunnerEnd = {
  exit: ProcessExit
  wasOutOfMemory: boolean
  /** The last part of what it printed. */
  tail: string
  /** Name of the attempt whose step began last; empty when none did. */
  lastStep: string
}

export type RunnerProcess = {
  pid: number | undefined
  /** On this machine; removed by whoever launched it. */
  folder: string
  /** Resolves when nothing of it is left but its folder; never rejects. */
  ended: Promise<RunnerEnd>
  /** It ends by itself, with all its attempts. */
  release(): void
  kill(): Promise<void>
}

export type RunnerLaunch = Omit<RunnerSetup, 'root'> & {
  name: string
  memoryBytes: number
}

const tailLength = 4096

/** Nothing but a runner's own folder is trusted to it, so neither is what it says there. */
function readLastStep(folder: string): string {
  const bytes = Buffer.alloc(stepFile.length)
  try {
    const file = openSync(join(folder, stepFile.name), 'r')
    try {
      return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, 0)).trim()
    } finally {
      closeSync(file)
    }
  } catch {
    return ''
  }
}

function gatherTail(running: LocalProcess): { read(): string; drained: Promise<unknown> } {
  let tail = ''
  const take = (lines: string[]) => {
    tail = `${tail}${lines.join('\n')}\n`.slice(-tailLength)
  }
  const drained = Promise.all([running.stdout, running.stderr].map((from) => feedLines(from, createLineFeed(take))))
  return { read: () => tail.trim(), drained }
}

export async function launchRunner(options: WorkerLauncherOptions, launch: RunnerLaunch): Promise<RunnerProcess> {
  const { name, memoryBytes, ...setup } = launch
  const folder = await makeWorkFolder(options.workFolder, name)
  const group = await options.groups.create(name)
  const forget = async () => {
    await group?.remove()
    await forgetProcess(options.workFolder, name)
  }
  try {
    await group?.setLimits({ memoryBytes, processes: options.processes })
    const running = startWorkerProgram(options, { folder, group, sharesProcess: true }, memoryBytes)
    const tail = gatherTail(running)
    if (options.bubblewrap === undefined) await recordProcess(options.workFolder, name, running.pid)
    const root = options.bubblewrap === undefined ? folder : attemptsInside
    running.stdin?.write(`${JSON.stringify({ ...setup, root } satisfies RunnerSetup)}\n`)
    const ended = running.exited.then(async (exit): Promise<RunnerEnd> => {
      const kills = (await group?.readEvents())?.memoryKills ?? 0
      await tail.drained.catch(() => undefined)
      await forget().catch(() => undefined)
      const wasOutOfMemory = kills > 0 || /heap out of memory/.test(tail.read())
      return { exit, wasOutOfMemory, tail: tail.read(), lastStep: readLastStep(folder) }
    })
    return { pid: running.pid, folder, ended, release: () => running.stdin?.end(), kill: running.kill }
  } catch (error) {
    await forget()
    await removeTree(folder)
    throw error
  }
}
