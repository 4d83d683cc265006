// What the system says of a process. One that ends meanwhile is no fault: there is nothing to say of it any more.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'

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
