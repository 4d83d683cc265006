// Chat over a real socket, as a client sees it: frames one by one, or the JSON body.
import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { ChatFrame, ChatResponse } from '../../src/contract/api/chat/chat.ts'
import type { Answer, Service } from './service.ts'

export type Frame = { id: string; event: string; data: ChatFrame }

export type Stream = {
  status: number
  response: Response
  /** What came so far. */
  frames: Frame[]
  /** Resolves with the frames once the stream has ended. */
  ended: Promise<Frame[]>
  /** The client goes away. */
  leave(): void
  /** The first frame of that name, once it is there. */
  next(event: string): Promise<Frame>
}

type To = Pick<Service, 'url' | 'token'>

function send({ url, token }: To, body: object, init: { accept?: string; signal?: AbortSignal }): Promise<Response> {
  const headers: Record<string, string> = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  if (init.accept !== undefined) headers.accept = init.accept
  return fetch(new URL('/api/v1/chat', url), {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
    ...(init.signal === undefined ? {} : { signal: init.signal }),
  })
}

export async function chatJson<T = ChatResponse>(to: To, body: object): Promise<Answer<T>> {
  const response = await send(to, body, { accept: 'application/json' })
  return { status: response.status, body: (await response.json()) as T, headers: response.headers }
}

export async function openChat(to: To, body: object, accept?: string): Promise<Stream> {
  const leaving = new AbortController()
  const response = await send(to, body, { signal: leaving.signal, ...(accept === undefined ? {} : { accept }) })
  const frames: Frame[] = []
  const listeners = new Set<() => void>()
  const ended = collect(response, frames, () => listeners.forEach((listener) => void listener()))
  ended.catch(() => {})
  return {
    status: response.status,
    response,
    frames,
    ended,
    leave: () => leaving.abort(),
    next: (event) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = frames.find((frame) => frame.event === event)
          if (found !== undefined) resolve(found)
        }
        listeners.add(look)
        ended.then(() => reject(new Error(`the stream ended without ${event}`)), reject)
        look()
      }),
  }
}

async function collect(response: Response, frames: Frame[], notify: () => void): Promise<Frame[]> {
  if (response.body === null) return frames
  const events = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
  for await (const { id = '', event = '', data } of events) {
    frames.push({ id, event, data: JSON.parse(data) as ChatFrame })
    notify()
  }
  return frames
}

export async function chatStream(to: To, body: object): Promise<Frame[]> {
  return (await openChat(to, body)).ended
}

export function textOf(frames: Frame[]): string {
  return frames.map(({ data }) => data.content ?? '').join('')
}

export type Entry = {
  role: string
  content: string
  name?: string
  toolCallID?: string
  toolCalls?: { id: string; name: string }[]
}

/** What GET /sessions/:id shows of the session. */
export async function readSession(service: Service, id: string): Promise<{ entries: Entry[]; detail: SessionDetail }> {
  const { body } = await service.call<SessionDetail>('GET', `/api/v1/sessions/${id}`)
  const entries = (body.transcript ?? '')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Entry)
  return { entries, detail: body }
}

type SessionDetail = {
  sessionType: string
  activeTask?: string
  messageCount: number
  inputTokens: number
  outputTokens: number
  transcript: string
}

/** A provider of type llmo at this address. */
export async function makeProvider(
  service: Pick<Service, 'call'>,
  name: string,
  baseURL: string,
  spec: object = {},
): Promise<void> {
  const answer = await service.call('POST', '/api/v1/providers', {
    name,
    spec: { type: 'llmo', baseURL, defaultModel: 'test-model', ...spec },
  })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
}
