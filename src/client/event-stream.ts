// Reads an event stream and resumes it where it broke off, also while the service starts again.
import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { Route } from '../contract/api/resources/route.ts'
import { isSvcError } from '../errors.ts'
import type { CallInput, Client } from './client.ts'

export type StreamEvent = { id?: string | undefined; event?: string | undefined; data: string }

type Position = { lastId: string | undefined; wasOpen: boolean; failures: number; onBegin: () => void }

/**
 * Events until one named `end`, across reconnects with `Last-Event-ID`. Throws when the service cannot be reached
 * again. `onBegin` is called where a stream begins, not goes on: at first, and again while no event had an id.
 */
export async function* readEvents<R extends Route>(
  client: Client,
  route: R,
  input: CallInput<R>,
  onBegin = () => {},
): AsyncGenerator<StreamEvent> {
  const position: Position = { lastId: undefined, wasOpen: false, failures: 0, onBegin }
  while (position.failures < maxReconnects) {
    for await (const event of readFrom(client, route, input, position)) {
      if (event.event === 'end') return
      yield event
    }
    position.failures += 1
    await new Promise((resolve) => setTimeout(resolve, reconnectDelayMs))
  }
}

/** The events of one connection; a broken one just ends, unless none was ever made or the caller has left. */
async function* readFrom<R extends Route>(
  client: Client,
  route: R,
  input: CallInput<R>,
  position: Position,
): AsyncGenerator<StreamEvent> {
  const resume = position.lastId === undefined ? {} : { 'last-event-id': position.lastId }
  const headers = { ...input.headers, ...resume } as NonNullable<typeof input.headers>
  try {
    const response = await client.open(route, { ...input, headers })
    position.wasOpen = true
    if (position.lastId === undefined) position.onBegin()
    for await (const event of parseBody(response)) {
      position.failures = 0
      position.lastId = event.id ?? position.lastId
      yield event
    }
  } catch (error) {
    if (input.signal?.aborted || !position.wasOpen || isRefused(error)) throw error
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
  // Not every browser can iterate over a stream.
  const reader = events.getReader()
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

export const reconnectDelayMs = 500
/** Half a minute: as long as a service may take to start again. */
export const maxReconnects = 60

/** Reads again while the service cannot be reached. */
export async function readPersistently<T>(read: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await read()
    } catch (error) {
      if (!isSvcError(error, 'Unavailable') || tries >= maxReconnects) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, reconnectDelayMs))
  }
}
