// The note a running service leaves for the command line: where it listens and its token, for this user's eyes only.
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

export type ServiceNote = {
  url: string
  token: string
  pid: number
  /** Of the program that serves. */
  version?: string
  /** Absent: a person, in a terminal. */
  startedBy?: Starter
}

/** A command that needed a service, or the system at login. */
export type Starter = 'command' | 'system'

/** Tells a service who starts it. */
export const startedByVariable = 'SVC_STARTED_BY'

export function readStarter(value: string | undefined): Starter | undefined {
  return value === 'command' || value === 'system' ? value : undefined
}

/** Writes the file whole or not at all, mode 0600. */
export function writePrivateFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const partial = `${path}.${process.pid}.partial`
  writeFileSync(partial, text, { mode: 0o600 })
  chmodSync(partial, 0o600)
  renameSync(partial, path)
}

export function readServiceNote(path: string): ServiceNote | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as ServiceNote
  } catch {
    return undefined
  }
}

/** Removes the note unless another process has written its own since. */
export function removeServiceNote(path: string, pid: number): void {
  if (readServiceNote(path)?.pid === pid) rmSync(path, { force: true })
}
