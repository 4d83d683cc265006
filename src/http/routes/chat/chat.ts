// Chat: a turn as an event stream or as one JSON body, the settings, and cancelling a session.
import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import * as routes from '../../../contract/api/chat/chat.ts'
import { SvcError } from '../../../errors.ts'
import type { ChatTurn } from '../../../usecases/index.ts'
import type { Bind } from '../../bind.ts'
import type { RouteContext } from '../../deps.ts'
import { createPushedEvents, defaultHeartbeatMs, gone, watchClient } from '../../event-stream.ts'
import { chooseType } from '../../middleware/accept.ts'

type TurnEvent = { name: routes.ChatEventName; data: Omit<routes.ChatFrame, 'sessionId'> }

/** Merges deltas that wait for a slow reader. */
function mergeDeltas(last: TurnEvent, next: TurnEvent): TurnEvent | undefined {
  if (last.name !== 'message' || next.name !== 'message') return undefined
  return { name: 'message', data: { content: `${last.data.content ?? ''}${next.data.content ?? ''}` } }
}

function streamTurn(turn: ChatTurn, heartbeatMs: number): Readable {
  const { sessionId, provider, model } = turn
  const start = `{"sessionId":${JSON.stringify(sessionId)}`
  const client = new AbortController()
  let id = 0
  const events = createPushedEvents<TurnEvent>({
    merge: mergeDeltas,
    heartbeatMs,
    encode({ name, data }) {
      id += 1
      const rest = JSON.stringify(data)
      return { id, event: name, data: rest === '{}' ? `${start}}` : `${start},${rest.slice(1)}` }
    },
    onClose: () => client.abort(gone),
  })
  events.push({ name: 'status', data: { provider, model } })
  // Runs even when nobody reads: a client that left must not keep the session and the slot occupied.
  void turn.run((name, data) => events.push({ name, data }), client.signal).finally(events.end)
  return events.stream
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

/** The turn is stored as far as it got; a caller who named no session must learn which one. */
function nameSession(failure: SvcError, sessionId: string): SvcError {
  const { reason, message, retryAfterSeconds } = failure
  return new SvcError(reason, message, {
    details: [...(failure.details ?? []), { path: 'sessionId', message: sessionId }],
    cause: failure,
    retryAfterSeconds,
  })
}

export function bindChat(bind: Bind, { usecases, settings, metrics }: RouteContext): void {
  bind(routes.sendChat, async ({ caller, namespace, body, headers, request }) => {
    const type = chooseType(headers.accept, ['text/event-stream', 'application/json'])
    const origin = { requestId: request.id, address: request.clientAddress }
    const turn = await usecases.chat.begin(caller, namespace, body, { origin, traceparent: headers.traceparent })
    if (type === 'application/json') return { json: await runBlocking(turn, request) }
    // A turn is not a subscription: a stopping service lets it finish, within its time limit.
    const stream = streamTurn(turn, settings.heartbeatMs ?? defaultHeartbeatMs)
    stream.once('close', metrics.trackStream())
    return {
      stream,
      contentType: 'text/event-stream; charset=utf-8',
      headers: { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' },
    }
  })
  bind.json(routes.getChatConfig, () => usecases.chat.config())
  bind.empty(routes.cancelChat, ({ caller, namespace, params }) =>
    usecases.chat.cancel(caller, { namespace, name: params.sessionId }),
  )
}
