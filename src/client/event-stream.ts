// Reads an event stream and resumes it where it broke off.
import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { Route } from '../contract/api/route.ts'
import { isSvcError } from '../errors.ts'
import type { CallInput, Client } from './client.ts'

export type StreamEvent = { id?: string | undefined; event?: string | undefined; data: string }

const reconnectDelayMs = 500
const maxReconnects = 20

/**
 * Events until one named `end`, across reconnects with `Last-Event-ID`. Throws when the service cannot be reached
 * again.
 */
export async function* readEvents<R extends Route>(
  client: Client,
  route: R,
  input: CallInput<R>,
): AsyncGenerator<StreamEvent> {
  const position: { lastId?: string | undefined; failures: number } = { failures: 0 }
  while (position.failures < maxReconnects) {
    for await (const event of readFrom(client, route, input, position)) {
      if (event.event === 'end') return
      yield event
    }
    position.failures += 1
    await new Promise((resolve) => setTimeout(resolve, reconnectDelayMs))
  }
}

/** The events of one connection; a broken one just ends, unless it never produced an event or the caller has left. */
async function* readFrom<R extends Route>(
  client: Client,
  route: R,
  input: CallInput<R>,
  position: { lastId?: string | undefined; failures: number },
): AsyncGenerator<StreamEvent> {
  const resume = position.lastId === undefined ? {} : { 'last-event-id': position.lastId }
  const headers = { ...input.headers, ...resume } as NonNullable<typeof input.headers>
  try {
    for await (const event of parseBody(await client.open(route, { ...input, headers }))) {
      position.failures = 0
      position.lastId = event.id ?? position.lastId
      yield event
    }
  } catch (error) {
    if (input.signal?.aborted || position.lastId === undefined || isRefused(error)) throw error
    if (position.failures + 1 >= maxReconnects) throw error
  }
}

/** The service has answered, and would answer the same again. */
function isRefused(error: unknown): boolean {
  return isSvcError(error) && error.status < 500
}

/** The events of one answer, as they arrive. */
export async function* parseBody(response: Response): AsyncGenerator<StreamEvent> {
  if (!response.body) return
  const events = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
  for await (const event of events) yield event
}
