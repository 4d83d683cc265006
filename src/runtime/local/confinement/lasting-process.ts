// Programs in a sandbox that goes on after them, for as long as something runs that they have started.
import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { ProcessExit } from '../../attempts/end.ts'
import {
  type ConfinedLaunch,
  type ConfinedProcess,
  launchConfined,
  listChildProcesses,
  listMain,
  terminateListed,
} from './local-process.ts'

export type LastingProcess = ConfinedProcess & {
  /** The end of its program; what that has printed is read by then. Never rejects. */
  ended: Promise<ProcessExit>
}

/**
 * The main program of the sandbox, which would end with it: runs the arguments, reports their exit code, and stays. So the
 * whole sandbox still dies with the service, as the kernel sees to, and nothing has to be noted, found again or ended.
 */
const keeper = `exec 4>&2 2>/dev/null
"$@" 2>&4 3>&- 4>&-
echo $? >&3
exec sleep 2147483647 </dev/null >/dev/null 3>&- 4>&-`

const lookMs = 500
/** More than a pipe or a socket holds. */
const maxUnreadBytes = 4 * 1024 ** 2

/** Reads what was written before now, also when somebody keeps the pipe open. Each needs a listener that takes its data. */
async function readUnread(streams: readonly Readable[]): Promise<void> {
  let bytes = 0
  const count = (chunk: Buffer | string) => {
    bytes += chunk.length
  }
  for (const stream of streams) stream.on('data', count)
  // What lies in a pipe is read in the next turn of the event loop at the latest; this one may have looked already.
  for (let quiet = 0, before = 0; quiet < 2 && bytes < maxUnreadBytes; quiet = bytes === before ? quiet + 1 : 0) {
    before = bytes
    await nextTurn()
  }
  for (const stream of streams) stream.off('data', count)
}

function isClosed(stream: Readable): Promise<void> {
  return stream.closed ? Promise.resolve() : new Promise((resolve) => void stream.once('close', () => resolve()))
}

async function readReport(report: Readable | undefined): Promise<number | undefined> {
  let text = ''
  for await (const chunk of report ?? []) {
    text += chunk
    if (text.includes('\n')) break
  }
  return /^\d+\n/.test(text) ? Number.parseInt(text, 10) : undefined
}

/** Everything of it has ended, and all that it printed is read. */
async function awaitWhole({ exited, stdout, stderr }: ConfinedProcess): Promise<ProcessExit> {
  const [exit] = await Promise.all([exited, isClosed(stdout), isClosed(stderr)])
  return exit
}

/** Starts a program whose sandbox ends with it. */
export function launchBrief(launch: Omit<ConfinedLaunch, 'withReport'>): LastingProcess {
  const running = launchConfined({ ...launch, withReport: false })
  return { ...running, ended: awaitWhole(running) }
}

/** Starts a program in a sandbox that goes on for as long as something in it does, but not longer than the service. */
export function launchLasting(launch: Omit<ConfinedLaunch, 'withReport'>): LastingProcess {
  const argv = ['/bin/sh', '-c', keeper, 'keeper', ...launch.argv]
  const running = launchConfined({ ...launch, argv, withReport: true })
  const { init } = running
  const countAll = async () => listChildProcesses((await init) ?? 0).length

  async function awaitEnd(): Promise<ProcessExit> {
    const code = await readReport(running.report).catch(() => undefined)
    if (code !== undefined && (await countAll()) > 1) {
      await readUnread([running.stdout, running.stderr])
      void endWhenAlone()
      return { code, signal: null }
    }
    await running.kill()
    const exit = await awaitWhole(running)
    return code === undefined ? exit : { code, signal: null }
  }

  async function endWhenAlone(): Promise<void> {
    while ((await countAll()) > 1) await delay(lookMs, undefined, { ref: false })
    await running.kill()
  }

  const ended = awaitEnd()
  let isEnded = false
  void ended.then(() => {
    isEnded = true
  })

  /** The main program is the keeper. */
  async function terminate(): Promise<void> {
    const pid = (await init) ?? 0
    const list = () => listMain(pid).flatMap(listChildProcesses)
    await terminateListed(list, () => !isEnded)
  }

  return { ...running, ended, terminate }
}

/** Whoever still writes to it finds a reader, when this process has ended, too. */
function handOver(stream: Readable): void {
  if (stream.closed) return
  stream.pause()
  spawn('cat', [], { stdio: [stream, 'ignore', 'ignore'], detached: true })
    .on('error', () => undefined)
    .unref()
  stream.destroy()
}

/** Leaves what has outlived its main program: what that has printed is read, and the rest is of no interest. */
export async function leaveRunning({ init, exited, stdout, stderr }: ConfinedProcess): Promise<void> {
  await exited
  const pid = await init
  const streams = [stdout, stderr]
  if (pid === undefined || listChildProcesses(pid).length === 0) await Promise.all(streams.map(isClosed))
  else await readUnread(streams)
  for (const stream of streams) handOver(stream)
}
