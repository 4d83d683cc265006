// Starts an untrusted program that is spoken to while it runs, apart from whoever starts it.
import type { Readable, Writable } from 'node:stream'

export type ProgramStart = {
  /** The program, as an absolute path, and its arguments. */
  argv: string[]
  /** Absolute path, where it begins. */
  folder: string
  /** Absolute path. It writes only here, in `folder`, and in a /tmp that ends with it. */
  home: string
  /** All of its environment. */
  env: Record<string, string>
}

export type ProgramExit = {
  code: number | null
  signal: string | null
  /** It never ran. */
  startError?: string
}

export type RunningProgram = {
  stdin: Writable | undefined
  stdout: Readable
  stderr: Readable
  /** Resolves when nothing of it is left that could be ended, but for what may be left; never rejects. */
  exited: Promise<ProgramExit>
  /** SIGTERM to the program. */
  terminate(): Promise<void>
  /** SIGKILL to all of it. */
  kill(): Promise<void>
  /**
   * Where what it leaves running may go on: waits for its end, reads what it has printed, and lets go of the rest.
   * Absent: the rest is ended.
   */
  leave?(): Promise<void>
}

export interface Programs {
  /**
   * Why programs share the processes of their starter: then they can read its memory, and end it. Undefined: they
   * neither see nor reach it. Cached.
   */
  findWeakness(): Promise<string | undefined>
  /** A program that cannot be started ends with `startError`. */
  start(program: ProgramStart): Promise<RunningProgram>
}
