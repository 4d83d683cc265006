// Makes commits in the write-ahead log durable, off the event loop. SQLite does it on the thread that commits with
// `synchronous = full`, and there everybody waits for the disk (https://sqlite.org/pragma.html#pragma_synchronous).
import { type FileHandle, open } from 'node:fs/promises'
import { SvcError } from '../../errors.ts'

export type LogSync = {
  /**
   * Makes everything durable that is in the log now. Unavailable once that has failed, until the database is opened again: the system forgets what
   * it could not write, and a later success would say nothing of it.
   */
  sync(): Promise<void>
  close(): Promise<void>
}

type LogSyncOptions = { path: string; syncFile?: ((file: FileHandle) => Promise<void>) | undefined }

function explain(path: string, cause: unknown): SvcError {
  const advice = "see the machine's log, and start the service again when its disk can be written"
  return new SvcError('Unavailable', `The database ${path} could not be made durable: ${advice}.`, { cause })
}

/** For the database that is open at `path`: its log stays the same file until it is closed. */
export function createLogSync({ path, syncFile = (file) => file.datasync() }: LogSyncOptions): LogSync {
  let log: Promise<FileHandle> | undefined
  let failure: SvcError | undefined
  return {
    async sync() {
      if (failure !== undefined) throw failure
      try {
        log ??= open(`${path}-wal`)
        await syncFile(await log)
      } catch (error) {
        failure = explain(path, error)
        throw failure
      }
    },
    close: async () => void (await (await log?.catch(() => undefined))?.close()),
  }
}
