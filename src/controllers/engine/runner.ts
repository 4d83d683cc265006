// Runs controllers while this replica leads: sources, queues, backoff, and a stop that waits for what runs.
import { isSvcError, messageOf } from '../../errors.ts'
import { waitForAbort } from '../../lib/abort.ts'
import type { Clock, Ids } from '../../lib/clock.ts'
import { noteWork } from '../../observability/loop-watch.ts'
import type { Leadership } from '../../ports/service/leadership.ts'
import { createBackoff } from './backoff.ts'
import type { Controller, KeySource, Log } from './controller.ts'
import { createQueue, type Queue } from './queue.ts'

/** How long stopping waits for running reconciles before it aborts them. */
const stopGraceMs = 5000

export type ControllerRunnerOptions = {
  controllers: Controller[]
  leadership: Leadership
  clock: Clock
  ids: Pick<Ids, 'random'>
  log: Log
}

export type ControllerRunner = {
  /** Seeks leadership and, once it has it, runs the controllers. Returns at once. */
  start(): void
  /** Stops sources and queues, waits for running reconciles, resigns leadership. Idempotent. */
  stop(): Promise<void>
  /** Names waiting in the queues now; none while another replica leads. */
  depth(): number
}

type Term = { depth(): number; stop(): Promise<void>; abort(): void }

export function createControllerRunner(options: ControllerRunnerOptions): ControllerRunner {
  const { controllers, leadership, clock, log } = options
  const stopping = new AbortController()
  let loop: Promise<void> | undefined
  let terms: Term[] = []

  async function lead(): Promise<void> {
    const lost = await leadership.acquire(stopping.signal)
    terms = controllers.map((controller) => startController(controller, options))
    await waitForAbort(AbortSignal.any([stopping.signal, lost]))
    // A replica that lost leadership must not write any more; one that is stopping lets running work finish.
    if (lost.aborted) for (const term of terms) term.abort()
    await stopTerms(terms)
    terms = []
  }

  async function stopTerms(ending: Term[]): Promise<void> {
    const done = new AbortController()
    const ended = Promise.all(ending.map((term) => term.stop())).finally(() => done.abort())
    clock.sleep(stopGraceMs, done.signal).then(
      () => ending.forEach((term) => void term.abort()),
      () => undefined,
    )
    await ended
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await lead()
      } catch (error) {
        if (stopping.signal.aborted) break
        log.warn({ error: messageOf(error) }, 'leadership could not be acquired; trying again')
        await clock.sleep(1000, stopping.signal).catch(() => undefined)
      }
    }
    await leadership.release()
  }

  return {
    start() {
      loop ??= run()
    },
    async stop() {
      stopping.abort()
      await loop
    },
    depth: () => terms.reduce((sum, term) => sum + term.depth(), 0),
  }
}

function startController(controller: Controller, options: ControllerRunnerOptions): Term {
  const work = new AbortController()
  const feeding = new AbortController()
  controller.begin?.()
  const queue = createReconcileQueue(controller, options, work.signal)
  const sources = controller.sources.map((source) => feed(source, queue, { ...options, controller, feeding }))
  return {
    depth: queue.size,
    abort() {
      feeding.abort()
      work.abort()
    },
    async stop() {
      feeding.abort()
      await Promise.all([queue.stop(), ...sources])
    },
  }
}

function createReconcileQueue(controller: Controller, options: ControllerRunnerOptions, signal: AbortSignal): Queue {
  const { clock, ids, log } = options
  const backoff = createBackoff({ ids, maxMs: controller.maxBackoffMs })

  function describeFailure(key: string, error: unknown): number {
    const delay = backoff.next(key)
    const fields = { controller: controller.name, key, error: messageOf(error), delay }
    // A conflict only means that somebody else wrote first; the next try sees what they wrote.
    if (isSvcError(error, 'Conflict') && backoff.failures(key) < 5) log.debug(fields, 'reconcile met a newer version')
    else log.warn(fields, 'reconcile failed; trying again')
    return delay
  }

  return createQueue({
    concurrency: controller.concurrency,
    clock,
    async handle(key) {
      noteWork({ kind: 'reconcile', route: controller.name })
      try {
        const outcome = await controller.reconcile(key, signal)
        backoff.reset(key)
        return outcome?.requeueAfterMs
      } catch (error) {
        return signal.aborted ? undefined : describeFailure(key, error)
      }
    },
  })
}

type Feeding = ControllerRunnerOptions & { controller: Controller; feeding: AbortController }

async function feed(source: KeySource, queue: Queue, { clock, ids, log, controller, feeding }: Feeding): Promise<void> {
  const backoff = createBackoff({ ids, baseMs: 200, maxMs: 30_000 })
  const enqueue = (key: string, afterMs = 0) => queue.addAfter(key, afterMs)
  while (!feeding.signal.aborted) {
    try {
      await source.run(enqueue, feeding.signal)
      backoff.reset(source.name)
    } catch (error) {
      if (feeding.signal.aborted) return
      const delay = backoff.next(source.name)
      log.warn({ controller: controller.name, source: source.name, error: messageOf(error), delay }, 'source failed')
      await clock.sleep(delay, feeding.signal).catch(() => undefined)
    }
  }
}
