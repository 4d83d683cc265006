import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterEach, expect, it, vi } from 'vitest'
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
  let passed = 0
  const clock = {
    // Somebody sets it back with each pause.
    now: () => new Date(-passed),
    monotonic: () => passed,
    async sleep(ms: number, signal?: AbortSignal) {
      signal?.throwIfAborted()
      passed += ms
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
      if (request.url === '/healthz') return void response.end('{}')
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

/** A service that gets calls and loses them, and answers that it is there. */
async function loseCalls(lose: RequestListener): Promise<{ url: string; calls: string[] }> {
  const calls: string[] = []
  const url = await serve(async (request, response) => {
    if (request.url === '/healthz') return void response.end('{}')
    calls.push(await text(request))
    lose(request, response)
  })
  return { url, calls }
}

const html = '<html><head><title>504 Gateway Time-out</title></head></html>'

it.each([
  ['a gateway answers 502', 502, (_request, response) => response.writeHead(502).end(html)],
  ['a gateway answers 504', 504, (_request, response) => response.writeHead(504).end(html)],
  ['the connection breaks', 502, (request) => request.socket.destroy()],
] satisfies [string, number, RequestListener][])(
  'sends a call at most twice where it may be paid each time: %s',
  async (_how, status, lose) => {
    const { url, calls } = await loseCalls(lose)
    const { url: local, isAway, lastRefusal } = await forwardTo(url)
    const answer = await fetch(`${local}/llma/v1/messages`, call)
    expect(calls).toEqual([call.body, call.body])
    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([status, 'false'])
    expect(await answer.text()).toContain('give it more time for an answer')
    expect(isAway()).toBe(false)
    // A program that asks the same again, whatever the header says, pays for nothing.
    expect((await fetch(`${local}/llma/v1/messages`, call)).status).toBe(status)
    expect(calls).toHaveLength(2)
    expect(lastRefusal()?.message).toContain('after 0 s, then')
    expect((await fetch(`${local}/llma/v1/messages`, { ...call, body: 'another' })).status).toBe(status)
    expect(calls).toHaveLength(4)
  },
)

it('does not send a lost call again while nothing answers, and knows that the service is away', async () => {
  const calls: string[] = []
  const url = await serve(async (request) => {
    if (request.url !== '/healthz') calls.push(await text(request))
    request.socket.destroy()
  })
  const { url: local, isAway } = await forwardTo(url)
  expect((await fetch(`${local}/llma/v1/messages`, call)).status).toBe(503)
  expect([calls.length, isAway()]).toEqual([1, true])
})

it('repeats what costs nothing, and what the service itself has not passed on, as often as it takes', async () => {
  const seen: string[] = []
  const url = await serve((request, response) => {
    seen.push(`${request.method}`)
    if (seen.filter((method) => method === request.method).length > 5) return void response.end('[]')
    response.writeHead(request.method === 'GET' ? 502 : 503, {
      ...(request.method === 'POST' && { 'x-svc-reason': 'Unavailable' }),
    })
    response.end()
  })
  const { url: local } = await forwardTo(url)
  expect((await fetch(`${local}/llmo/v1/models`)).status).toBe(200)
  expect((await fetch(`${local}/llma/v1/messages`, call)).status).toBe(200)
})

const refused = { error: { message: 'too much was asked', type: 'rate_limit_error' } }
const gzipped = gzipSync(JSON.stringify(refused))
const frame = (data: object) => `data: ${JSON.stringify(data)}\n\n`
const stream = { 'content-type': 'text/event-stream' }

it.each([
  ['an error', 429, 'TooManyRequests', {}, JSON.stringify(refused)],
  ['a compressed error', 429, 'TooManyRequests', { 'content-encoding': 'gzip' }, gzipped],
  [
    'a stream of chat completions',
    200,
    undefined,
    stream,
    `${frame({ choices: [] })}${frame(refused)}data: [DONE]\n\n`,
  ],
  ['a stream of messages', 200, undefined, stream, `event: error\n${frame({ type: 'error', ...refused })}`],
  ['a stream of responses', 200, undefined, stream, frame({ type: 'response.failed', response: refused })],
  ['an event of responses', 200, undefined, stream, frame({ type: 'error', message: refused.error.message })],
] as const)('keeps what a call was refused with: %s', async (...[, status, reason, headers, body]) => {
  const url = await serve((_request, response) => {
    response.writeHead(status, { ...headers, ...(reason && { 'x-svc-reason': reason }) }).end(body)
  })
  const { url: local, lastRefusal } = await forwardTo(url)
  await (await fetch(`${local}/llmo/v1/responses`, call)).text()
  await vi.waitFor(() =>
    expect(lastRefusal()).toEqual({ status, ...(reason && { reason }), message: 'too much was asked' }),
  )
})

it('forgets a refusal only when a call that began later was answered', async () => {
  const waiting: (() => void)[] = []
  const url = await serve(async (request, response) => {
    const body = await text(request)
    if (body === 'refused') return void response.writeHead(429).end('slowly')
    if (body === 'held') return void waiting.push(() => response.end('fine'))
    response.end('fine')
  })
  const { url: local, lastRefusal } = await forwardTo(url)
  const ask = async (body: string) => (await fetch(local, { ...call, body })).text()
  const early = ask('held')
  await vi.waitFor(() => expect(waiting).toHaveLength(1))
  await ask('refused')
  await vi.waitFor(() => expect(lastRefusal()).toEqual({ status: 429, message: 'slowly' }))
  waiting[0]?.()
  await early
  await fetch(`${local}/llmo/v1/models`)
  expect(lastRefusal()).toEqual({ status: 429, message: 'slowly' })
  await ask('later')
  await vi.waitFor(() => expect(lastRefusal()).toBeUndefined())
})

it('gives a call up after minutes with 503 and when to come again, and knows it', async () => {
  const url = await serve(() => expect.unreachable())
  await open.pop()?.close()
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
