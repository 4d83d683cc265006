// A program and whatever it started, as one group.
import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'

export type ProgramExit = { code: number | null; signal: NodeJS.Signals | null; error?: Error }

export type ProgramGroup = {
  /** SIGTERM to all of it; SIGKILL after a while. */
  stop(): void
  stopSoon(ms: number): void
  /** Once nothing of it is left that could write. */
  ended: Promise<ProgramExit>
}

/** For a program that was started `detached`. */
export function createProgramGroup(child: ChildProcess, grace: number): ProgramGroup {
  const timers = new AbortController()
  let isStopping = false
  const send = (name: NodeJS.Signals) => {
    if (child.pid === undefined) return
    try {
      process.kill(-child.pid, constants.signals[name])
    } catch {
      // Nothing of it is left.
    }
  }
  const later = (ms: number, act: () => void) =>
    void wait(ms, undefined, { signal: timers.signal }).then(act, () => undefined)
  const stop = () => {
    if (isStopping) return
    isStopping = true
    send('SIGTERM')
    later(grace, () => {
      send('SIGKILL')
      // A process that left the group may hold the pipe.
      child.stdout?.destroy()
      child.stderr?.destroy()
    })
  }
  let error: Error | undefined
  child.once('error', (reason) => {
    error = reason
  })
  // What it started and left behind may hold its pipes: `close` would not come.
  child.once('exit', stop)
  const ended = new Promise<ProgramExit>((resolve) => {
    child.once('close', (code, signal) => {
      send('SIGKILL')
      timers.abort()
      resolve({ code, signal, ...(error && { error }) })
    })
  })
  return { stop, stopSoon: (ms) => later(ms, stop), ended }
}
