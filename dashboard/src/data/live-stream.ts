// The one event stream of this tab: opened when somebody signs in, and again whenever it is lost.
import { createClient } from '../../../src/client/client.ts'
import { readEvents } from '../../../src/client/event-stream.ts'
import { watchResources } from '../../../src/contract/api/watch.ts'
import type { Kind } from '../../../src/contract/resources/index.ts'
import { isSvcError } from '../../../src/errors.ts'
import { sessions } from '../session/session.ts'
import { serviceUrl } from './api.ts'
import { createLiveChanges, type LiveListener } from './live-changes.ts'

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

/** Fetches, and notes when bytes come, comments included: events alone do not show that a connection lives. */
function createHearing() {
  let heardAt = Date.now()
  const note = <T>(chunk: T, controller: TransformStreamDefaultController<T>) => {
    heardAt = Date.now()
    controller.enqueue(chunk)
  }
  async function hear(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    const response = await fetch(input, { ...init, credentials: 'omit', cache: 'no-store' })
    heardAt = Date.now()
    if (response.ok) setState('live')
    const body = response.body?.pipeThrough(new TransformStream({ transform: note })) ?? null
    return new Response(body, { status: response.status, headers: response.headers })
  }
  return { hear, isSilent: () => Date.now() - heardAt > silenceMs }
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

type Reading = { place: LivePlace; listener: LiveListener; receive: ReturnType<typeof createLiveChanges> }

/** Reads until the stream is lost; `begin` is called where it begins, not goes on. */
async function readOnce({ place, receive }: Reading, signal: AbortSignal, begin: () => void): Promise<void> {
  const lost = new AbortController()
  const { hear, isSilent } = createHearing()
  const release = guardSilence(isSilent, () => lost.abort())
  const client = createClient({ url: serviceUrl, token: sessions.current()?.token ?? '', fetch: hear })
  const query = { kinds: kinds.join(','), ...place, view: 'summary', present: false } as const
  const input = { query, signal: AbortSignal.any([signal, lost.signal]) }
  try {
    for await (const { event, data } of readEvents(client, watchResources, input, begin)) receive(event, data)
  } finally {
    release()
  }
}

async function readAlways(reading: Reading, signal: AbortSignal): Promise<void> {
  let begins = 0
  const begin = () => {
    if (begins > 0) reading.listener.missed()
    begins += 1
  }
  for (let pause = pauseMs.first; !signal.aborted; pause = Math.min(pause * 2, pauseMs.longest)) {
    try {
      await readOnce(reading, signal, begin)
    } catch (error) {
      if (isSvcError(error, 'Unauthenticated')) return sessions.end('Your session has ended. Sign in again.')
    }
    if (signal.aborted) return
    setState('away')
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

/** Opens it; the function that is returned closes it. */
export function openLiveStream(place: LivePlace, listener: LiveListener): () => void {
  const closed = new AbortController()
  void readAlways({ place, listener, receive: createLiveChanges(listener) }, closed.signal)
  return () => closed.abort()
}
