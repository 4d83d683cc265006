// The worker: runs one attempt of one task, inside a sandbox, and ends.
import { startWorker } from './compose/worker.ts'

process.exit(await startWorker())
