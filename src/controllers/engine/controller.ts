// What a controller is: a name, where its keys come from, and one idempotent step that brings a key closer to its spec.
import { waitForAbort } from '../../lib/abort.ts'
import type { Logger } from '../../observability/log.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'

export function formatKey(key: ResourceKey): string {
  return `${key.namespace}/${key.name}`
}

export function parseKey(text: string): ResourceKey {
  const slash = text.indexOf('/')
  return { namespace: text.slice(0, slash), name: text.slice(slash + 1) }
}

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>

/** The result of a reconcile: look again after a while, or not until something changes. */
export type Reconciled = { requeueAfterMs?: number } | undefined

/** Adds a key to the controller's queue, at once or after a delay in milliseconds. */
export type Enqueue = (key: string, afterMs?: number) => void

/** A source of keys. `run` feeds them until the signal aborts; when it rejects, it is run again after a backoff. */
export type KeySource = { name: string; run(enqueue: Enqueue, signal: AbortSignal): Promise<void> }

export type ControllerDefinition = {
  name: string
  sources: KeySource[]
  /** Concurrent keys; default 8. */
  concurrency?: number
  /** Upper limit of the delay after repeated errors; default one minute. */
  maxBackoffMs?: number
  /** Called first each time this replica becomes the leader: discard what an earlier term knew. */
  begin?(): void
  /** Brings one key closer to its spec. A rejection is retried with backoff. */
  reconcile(key: string, signal: AbortSignal): Promise<Reconciled>
}

export type Controller = Required<Omit<ControllerDefinition, 'begin'>> & Pick<ControllerDefinition, 'begin'>

export function defineController(definition: ControllerDefinition): Controller {
  return { concurrency: 8, maxBackoffMs: 60_000, ...definition }
}

/**
 * A source whose keys are pushed from outside, for example by another controller. Pushes while it is not running are
 * dropped.
 */
export function createPushSource(name: string): KeySource & { push: Enqueue } {
  let target: Enqueue | undefined
  return {
    name,
    push: (key, afterMs) => target?.(key, afterMs),
    async run(enqueue, signal) {
      target = enqueue
      await waitForAbort(signal)
      target = undefined
    },
  }
}

/** A source from a port's `onChange`: subscribes while it runs. */
export function createListenerSource(name: string, subscribe: (enqueue: Enqueue) => () => void): KeySource {
  return {
    name,
    async run(enqueue, signal) {
      const unsubscribe = subscribe(enqueue)
      await waitForAbort(signal)
      unsubscribe()
    },
  }
}

type Sleep = (ms: number, signal: AbortSignal) => Promise<void>

/** A source that adds one key every `intervalMs`, the first time after `firstMs`. */
export function createTimerSource(
  key: string,
  times: { firstMs: number; intervalMs: number },
  sleep: Sleep,
): KeySource {
  return {
    name: `timer:${key}`,
    async run(enqueue, signal) {
      await sleep(times.firstMs, signal).catch(() => undefined)
      while (!signal.aborted) {
        enqueue(key)
        await sleep(times.intervalMs, signal).catch(() => undefined)
      }
    },
  }
}
