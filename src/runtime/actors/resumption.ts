// Resumes actors. While no worker is free they wait, those of one pool in the order in which they came.
import type { Clock } from '../../lib/clock.ts'
import { WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'
import type { Actor, ActorControl, ActorRef } from './control.ts'

const firstDelayMs = 100
const longestDelayMs = 2000

export type Waiting = {
  signal: AbortSignal
  /** Hears what it waits for. */
  tell(message: string): void
}

/** Repeats what the provider cannot do yet, until the signal. */
export async function repeatUntilAble<T>(clock: Clock, { signal, tell }: Waiting, run: () => Promise<T>): Promise<T> {
  for (let delayMs = firstDelayMs; ; delayMs = Math.min(delayMs * 2, longestDelayMs)) {
    signal.throwIfAborted()
    try {
      return await run()
    } catch (error) {
      if (!(error instanceof WorkspaceError && error.reason === 'ProviderUnavailable')) throw error
      tell(error.message)
    }
    await clock.sleep(delayMs, signal)
  }
}

/** One after another for each key; who gives up makes room for the next. */
function createQueues() {
  const tails = new Map<string, Promise<unknown>>()
  return async <T>(key: string, signal: AbortSignal, run: () => Promise<T>): Promise<T> => {
    const before = tails.get(key)
    const turn = Promise.withResolvers<void>()
    const tail = Promise.all([before, turn.promise])
    tails.set(key, tail)
    void tail.then(() => tails.get(key) === tail && tails.delete(key))
    try {
      await untilAborted(before, signal)
      return await run()
    } finally {
      turn.resolve()
    }
  }
}

async function untilAborted(work: Promise<unknown> | undefined, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>()
  const stop = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  try {
    signal.throwIfAborted()
    await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

type Wanted = { ref: ActorRef; queue: string; boot: boolean }

export function createResumption({ control, clock }: { control: ActorControl; clock: Clock }) {
  const inTurn = createQueues()
  return ({ ref, queue, boot }: Wanted, waiting: Waiting): Promise<Actor> =>
    inTurn(queue, waiting.signal, () =>
      repeatUntilAble(clock, waiting, () => control.resume(ref, boot, waiting.signal)),
    )
}
