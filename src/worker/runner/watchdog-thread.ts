// The thread of a runner that renews its lease, whatever its attempts do: it says how the event loop is, and ends the process when
// the lease is over.
import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import { createApiClient } from '../../client/client.ts'
import { type AttemptRef, type RunnerRenewal, renewRunner } from '../../contract/api/tasks/runners.ts'
import { isSvcError } from '../../errors.ts'

/** What the thread is started with. */
export const watchdogModule = import.meta.url

export type WatchdogSetup = { module: string; url: string; token: string; id: string; leaseMs: number; renewMs: number }

/** How the runner is, as its event loop tells it. */
export type RunnerFacts = Omit<RunnerRenewal, 'lagMs' | 'rssBytes'>

/** How often the event loop tells it. */
export const factsMs = 1000

/** Sent to the runner: attempts that count no longer. */
export type DropMessage = { drop: AttemptRef[] }

/** One that cannot open files takes nothing more: what an attempt does without any is luck. */
function measureProcess(slots: number): Pick<RunnerRenewal, 'slots' | 'rssBytes'> {
  try {
    return { slots, rssBytes: process.memoryUsage.rss() }
  } catch {
    return { slots: 0, rssBytes: 0 }
  }
}

function start({ url, token, id, leaseMs, renewMs }: WatchdogSetup): void {
  const client = createApiClient({ url, token })
  let facts: RunnerFacts | undefined
  let heardAt = performance.now()
  /** Of the last renewal that was accepted. */
  let sentAt = performance.now()
  parentPort?.on('message', (latest: RunnerFacts) => {
    const isFirst = facts === undefined
    facts = latest
    heardAt = performance.now()
    if (isFirst) void renew()
  })
  const end = (): never => process.exit(1)

  async function renew(): Promise<void> {
    if (facts === undefined) return
    const now = performance.now()
    const lagMs = Math.max(0, Math.round(now - heardAt - factsMs))
    try {
      const body = { ...facts, lagMs, ...measureProcess(facts.slots) }
      const { drop } = await client.call(renewRunner, { params: { id }, body, signal: AbortSignal.timeout(renewMs) })
      sentAt = now
      if (drop.length > 0) parentPort?.postMessage({ drop } satisfies DropMessage)
    } catch (error) {
      // Everything else may pass before the lease does.
      if (isSvcError(error, 'NotFound') || isSvcError(error, 'Unauthenticated')) end()
    }
  }

  setInterval(() => void renew(), renewMs)
  setInterval(() => {
    if (performance.now() - sentAt > leaseMs) end()
  }, factsMs)
}

if (!isMainThread && workerData?.module === watchdogModule) start(workerData)
