// Composes the worker program, inside a task's sandbox.
import { createWriteStream } from 'node:fs'
import { systemClock, systemIds } from '../adapters/system/clock.ts'
import { runWorker } from '../worker/run-worker.ts'

/** Descriptor on which the worker tells its service how it goes. */
const reportDescriptor = 3

export async function startWorker(): Promise<number> {
  const stop = new AbortController()
  process.once('SIGTERM', () => stop.abort())
  return runWorker({
    stdin: process.stdin,
    report: createWriteStream('', { fd: reportDescriptor }),
    stderr: process.stderr,
    stop: stop.signal,
    load: loadDeps,
  })
}

async function loadDeps() {
  const [{ createEgress }, { createSandbox }] = await Promise.all([
    import('../egress/egress.ts'),
    import('../adapters/embedded/sandbox/sandbox.ts'),
  ])
  return {
    egress: createEgress(),
    sandbox: createSandbox({ ids: systemIds }),
    clock: systemClock,
    ids: systemIds,
    workspaceRoot: process.cwd(),
  }
}
