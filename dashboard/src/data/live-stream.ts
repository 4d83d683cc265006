// The one event stream of this tab: opened when somebody signs in, and again whenever it is lost.
import { createApiClient } from '../../../src/client/client.ts'
import { readEvents } from '../../../src/client/event-stream.ts'
import { recordKinds, watchResources } from '../../../src/contract/api/resources/watch.ts'
import type { Kind } from '../../../src/contract/kinds/index.ts'
import { isSvcError } from '../../../src/errors.ts'
import { sessions } from '../session/session.ts'
import { serviceUrl } from './api.ts'
import { createLiveChanges, type LiveListener } from './live-changes.ts'
import { fetchOfService, reachState } from './reach.ts'

/** `away`: it is being opened again; what is shown may be old. */
export type LiveState = 'connecting' | 'live' | 'away'

/** Which namespaces this caller may watch: all, or the one that the credential is bound to. */
export type LivePlace = { namespaces: string } | { allNamespaces: true }

const kinds: readonly Kind[] = ['Task', 'Agent', 'Provider', 'Tool', 'Skill', 'RepositoryScan', 'RepositoryMonitor']

/** The service says at least something this often (a heartbeat each 15 s); after sleep a connection may be dead and silent. */
const silenceMs = 40_000
const pauseMs = { first: 500, longest: 15_000 }

let state: LiveState = 'connecting'
const watchers = new Set<() => void>()

function setState(next: LiveState): void {
  if (next === state) return
  state = next
  for (const watcher of watchers) watcher()
}

export const liveState = {
  current: () => state,
  subscribe(watcher: () => void): () => void {
    watchers.add(watcher)
    return () => watchers.delete(watcher)
  },
}

/** The same bytes; tells of each part, and of the end, however it comes. */
function listenTo(body: ReadableStream<Uint8Array>, onPart: () => void, onEnd: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream({
    async pull(controller) {
      const part = await reader.read().catch((error: unknown) => {
        onEnd()
        throw error
      })
      if (part.done) {
        onEnd()
        return controller.close()
      }
      onPart()
      controller.enqueue(part.value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

/** Fetches, and notes when bytes come, comments included: events alone do not show that a connection lives. */
function createHearing() {
  let heardAt = Date.now()
  const note = () => {
    heardAt = Date.now()
  }
  const lose = () => setState('away')
  async function hear(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    const response = await fetchOfService(input, init).finally(note)
    if (response.ok) setState('live')
    const body = response.body && listenTo(response.body, note, lose)
    return new Response(body, { status: response.status, headers: response.headers })
  }
  // A clock that was set back says nothing of how long it was silent: from then on it counts anew.
  const isSilent = () => {
    heardAt = Math.min(heardAt, Date.now())
    return Date.now() - heardAt > silenceMs
  }
  return { hear, isSilent }
}

/** Calls `end` when nothing was heard for too long, which a computer that has slept does not notice by itself. */
function guardSilence(isSilent: () => boolean, end: () => void): () => void {
  const look = () => {
    if (isSilent()) end()
  }
  const timer = setInterval(look, silenceMs / 4)
  document.addEventListener('visibilitychange', look)
  return () => {
    clearInterval(timer)
    document.removeEventListener('visibilitychange', look)
  }
}

type Reading = {
  place: LivePlace
  receive: ReturnType<typeof createLiveChanges>
  /** Everything up to this event was told. */
  after: string | undefined
}

/** Reads until the stream is lost, from where the last one came to. */
async function readOnce(reading: Reading, signal: AbortSignal, begin: () => void): Promise<void> {
  const lost = new AbortController()
  const { hear, isSilent } = createHearing()
  const release = guardSilence(isSilent, () => lost.abort())
  const client = createApiClient({ url: serviceUrl, token: sessions.current()?.token ?? '', fetch: hear })
  const { place, after } = reading
  const what = { kinds: kinds.join(','), records: recordKinds.join(','), view: 'summary', present: false } as const
  const query = { ...what, ...place, resourceVersion: after }
  const input = { query, signal: AbortSignal.any([signal, lost.signal]) }
  try {
    for await (const { id, event, data } of readEvents(client, watchResources, input, begin)) {
      reading.after = id ?? reading.after
      reading.receive(event, data)
    }
  } finally {
    release()
  }
}

/** Whether it is of use to try again. */
function takeFailure(error: unknown, reading: Reading): boolean {
  // What came between is forgotten.
  if (isSvcError(error, 'Expired')) reading.after = undefined
  if (!isSvcError(error, 'Unauthenticated')) return true
  sessions.end('Your session has ended. Sign in again.')
  return false
}

/** The pause, or less where the service answers again before its end. */
function waitForReturn(pause: number): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      stopListening()
      resolve()
    }
    const timer = setTimeout(end, pause)
    const stopListening = reachState.onReturn(end)
  })
}

async function readAlways(reading: Reading, missed: () => void, signal: AbortSignal): Promise<void> {
  let isFirst = true
  const begin = () => {
    if (!isFirst && reading.after === undefined) missed()
    isFirst = false
  }
  for (let pause = pauseMs.first; !signal.aborted; pause = Math.min(pause * 2, pauseMs.longest)) {
    try {
      await readOnce(reading, signal, begin)
    } catch (error) {
      if (signal.aborted || !takeFailure(error, reading)) return
    }
    if (signal.aborted) return
    setState('away')
    await waitForReturn(pause)
  }
}

/** Opens it; the function that is returned closes it. */
export function openLiveStream(place: LivePlace, listener: LiveListener): () => void {
  const closed = new AbortController()
  const reading = { place, receive: createLiveChanges(listener), after: undefined }
  void readAlways(reading, () => listener.missed(), closed.signal)
  return () => closed.abort()
}
