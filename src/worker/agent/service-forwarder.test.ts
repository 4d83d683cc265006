import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, expect, it } from 'vitest'
import { openServiceForwarder, type ServiceForwarder } from './service-forwarder.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()))
})

/** What the service gets, and answers. */
async function serve(listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push(server)
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Pauses pass at once; `onPause` hears of each. */
async function forwardTo(url: string, onPause: () => unknown = () => undefined): Promise<ServiceForwarder> {
  let now = 0
  const clock = {
    now: () => new Date(now),
    async sleep(ms: number, signal?: AbortSignal) {
      signal?.throwIfAborted()
      now += ms
      await onPause()
    },
  }
  const forwarder = await openServiceForwarder({ url, clock, ids: { random: () => 1 }, note: () => undefined })
  open.push(forwarder)
  return forwarder
}

const call = { method: 'POST', body: '{"model":"m"}', headers: { authorization: 'Bearer made-up' } }

it.each([
  ['resets connections', (request) => request.socket.destroy()],
  ['answers 503', (_request, response) => response.writeHead(503, { 'x-svc-reason': 'Unavailable' }).end('{}')],
  ['is behind a gateway that answers 502', (_request, response) => response.writeHead(502).end()],
  ['is behind a gateway that answers 503', (_request, response) => response.writeHead(503).end()],
  ['is behind a gateway that answers 504', (_request, response) => response.writeHead(504).end()],
] satisfies [string, RequestListener][])(
  'holds a call while the service %s, which then gets all of it',
  async (_how, fail) => {
    const seen: string[] = []
    let isBack = false
    const url = await serve(async (request, response) => {
      const body = await text(request)
      if (!isBack) return void fail(request, response)
      seen.push(`${request.url} ${request.headers.authorization} ${body}`)
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-own': 'kept' }).end('data: 1\n\n')
    })
    let pauses = 0
    const { url: local, isAway } = await forwardTo(url, () => {
      pauses += 1
      isBack = pauses === 12
    })
    const answer = await fetch(`${local}/llmo/v1/chat/completions?a=b`, call)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-own')).toBe('kept')
    expect(await answer.text()).toBe('data: 1\n\n')
    expect(seen).toEqual(['/llmo/v1/chat/completions?a=b Bearer made-up {"model":"m"}'])
    expect(isAway()).toBe(false)
  },
)

it.each([
  [502, 'UpstreamFailed'],
  [503, 'InvalidRequest'],
])('passes a failure of the vendor at once: %s with the reason %s', async (status, reason) => {
  const url = await serve((_request, response) => response.writeHead(status, { 'x-svc-reason': reason }).end('no'))
  const { url: local, isAway } = await forwardTo(url, () => expect.unreachable())
  const answer = await fetch(`${local}/llma/v1/messages`, call)
  expect([answer.status, await answer.text()]).toEqual([status, 'no'])
  expect(isAway()).toBe(false)
})

it('passes what the service refuses at once, and each piece of a stream as it comes', async () => {
  let finish = () => undefined as unknown
  const url = await serve((request, response) => {
    if (request.url === '/refused') return void response.writeHead(429).end('slowly')
    response.writeHead(200)
    response.write('first')
    finish = () => response.end('second')
  })
  const { url: local } = await forwardTo(url, () => expect.unreachable())
  expect((await fetch(`${local}/refused`, call)).status).toBe(429)
  const reader = (await fetch(`${local}/streamed`, call)).body?.getReader()
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('first')
  finish()
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('second')
})

it('gives a call up after minutes with 503 and when to come again, and knows it', async () => {
  const url = await serve((request) => request.socket.destroy())
  const { url: local, isAway } = await forwardTo(url)
  const answer = await fetch(`${local}/llma/v1/messages`, call)
  expect(answer.status).toBe(503)
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(isAway()).toBe(true)
})

it('serves nobody who calls it by another name', async () => {
  const url = await serve((_request, response) => response.end())
  const { url: local } = await forwardTo(url)
  const { request } = await import('node:http')
  const status = await new Promise((resolve, reject) => {
    request(local, { headers: { host: 'rebound.test' } }, ({ statusCode }) => resolve(statusCode))
      .once('error', reject)
      .end()
  })
  expect(status).toBe(421)
})
