// Chat: one turn as an event stream or as one JSON body, the settings, and the end of a session.
import type { FastifyRequest } from 'fastify'
import * as routes from '../../contract/api/chat.ts'
import { SvcError } from '../../errors.ts'
import type { ChatTurn } from '../../usecases/chat/chat.ts'
import type { Bind } from '../bind.ts'
import { streamEvents } from '../event-stream.ts'
import { createFrameQueue } from '../frame-queue.ts'
import { chooseType } from '../middleware/accept.ts'
import type { RouteContext } from './context.ts'

type TurnEvent = { name: routes.ChatEventName; data: Omit<routes.ChatFrame, 'sessionId'> }

const heartbeatMs = 15_000
/** A turn is no subscription: a service that stops finishes it, as far as its patience goes. */
const neverDrained = new AbortController().signal

/** Deltas that wait for a slow reader become one. */
function mergeDeltas(last: TurnEvent, next: TurnEvent): TurnEvent | undefined {
  if (last.name !== 'message' || next.name !== 'message') return undefined
  return { name: 'message', data: { content: `${last.data.content ?? ''}${next.data.content ?? ''}` } }
}

function runStreamed(turn: ChatTurn, signal: AbortSignal) {
  const { sessionId, provider, model } = turn
  const start = `{"sessionId":${JSON.stringify(sessionId)}`
  let id = 0
  const queue = createFrameQueue<TurnEvent>({
    merge: mergeDeltas,
    encode({ name, data }) {
      id += 1
      const rest = JSON.stringify(data)
      return { id, event: name, data: rest === '{}' ? `${start}}` : `${start},${rest.slice(1)}` }
    },
  })
  queue.push({ name: 'status', data: { provider, model } })
  // Not when somebody reads: a client that has gone must not leave the session and the slot behind.
  void turn.run((name, data) => queue.push({ name, data }), signal).finally(queue.end)
  return queue
}

/** A signal that aborts when the client of a blocking request goes away. */
function watchClient({ raw }: FastifyRequest): { signal: AbortSignal; release(): void } {
  const gone = new AbortController()
  const abort = () => gone.abort()
  raw.socket.once('close', abort)
  if (raw.socket.destroyed) abort()
  return { signal: gone.signal, release: () => raw.socket.off('close', abort) }
}

async function runBlocking(turn: ChatTurn, request: FastifyRequest): Promise<routes.ChatResponse> {
  const client = watchClient(request)
  try {
    const { response, failure } = await turn.run(() => {}, client.signal)
    if (failure !== undefined) throw nameSession(failure, turn.sessionId)
    return response
  } finally {
    client.release()
  }
}

/** The turn is stored as far as it got: who asked without a session must learn where. */
function nameSession(failure: SvcError, sessionId: string): SvcError {
  const { reason, message, retryAfterSeconds } = failure
  return new SvcError(reason, message, {
    details: [...(failure.details ?? []), { path: 'sessionId', message: sessionId }],
    cause: failure,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  })
}

export function bindChat(bind: Bind, { usecases, settings, metrics }: RouteContext): void {
  bind(routes.sendChat, async ({ caller, namespace, body, headers, request }) => {
    const type = chooseType(headers.accept, ['text/event-stream', 'application/json'])
    const turn = await usecases.chat.begin(caller, namespace, body)
    if (type === 'application/json') return { json: await runBlocking(turn, request) }
    const stream = streamEvents((signal) => runStreamed(turn, signal), {
      heartbeatMs: settings.heartbeatMs ?? heartbeatMs,
      drain: neverDrained,
    })
    stream.once('close', metrics.trackStream())
    return {
      stream,
      contentType: 'text/event-stream; charset=utf-8',
      headers: { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' },
    }
  })
  bind(routes.getChatConfig, async () => ({ json: await usecases.chat.config() }))
  bind(routes.cancelChat, async ({ caller, namespace, params }) => {
    await usecases.chat.cancel(caller, { namespace, name: params.sessionId })
    return { empty: true }
  })
}
