// Records processes that no sandbox ends with the service, so that the next start can end them.
import { execFile } from 'node:child_process'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const suffix = '.pid'

/** Fields of proc_pid_stat(5) from field 3 on: the name in parentheses before them may contain anything. */
async function readStat(pid: number): Promise<string[] | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** Whether a process has ended and only waits to be reaped: it no longer runs and holds nothing. */
export async function isUnreaped(pid: number): Promise<boolean> {
  const [state = ''] = (await readStat(pid)) ?? []
  return state === 'Z' || state === 'X'
}

/** When the process started, as the system reports it: with it a reused pid is never taken for another process. */
export async function readStartTime(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    // starttime, field 22.
    return (await readStat(pid))?.[19]
  }
  return new Promise((resolve) => {
    execFile('ps', ['-o', 'lstart=', '-p', String(pid)], (error, stdout) => {
      resolve(error === null && stdout.trim() !== '' ? stdout.trim() : undefined)
    })
  })
}

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
