// Whether what is written stays: the files under the open database are still the ones at its path, and writes succeed.
import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { SvcError } from '../../errors.ts'

export type WriteHealth = {
  /** Unavailable when the file was removed or replaced: SQLite would go on and write into a file that nobody finds again. */
  verify(): void
  /** What became of the last write: undefined for success. */
  note(error: unknown): void
  /** Rejects while writes fail; `probe` writes something small, when the last write was a failure or long ago. */
  check(probe: () => Promise<unknown>): Promise<void>
}

/** Whoever asks more often than this gets the result of the last write. */
const probeIntervalMs = 5000
/** Below this the next larger write fails, though a small one may still find a place in the log. */
const minFreeBytes = 512 * 1024

/** Undefined: there is no such file. */
function identify(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}

function explainLoss(path: string): SvcError {
  const advice = 'put it back, or stop the service, restore a backup into its data folder and start it again'
  return new SvcError('Unavailable', `The database ${path} was removed or replaced: nothing is stored now; ${advice}.`)
}

function requireRoom(path: string): void {
  const { bavail, bsize } = statfsSync(dirname(path))
  if (bavail * bsize < minFreeBytes) throw new SvcError('StorageFull', `The disk of ${path} is full: free some space.`)
}

/** For the database that is open at `path`; `now` in milliseconds. */
export function createWriteHealth(path: string, now: () => number = () => performance.now()): WriteHealth {
  const log = `${path}-wal`
  const opened = identify(path)
  // It is made with the first transaction, and stays as long as a connection is open.
  let openedLog = identify(log)
  let failure: unknown
  let writtenAt = Number.NEGATIVE_INFINITY
  const verify = () => {
    if (identify(path) !== opened) throw explainLoss(path)
    const current = identify(log)
    openedLog ??= current
    if (current !== openedLog) throw explainLoss(log)
  }
  return {
    verify,
    note(error) {
      failure = error
      writtenAt = now()
    },
    async check(probe) {
      verify()
      requireRoom(path)
      if (failure !== undefined || now() - writtenAt > probeIntervalMs) await probe()
    },
  }
}
