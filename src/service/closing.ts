// Stops things in the reverse of the order in which they were started. Each is stopped once, even when others fail.
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/load.ts'
import { parseDuration } from '../contract/values/duration.ts'
import { monotonicMs } from '../lib/clock.ts'
import type { Ports } from '../ports/index.ts'

const checkIntervalMs = 1000

/** The signal aborts when, for `--idle-exit`, there was no request and no task was running, pending or scheduled. */
export function watchIdleness(config: Config, parts: { server: FastifyInstance; ports: Ports }): AbortSignal {
  const idle = new AbortController()
  if (config.idleExit === undefined) return idle.signal
  const limit = parseDuration(config.idleExit)
  const now = () => monotonicMs(parts.ports.clock)
  let lastActivity = now()
  let openRequests = 0
  parts.server.server.on('request', (_request, response) => {
    openRequests += 1
    response.once('close', () => {
      openRequests -= 1
      lastActivity = now()
    })
  })
  const timer = setInterval(() => void check(), Math.min(limit, checkIntervalMs))
  timer.unref()
  async function check(): Promise<void> {
    if (openRequests > 0 || now() - lastActivity < limit) return
    if (await hasWork(parts.ports)) {
      lastActivity = now()
      return
    }
    clearInterval(timer)
    idle.abort()
  }
  return idle.signal
}

async function hasWork({ resources }: Ports): Promise<boolean> {
  for (const phase of ['Running', 'Pending', 'Scheduled']) {
    const page = await resources.list('Task', { fields: { phase }, limit: 1 })
    if (page.items.length > 0) return true
  }
  return false
}

export type Closing = {
  /** Adds a step, which runs after all steps that are added later. */
  add(close: () => Promise<unknown> | unknown): void
  /** Runs every step, then rejects with the first failure if there was one. */
  run(): Promise<void>
}

export function createClosing(): Closing {
  const steps: (() => Promise<unknown> | unknown)[] = []
  return {
    add: (close) => void steps.push(close),
    async run() {
      const failures: unknown[] = []
      for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
        try {
          await step()
        } catch (error) {
          failures.push(error)
        }
      }
      if (failures.length > 0) throw failures[0]
    },
  }
}
