// A work queue of names: each occurs once, never runs twice at a time, and runs again if added while it ran.
import { type Clock, monotonicMs } from '../../lib/clock.ts'
import { createHeap } from './heap.ts'

export type Queue = {
  add(key: string): void
  /** Adds the key after a delay; the earliest of several delays counts. */
  addAfter(key: string, ms: number): void
  /** Accepts nothing more and resolves once nothing runs. Idempotent. */
  stop(): Promise<void>
  /** How many are waiting now, not counting delayed ones. */
  size(): number
}

type QueueOptions = {
  /** The most keys that run at the same time. */
  concurrency: number
  clock: Clock
  /** Does the work and never rejects; a number asks to run the key again after that many milliseconds. */
  handle(key: string): Promise<number | undefined>
}

// The platform's timers overflow at 2^31 ms; a sleeper that wakes early sleeps again.
const maxSleepMs = 3_600_000

type Due = { key: string; at: number }

/** Calls back with each key when its delay is over; one timer serves all of them. */
function createDelays(clock: Clock, onDue: (key: string) => void) {
  const heap = createHeap<Due>((a, b) => a.at - b.at)
  const dues = new Map<string, number>()
  let sleeper: { at: number; controller: AbortController } | undefined

  function release(): void {
    const now = monotonicMs(clock)
    for (let first = heap.peek(); first !== undefined && first.at <= now; first = heap.peek()) {
      heap.pop()
      if (dues.get(first.key) !== first.at) continue
      dues.delete(first.key)
      onDue(first.key)
    }
  }

  function arm(): void {
    const first = heap.peek()
    if (first === undefined || (sleeper !== undefined && sleeper.at <= first.at)) return
    sleeper?.controller.abort()
    const mine = { at: first.at, controller: new AbortController() }
    sleeper = mine
    const ms = Math.min(maxSleepMs, Math.max(0, first.at - monotonicMs(clock)))
    clock.sleep(ms, mine.controller.signal).then(
      () => {
        if (sleeper !== mine) return
        sleeper = undefined
        release()
        arm()
      },
      () => undefined,
    )
  }

  return {
    set(key: string, ms: number): void {
      const at = monotonicMs(clock) + ms
      const present = dues.get(key)
      if (present !== undefined && present <= at) return
      dues.set(key, at)
      heap.push({ key, at })
      arm()
    },
    clear: (key: string) => void dues.delete(key),
    close(): void {
      sleeper?.controller.abort()
      sleeper = undefined
      heap.clear()
      dues.clear()
    },
  }
}

/** Each key once. Namespaces take turns, so that nobody waits until all of another's work is done. */
function createTurns() {
  const namespaces = new Map<string, Set<string>>()
  let size = 0

  return {
    add(key: string): void {
      const namespace = key.slice(0, Math.max(0, key.indexOf('/')))
      const keys = namespaces.get(namespace) ?? new Set()
      size += keys.has(key) ? 0 : 1
      namespaces.set(namespace, keys.add(key))
    },
    take(): string | undefined {
      const [first] = namespaces
      if (first === undefined) return undefined
      const [namespace, keys] = first
      const [key] = keys as Set<string> & [string]
      keys.delete(key)
      size -= 1
      namespaces.delete(namespace)
      if (keys.size > 0) namespaces.set(namespace, keys)
      return key
    },
    size: () => size,
    clear(): void {
      namespaces.clear()
      size = 0
    },
  }
}

export function createQueue({ concurrency, clock, handle }: QueueOptions): Queue {
  const waiting = createTurns()
  const running = new Set<string>()
  const again = new Set<string>()
  const idle: (() => void)[] = []
  let stopped = false
  const delays = createDelays(clock, add)

  function add(key: string): void {
    if (stopped) return
    if (running.has(key)) again.add(key)
    else waiting.add(key)
    pump()
  }

  function pump(): void {
    while (running.size < concurrency && !stopped) {
      const key = waiting.take()
      if (key === undefined) return
      running.add(key)
      delays.clear(key)
      void run(key)
    }
  }

  async function run(key: string): Promise<void> {
    const after = await handle(key)
    running.delete(key)
    if (again.delete(key)) add(key)
    else if (after !== undefined && !stopped) delays.set(key, after)
    pump()
    if (running.size === 0) for (const resolve of idle.splice(0)) resolve()
  }

  return {
    add,
    addAfter(key, ms) {
      if (stopped) return
      if (ms <= 0) add(key)
      else delays.set(key, ms)
    },
    async stop() {
      stopped = true
      delays.close()
      waiting.clear()
      again.clear()
      if (running.size > 0) await new Promise<void>((resolve) => idle.push(resolve))
    },
    size: waiting.size,
  }
}
