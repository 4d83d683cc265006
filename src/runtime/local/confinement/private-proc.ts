// A /proc that hides the processes of other user namespaces: each sandbox inside a sandbox sees only its own.
import { readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { systemTools } from '../../host/tool-shell.ts'

const lookMs = 2
const longestMs = 2000

/** The options of this process's /proc: the last field of its line in proc_pid_mountinfo(5), whose field 5 is the mount point. */
function readProcOptions(): string {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
  return (
    lines
      .map((line) => line.split(' '))
      .findLast((fields) => fields[4] === '/proc')
      ?.at(-1) ?? ''
  )
}

/** Whether a sandbox that is started now, and shares this /proc, sees only its own processes. */
export function hidesProcesses(): boolean {
  return /\bhidepid=(4|ptraceable)\b/.test(readProcOptions())
}

/** Waits until the sandbox has its own file system: before that, /proc is the machine's. */
async function waitForOwnProc(pid: number): Promise<boolean> {
  const { dev: machines } = await stat('/proc')
  for (const since = performance.now(); performance.now() - since < longestMs; await delay(lookMs)) {
    const device = (await stat(`/proc/${pid}/root/proc`).catch(() => undefined))?.dev
    if (device !== undefined && device !== machines) return true
  }
  return false
}

/** Only root may change how a sandbox's /proc is mounted, and only root's sandboxes cannot mount one inside. */
export const canHideProcesses = process.platform === 'linux' && process.getuid?.() === 0

/**
 * Call it while the sandbox waits to start its program. Does nothing where this is not possible: the kernel is older
 * than Linux 5.8, or the service lacks CAP_SYS_ADMIN.
 */
export async function hideProcesses(pid: number | undefined): Promise<void> {
  try {
    if (pid === undefined || !(await waitForOwnProc(pid))) return
    const options = 'remount,nosuid,nodev,noexec,hidepid=ptraceable'
    const mount = ['mount', '-t', 'proc', '-o', options, 'proc', '/proc']
    await systemTools.run('nsenter', [`--mount=/proc/${pid}/ns/mnt`, ...mount])
  } catch {
    // The known processes are covered instead.
  }
}
