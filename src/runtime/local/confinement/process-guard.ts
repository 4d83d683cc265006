// A small process beside the service that ends its sandboxes when the service is gone, however it went. To die with its parent is
// not enough for bubblewrap: one that is killed while it sets a sandbox up leaves the half of itself that becomes the init in
// there. That half waits for the other for ever, or goes on, leaves the group for a session of its own and runs the program. One
// that the service was just starting may show its mark a moment later, so they are looked for twice.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'

type Leader = { pid?: number | undefined }

export type ProcessGuard = {
  /**
   * The environment of a bubblewrap that is about to be started: both of its halves are known by it wherever they go, before the
   * group is. The program inside never sees it.
   */
  prepare(): Record<string, string>
  /** From now on the group of this leader ends with the service. */
  watch(leader: Leader): void
  /** Nothing is left of it. */
  forget(leader: Leader): void
}

// Signals for the service, such as those of a terminal, are not for it: it goes when its input ends.
const program = `trap '' HUP INT TERM
mark=$1
end_marked() {
  for file in $(grep -sl "$mark" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -KILL "\${pid%/environ}"
  done
}
groups=' '
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) groups="\${groups%% $group *} \${groups#* $group }" ;;
  esac
done
for group in $groups; do kill -KILL "-$group"; done
end_marked
sleep 1
end_marked`

/** Starts its process before the first bubblewrap, and again should somebody end it. */
export function createProcessGuard(): ProcessGuard {
  const leaders = new Set<number>()
  const mark = randomUUID()
  let running: ChildProcess | undefined

  function start(): ChildProcess {
    const options = { env: {}, cwd: '/', detached: true }
    const child = spawn('/bin/sh', ['-c', program, 'svc-guard', mark], {
      ...options,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    child.once('exit', () => {
      if (running === child) running = undefined
    })
    // One that cannot be started, or has just gone, guards nothing; what bubblewrap does by itself still holds.
    for (const part of [child, child.stdin]) part?.on('error', () => undefined)
    child.unref()
    const input = child.stdin as Socket | null
    input?.unref()
    for (const leader of leaders) input?.write(`+ ${leader}\n`)
    return child
  }

  return {
    prepare() {
      running ??= start()
      return { SVC_GUARD: mark }
    },
    watch({ pid }) {
      if (pid === undefined) return
      running ??= start()
      leaders.add(pid)
      running.stdin?.write(`+ ${pid}\n`)
    },
    forget({ pid = 0 }) {
      if (leaders.delete(pid)) running?.stdin?.write(`- ${pid}\n`)
    },
  }
}
