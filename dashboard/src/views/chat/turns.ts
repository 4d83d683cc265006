// Turns that were begun in this tab. They go on while another page is looked at; a turn whose reader is gone would end.
import { useSyncExternalStore } from 'react'
import { parseBody } from '../../../../src/client/event-stream.ts'
import { type ChatFrame, type ChatRequest, type ChatUsage, sendChat } from '../../../../src/contract/api/chat/chat.ts'
import { type ErrorReason, errorStatus, SvcError } from '../../../../src/errors.ts'
import { tryParseJson } from '../../../../src/lib/json.ts'
import { api, queryClient } from '../../data/api.ts'
import { addFrame, type Entry, endCalls } from '../../parts/conversation/entries.ts'
import { sessions } from '../../session/session.ts'

export type SessionPlace = { namespace: string; name: string }

export type Turns = {
  /** How many stored messages stand before the turns of this tab. */
  storedBefore: number
  entries: readonly Entry[]
  isRunning: boolean
  /** Why the last turn failed. */
  error?: unknown
  /** It was stopped by hand. */
  isStopped?: boolean
  usage?: ChatUsage | undefined
  /** What answers: a provider's name, and its model. */
  answering?: { provider: string; model: string }
}

const all = new Map<string, Turns>()
const stops = new Map<string, AbortController>()
const listeners = new Set<() => void>()
/** Pieces of an answer are shown together. */
const gatherMs = 50
let isWaiting = false

function tell(): void {
  if (isWaiting) return
  isWaiting = true
  setTimeout(() => {
    isWaiting = false
    for (const listener of listeners) listener()
  }, gatherMs)
}

const nameOf = ({ namespace, name }: SessionPlace) => `${namespace}/${name}`

function change(key: string, changes: Partial<Turns>): void {
  const before = all.get(key)
  if (before === undefined) return
  all.set(key, { ...before, ...changes })
  tell()
}

sessions.onOtherCaller(() => {
  for (const stop of stops.values()) stop.abort()
  all.clear()
})

export function useTurns(place: SessionPlace | undefined): Turns | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => (place === undefined ? undefined : all.get(nameOf(place))),
  )
}

/** As the service names its own. */
export function makeSessionName(): string {
  const digits = crypto.getRandomValues(new Uint8Array(6))
  return `chat-session-${[...digits].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

export function stopTurn(place: SessionPlace): void {
  stops.get(nameOf(place))?.abort()
}

/** The turn ends as well, if one runs. */
export function forgetTurns(place: SessionPlace): void {
  stopTurn(place)
  all.delete(nameOf(place))
  tell()
}

/** Sends a message and follows its answer to the end. */
export async function runTurn(place: SessionPlace, body: ChatRequest, stored: number): Promise<void> {
  const key = nameOf(place)
  const before = all.get(key)
  const entries = [...(before?.entries ?? []), { type: 'user', text: body.message } as const]
  all.set(key, { storedBefore: before?.storedBefore ?? stored, entries, isRunning: true })
  const stop = new AbortController()
  stops.set(key, stop)
  tell()
  try {
    await follow(key, { ...body, sessionId: place.name, namespace: place.namespace }, stop.signal)
  } catch (error) {
    change(key, stop.signal.aborted ? { isStopped: true } : { error })
  } finally {
    stops.delete(key)
    change(key, { isRunning: false, entries: endCalls(all.get(key)?.entries ?? []) })
    void queryClient.invalidateQueries({ queryKey: ['records', 'Session'] })
  }
}

async function follow(key: string, body: ChatRequest, signal: AbortSignal): Promise<void> {
  const response = await api().open(sendChat, { body, headers: { accept: 'text/event-stream' }, signal })
  let isWhole = false
  for await (const { event = '', data } of parseBody(response)) {
    note(key, event, tryParseJson(data) as ChatFrame)
    isWhole ||= event === 'done'
  }
  if (!isWhole && !signal.aborted) {
    throw new SvcError('Unavailable', 'the connection was lost before the answer ended; what came is kept')
  }
}

function note(key: string, event: string, frame: ChatFrame): void {
  const { provider = '', model = '', error, usage } = frame
  if (event === 'status') change(key, { answering: { provider, model } })
  else if (event === 'done') change(key, { usage })
  else if (error !== undefined) change(key, { error: new SvcError(reasonOf(error.code), error.message) })
  else change(key, { entries: addFrame(all.get(key)?.entries ?? [], event, frame) })
}

function reasonOf(code: string): ErrorReason {
  return code in errorStatus ? (code as ErrorReason) : 'Internal'
}
