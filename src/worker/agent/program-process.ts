// The process of an agent program: the program and whatever it started as one group, and its output cut into lines.
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { setTimeout as wait } from 'node:timers/promises'
import type { ProgramExit, RunningProgram } from '../../ports/workspaces/sandbox.ts'

export type ProgramGroup = {
  /** SIGTERM to the program; SIGKILL to all of it after a while. */
  stop(): void
  stopSoon(ms: number): void
  /** Once nothing of it is left that could write, but for what may go on. */
  ended: Promise<ProgramExit>
}

function awaitClose(stream: Readable): Promise<void> {
  return stream.closed ? Promise.resolve() : new Promise((resolve) => void stream.once('close', resolve))
}

export function createProgramGroup(program: RunningProgram, grace: number): ProgramGroup {
  const { stdout, stderr } = program
  const timers = new AbortController()
  let isStopping = false
  const later = (ms: number, act: () => void) =>
    void wait(ms, undefined, { signal: timers.signal }).then(act, () => undefined)
  const stop = () => {
    if (isStopping) return
    isStopping = true
    void program.terminate()
    later(grace, () => {
      void program.kill()
      // A process that left the group may hold the pipe.
      stdout.destroy()
      stderr.destroy()
    })
  }
  async function endRest(): Promise<void> {
    // What it started and left behind may hold its pipes: they would not close.
    stop()
    await Promise.all([awaitClose(stdout), awaitClose(stderr)])
    await program.kill()
  }

  async function awaitEnd(): Promise<ProgramExit> {
    const exit = await program.exited
    await (program.leave ?? endRest)()
    timers.abort()
    return exit
  }

  const ended = awaitEnd()
  return { stop, stopSoon: (ms) => later(ms, stop), ended }
}

type LineCutter = { push(chunk: Buffer): string[]; end(): string[] }

/** A line longer than `longest` is left out as a whole: cut, it would say something else. */
export function createLineCutter(maxLength: number): LineCutter {
  const decoder = new StringDecoder('utf8')
  let parts: string[] = []
  let length = 0
  const add = (part: string) => {
    length += part.length
    if (length > maxLength) parts = []
    else parts.push(part)
  }
  const finish = () => {
    const line = length > maxLength ? '' : parts.join('')
    parts = []
    length = 0
    return line
  }
  return {
    push(chunk) {
      const [first = '', ...rest] = decoder.write(chunk).split('\n')
      const lines: string[] = []
      add(first)
      for (const part of rest) {
        lines.push(finish())
        add(part)
      }
      return lines.filter((line) => line !== '')
    },
    end() {
      add(decoder.end())
      return [finish()].filter((line) => line !== '')
    },
  }
}
