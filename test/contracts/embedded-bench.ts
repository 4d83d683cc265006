// What the suites of the embedded adapters share: real time, ids, folders, waiting, looking for processes.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ids } from '../../src/lib/clock.ts'

let count = 0
export const testIds: Ids = {
  next: (prefix = 'id') => `${prefix}-${process.pid}-${count++}`,
  hex: (length) => (count++).toString(16).padStart(length, '0'),
  random: () => 0.5,
}

export function makeFolder(name: string): string {
  return mkdtempSync(join(tmpdir(), `svc-${name}-`))
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
}

/** Processes of this machine whose command line has the text. */
export function findProcesses(text: string): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  return pids.filter((pid) => {
    try {
      return pid !== process.pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text)
    } catch {
      return false
    }
  })
}
