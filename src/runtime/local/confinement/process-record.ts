// Records processes that no sandbox ends with the service, so that the next start can end them.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readStartTime } from '../../../lib/process-stat.ts'

const suffix = '.pid'

export async function recordProcess(folder: string, id: string, pid: number | undefined): Promise<void> {
  if (pid === undefined) return
  const startTime = await readStartTime(pid)
  if (startTime !== undefined) await writeFile(join(folder, id + suffix), JSON.stringify({ pid, startTime }))
}

export async function forgetProcess(folder: string, id: string): Promise<void> {
  await rm(join(folder, id + suffix), { force: true })
}

type ProcessRecord = { pid: number; startTime: string }

async function endRecorded(text: string): Promise<void> {
  const { pid, startTime } = JSON.parse(text) as ProcessRecord
  if ((await readStartTime(pid)) !== startTime) return
  process.kill(-pid, 'SIGKILL')
}

/** Ends the process groups that were recorded and still run. */
export async function reapProcesses(folder: string): Promise<void> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(suffix))
  for (const name of names) {
    // A record cut off by a crash, or a group that is gone: nothing to end.
    await endRecorded(await readFile(join(folder, name), 'utf8')).catch(() => undefined)
    await rm(join(folder, name), { force: true })
  }
}
