// Asks a service of this process for its health all the time, from a thread of its own, over a socket.
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

const everyMs = 20

export type HealthTimes = { asked: number; p99Ms: number; latestMs: number }

function summarize(times: number[]): HealthTimes {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number) => Math.round(sorted[Math.ceil(sorted.length * part) - 1] ?? 0)
  return { asked: sorted.length, p99Ms: at(0.99), latestMs: at(1) }
}

/** `stop` resolves with how long the answers took. */
export async function watchHealth(url: string): Promise<{ stop(): Promise<HealthTimes> }> {
  const thread = new Worker(new URL(import.meta.url), { workerData: url })
  await once(thread, 'message')
  return {
    async stop() {
      thread.postMessage('stop')
      const [times] = await once(thread, 'message')
      return summarize(times as number[])
    },
  }
}

async function askHealth(url: string): Promise<void> {
  const stopping = new AbortController()
  parentPort?.once('message', () => stopping.abort())
  const times: number[] = []
  const ask = async () => {
    const begun = performance.now()
    await (await fetch(`${url}/healthz`)).text()
    return performance.now() - begun
  }
  // The first one opens the connection.
  await ask()
  parentPort?.postMessage('asks')
  while (!stopping.signal.aborted) {
    times.push(await ask())
    await pause(everyMs)
  }
  parentPort?.postMessage(times)
}

if (!isMainThread && typeof workerData === 'string') await askHealth(workerData)
