// Makes any model client keep its contract: it never throws, never hangs after an abort, and sends one last event.
import { messageOf } from '../../errors.ts'
import type { ModelEvent, ModelRequest } from '../messages/messages.ts'
import { waitUnlessAborted } from './linked-signal.ts'
import type { Listener, ModelClient } from './model.ts'

const aborted: ModelEvent = { type: 'error', error: { reason: 'Stopped', message: 'The call was cancelled.' } }

function endedEarly(): ModelEvent {
  return { type: 'error', error: { reason: 'AnswerBrokenOff', message: 'The stream ended without a stop.' } }
}

export function isLast({ type }: ModelEvent): boolean {
  return type === 'stop' || type === 'error'
}

/** Passes events on up to the last one, and remembers what the listener threw. */
function createGate(take: Listener['take']) {
  const gate = { isOver: false, thrown: undefined as { error: unknown } | undefined }

  function refuse(error: unknown): void {
    gate.isOver = true
    gate.thrown ??= { error }
  }

  function tell(events: ModelEvent[]): void | Promise<void> {
    if (gate.isOver) return
    const end = events.findIndex(isLast)
    gate.isOver = end !== -1
    try {
      const told = take(end === -1 ? events : events.slice(0, end + 1))
      return told?.catch(refuse)
    } catch (error) {
      refuse(error)
      // Nothing follows, so reading on is useless.
      throw error
    }
  }

  return { gate, tell }
}

async function waitForEnd(calling: Promise<void>, signal: AbortSignal): Promise<void> {
  await waitUnlessAborted(calling, signal)
  // A client that keeps its contract ends by itself now, and has settled its usage.
  if (signal.aborted) await Promise.race([calling, new Promise(setImmediate)])
}

/** Rejects with what the listener throws, and with nothing else. */
export async function guardCall(client: ModelClient, request: ModelRequest, listener: Listener): Promise<void> {
  const { signal, take, spend } = listener
  const { gate, tell } = createGate(take)
  // async, so that a client that throws synchronously rejects like any other.
  const call = async () => client.call(request, { signal, take: tell, spend })
  try {
    await waitForEnd(call(), signal)
    await tell([signal.aborted ? aborted : endedEarly()])
  } catch (error) {
    if (gate.thrown === undefined)
      await tell([{ type: 'error', error: { reason: 'Internal', message: messageOf(error) } }])
  }
  if (gate.thrown !== undefined) throw gate.thrown.error
}
