// A /proc that hides the processes of other user namespaces: each sandbox inside a sandbox sees only its own.
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { systemTools } from '../../system/tool-shell.ts'

const lookMs = 2
const longestMs = 2000

/**
 * The line of proc_pid_mountinfo(5) for /proc: field 3 is the device, field 5 the mount point, the last one the
 * options.
 */
function readProcMount(pid: number | 'self'): string[] | undefined {
  const lines = readFileSync(`/proc/${pid}/mountinfo`, 'utf8').split('\n')
  return lines.map((line) => line.split(' ')).findLast((fields) => fields[4] === '/proc')
}

/** Whether a sandbox that is started now, and shares this /proc, sees only its own processes. */
export function hidesProcesses(): boolean {
  return /\bhidepid=(4|ptraceable)\b/.test(readProcMount('self')?.at(-1) ?? '')
}

/** Waits until the sandbox has its own file system: before that, /proc is the machine's. */
async function waitForOwnProc(pid: number): Promise<boolean> {
  const machines = readProcMount('self')?.[2]
  for (const since = performance.now(); performance.now() - since < longestMs; await delay(lookMs)) {
    const device = readProcMount(pid)?.[2]
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
