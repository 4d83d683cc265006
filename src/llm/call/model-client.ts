// A language model as its callers see it: takes a request, and reports the answer as it arrives. Here are the contract of a call,
// what makes any client keep it (it never throws, never hangs after an abort, and sends one last event), and what admits calls.
import { isSvcError, messageOf } from '../../errors.ts'
import { waitUnlessAborted } from '../../lib/abort.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import type { ModelError, ModelEvent, ModelRequest, TokenUsage } from '../messages/messages.ts'
import type { Cost, EstimatedUsage } from '../messages/token-usage.ts'

/** One call that reached a provider, for the usage records. */
export type ServedCall = {
  provider: ResourceKey
  model: string
  /** As the vendor counted. */
  usage: TokenUsage
  /** What it did not count: the call broke off, or it says nothing of tokens. */
  estimated?: EstimatedUsage
  /** Absent when the provider has no price. */
  cost?: Cost
  estimatedCost?: Cost
  /** Served by the demo provider: no language model (PROV-014). */
  demo: boolean
  /** There is no whole answer, only tokens that were counted or estimated. */
  brokeOff?: true
}

export type Listener = {
  /** Aborting it ends the call. */
  signal: AbortSignal
  /**
   * Receives the events of each read of the answer together, in order, at least one. A promise pauses the vendor until
   * it resolves. If it throws, the call ends and rejects with that.
   */
  take(events: ModelEvent[]): void | undefined | Promise<void>
  /**
   * Told of what was used, once for each provider that began to work: also where it failed, or the call was aborted.
   */
  spend(call: ServedCall): void
}

export interface ModelClient {
  /**
   * One call, from the request to its last event; resolves when that is delivered and the call is settled. It does not
   * reject, and does not hang after an abort: every error, including the abort, is the last event.
   */
  call(request: ModelRequest, listener: Listener): Promise<void>
}

const aborted: ModelEvent = { type: 'error', error: { reason: 'Stopped', message: 'The call was cancelled.' } }

function endedEarly(): ModelEvent {
  return { type: 'error', error: { reason: 'AnswerBrokenOff', message: 'The stream ended without a stop.' } }
}

export function isLastEvent({ type }: ModelEvent): boolean {
  return type === 'stop' || type === 'error'
}

/** Passes events on up to the last one, and remembers what the listener threw. */
function createGate(take: Listener['take']) {
  const gate = { isOver: false, thrown: undefined as { error: unknown } | undefined }

  function refuse(error: unknown): void {
    gate.isOver = true
    gate.thrown ??= { error }
  }

  function pass(events: ModelEvent[]): void | Promise<void> {
    if (gate.isOver) return
    const end = events.findIndex(isLastEvent)
    gate.isOver = end !== -1
    try {
      const taken = take(end === -1 ? events : events.slice(0, end + 1))
      return taken?.catch(refuse)
    } catch (error) {
      refuse(error)
      // Nothing follows, so reading on is useless.
      throw error
    }
  }

  return { gate, pass }
}

async function waitForEnd(calling: Promise<void>, signal: AbortSignal): Promise<void> {
  await waitUnlessAborted(calling, signal)
  // A client that keeps its contract ends by itself now, and has settled its usage.
  if (signal.aborted) await Promise.race([calling, new Promise(setImmediate)])
}

/** Rejects with what the listener throws, and with nothing else. */
export async function callToLastEvent(client: ModelClient, request: ModelRequest, listener: Listener): Promise<void> {
  const { signal, take, spend } = listener
  const { gate, pass } = createGate(take)
  // async, so that a client that throws synchronously rejects like any other.
  const call = async () => client.call(request, { signal, take: pass, spend })
  try {
    await waitForEnd(call(), signal)
    await pass([signal.aborted ? aborted : endedEarly()])
  } catch (error) {
    if (gate.thrown === undefined)
      await pass([{ type: 'error', error: { reason: 'Internal', message: messageOf(error) } }])
  }
  if (gate.thrown !== undefined) throw gate.thrown.error
}

function toModelError(error: unknown): ModelError {
  const reason = isSvcError(error, 'BudgetExceeded') ? 'BudgetExceeded' : 'ServiceUnavailable'
  return { reason, message: messageOf(error) }
}

/** `ask` throws the reason against the next call; it runs before each, and then nothing is sent. */
export function withAdmission(model: ModelClient, ask: () => void | Promise<void>): ModelClient {
  return {
    async call(request, listener) {
      try {
        const waiting = ask()
        if (waiting !== undefined) await waiting
      } catch (error) {
        await listener.take([{ type: 'error', error: toModelError(error) }])
        return
      }
      await model.call(request, listener)
    },
  }
}

/** Called before the wait starts. */
export type OnWait = (wait: { ms: number; why: string }) => void

/** Nobody notices shorter ones. */
const minReportedMs = 1000

/** `waiting 20 s: the vendor asked for it`; undefined when the wait is too short to mention. */
export function describeWait({ ms, why }: Parameters<OnWait>[0]): string | undefined {
  return ms < minReportedMs ? undefined : `waiting ${Math.ceil(ms / 1000)} s: ${why}`
}
