// Follows objects: what there is, then what changes; begins anew where the service no longer knows what came between.
import type { RouteQueryInput } from '../contract/api/resources/route.ts'
import { type ChangeType, changeTypes, type WatchedChange, watchResources } from '../contract/api/resources/watch.ts'
import { isSvcError } from '../errors.ts'
import type { Client } from './client.ts'
import { readEvents } from './event-stream.ts'

/** `begin`: forget what was sent, each object that there is follows; `synced`: those were all. */
export type ObjectEvent<R> = { type: 'begin' } | { type: 'synced' } | { type: ChangeType; object: R }

function readEvent<R>({ event, data }: { event?: string | undefined; data: string }): ObjectEvent<R> | undefined {
  if (event === 'synced') return { type: 'synced' }
  const type = changeTypes.find((known) => known === event)
  return type && { type, object: (JSON.parse(data) as WatchedChange<R>).object }
}

type Query = RouteQueryInput<typeof watchResources>

/** One stream, over reconnects; ends where the service no longer knows what came between. */
async function* readStream<R>(client: Client, query: Query, signal: AbortSignal): AsyncGenerator<ObjectEvent<R>> {
  let isAnew = false
  const beginAnew = () => {
    isAnew = true
  }
  try {
    for await (const event of readEvents(client, watchResources, { query, signal }, beginAnew)) {
      if (isAnew) yield { type: 'begin' }
      isAnew = false
      const read = readEvent<R>(event)
      if (read !== undefined) yield read
    }
  } catch (error) {
    if (!signal.aborted && !isSvcError(error, 'Expired')) throw error
  }
}

/** Endless, until the signal aborts. SvcError when the service refuses it or cannot be reached again. */
export async function* watchObjects<R>(
  client: Client,
  query: Query,
  signal: AbortSignal,
): AsyncGenerator<ObjectEvent<R>> {
  while (!signal.aborted) yield* readStream<R>(client, query, signal)
}
