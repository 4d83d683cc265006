// The logs of scanners that are read at the moment: few at once, since each is held whole, and read in a thread.
import { createFairSemaphore } from '../../lib/fair-semaphore.ts'
import { ThreadLimitError, ThreadPool } from '../../lib/thread-pool.ts'
import { type ReadLog, type SarifRequest, sarifModule } from './sarif-thread.ts'

/** Bodies that are received or wait for the thread; somebody who sends slowly does not hold the thread. */
const maxUploads = 3
const uploads = createFairSemaphore(maxUploads)

const threads = new ThreadPool<SarifRequest, ReadLog>(sarifModule, {
  threads: 1,
  timeoutMs: 60_000,
  memoryMegabytes: 512,
})

export type LogUpload = {
  root?: string | undefined
  /** Called once there is room for the body. */
  read(): Promise<Uint8Array>
  /** Of the request: what nobody waits for is not read. */
  signal: AbortSignal
}

/** `holder`: whose it is; holders take turns. Rejects when the signal aborts. */
export async function readLog(holder: string, { root, read, signal }: LogUpload): Promise<ReadLog> {
  await uploads.acquire(holder, signal)
  try {
    return await threads.ask({ source: await read(), root }, { holder, signal })
  } catch (error) {
    if (!(error instanceof ThreadLimitError)) throw error
    return { fault: `reading it is too much work: ${error.message}; import it in parts` }
  } finally {
    uploads.release(holder)
  }
}
