import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createAgent, getAgent } from '../contract/api/agents/agents.ts'
import { deleteTask, getTaskLogs, listTasks } from '../contract/api/tasks/tasks.ts'
import type { SvcError } from '../errors.ts'
import { createApiClient } from './client.ts'
import { readEvents } from './event-stream.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const opened: ReturnType<typeof createServer>[] = []
afterEach(async () => {
  for (const server of opened.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

async function serve(handler: Handler): Promise<string> {
  const server = createServer(handler)
  opened.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function answer(status: number, body: string, headers: Record<string, string> = {}): Handler {
  return (_request, response) => response.writeHead(status, headers).end(body)
}

async function fail(url: string): Promise<SvcError> {
  const call = createApiClient({ url, token: 't' }).call(getAgent, { params: { name: 'a' } })
  return call.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: SvcError) => error,
  )
}

describe('the client', () => {
  it('sends path, query, headers and body as the route declares them', async () => {
    const seen: Record<string, unknown> = {}
    const url = await serve((request, response) => {
      Object.assign(seen, { method: request.method, url: request.url, token: request.headers.authorization })
      response.setHeader('content-type', 'application/json')
      request.on('data', (chunk: Buffer) => Object.assign(seen, { body: JSON.parse(chunk.toString()) }))
      request.on('end', () => response.end('{"items":[],"metadata":{}}'))
    })
    const client = createApiClient({ url, token: 'secret' })
    await client.call(listTasks, { query: { namespace: 'a b', phase: 'Failed', type: undefined } })
    expect(seen).toMatchObject({ url: '/api/v1/tasks?namespace=a+b&phase=Failed', token: 'Bearer secret' })
    await client.call(getAgent, { params: { name: '../x/y' } })
    expect(seen).toMatchObject({ method: 'GET', url: '/api/v1/agents/..%2Fx%2Fy' })
    await client.call(createAgent, { body: { name: 'a', spec: {} } })
    expect(seen).toMatchObject({ method: 'POST', body: { name: 'a', spec: {} } })
  })

  it('keeps the path of an address behind a proxy', async () => {
    const paths: (string | undefined)[] = []
    const url = await serve((request, response) => {
      paths.push(request.url)
      response.end('{"items":[],"metadata":{}}')
    })
    for (const base of [`${url}/svc`, `${url}/svc/`]) await createApiClient({ url: base, token: 't' }).call(listTasks)
    expect(paths).toEqual(['/svc/api/v1/tasks', '/svc/api/v1/tasks'])
  })

  it('returns undefined for an empty answer', async () => {
    const url = await serve(answer(204, ''))
    expect(await createApiClient({ url, token: 't' }).call(deleteTask, { params: { id: 'a' } })).toBeUndefined()
  })

  it('passes on the reason, the problems and the waiting time of an error', async () => {
    const details = [{ path: 'spec.a', message: 'is wrong' }]
    const body = { error: { code: 429, reason: 'TooManyRequests', message: 'slowly', details, requestId: 'r' } }
    const url = await serve(answer(429, JSON.stringify(body), { 'retry-after': '7' }))
    expect(await fail(url)).toMatchObject({
      reason: 'TooManyRequests',
      message: 'slowly',
      details,
      retryAfterSeconds: 7,
    })
  })

  it('describes the answer when the server is not a svc service', async () => {
    const page = await fail(await serve(answer(200, '<html>hello</html>', { 'content-type': 'text/html' })))
    expect(page).toMatchObject({ reason: 'UpstreamFailed', message: expect.stringContaining('is not a svc service') })
    const missing = await fail(await serve(answer(404, '<html>not here</html>')))
    expect(missing).toMatchObject({ reason: 'NotFound', message: expect.stringContaining('<html>not here') })
  })

  it('follows no redirect with its token', async () => {
    const requests: string[] = []
    const elsewhere = await serve((request, response) => {
      requests.push(request.url ?? '')
      response.end('{}')
    })
    const url = await serve(answer(302, '', { location: elsewhere }))
    expect(await fail(url)).toMatchObject({ reason: 'Unavailable' })
    expect(requests).toEqual([])
  })

  it('names the address and the cause when nothing listens there', async () => {
    const url = await serve(answer(200, '{}'))
    const [server] = opened.splice(0)
    await new Promise((resolve) => server?.close(resolve))
    const error = await fail(url)
    expect(error.reason).toBe('Unavailable')
    expect(error.message).toBe(`${url} cannot be reached (connect ECONNREFUSED ${url.replace('http://', '')})`)
  })
})

describe('an event stream', () => {
  async function read(url: string): Promise<string[]> {
    const lines: string[] = []
    const client = createApiClient({ url, token: 't' })
    const input = { params: { id: 'a' }, query: { follow: true } }
    for await (const event of readEvents(client, getTaskLogs, input)) lines.push(event.data)
    return lines
  }

  it('resumes after the last event when the connection breaks, until the stream ends', async () => {
    const resumed: (string | undefined)[] = []
    const parts = ['id: 1\ndata: one\n\nid: 2\ndata: two\n\n', 'id: 3\ndata: three\n\nevent: end\ndata: {}\n\n']
    const url = await serve((request, response) => {
      resumed.push(request.headers['last-event-id'] as string | undefined)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(parts.shift() ?? '', () => response.destroy())
    })
    expect(await read(url)).toEqual(['one', 'two', 'three'])
    expect(resumed).toEqual([undefined, '2'])
  })

  it('stops at once when the service refuses it', async () => {
    let requests = 0
    const refusal = JSON.stringify({ error: { code: 404, reason: 'NotFound', message: 'gone', requestId: 'r' } })
    const url = await serve((_request, response) => {
      requests += 1
      if (requests > 1) return response.writeHead(404).end(refusal)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      return response.write('id: 1\ndata: one\n\n', () => response.destroy())
    })
    await expect(read(url)).rejects.toThrow('gone')
    expect(requests).toBe(2)
  })

  it('starts again when the connection broke before an event had an id', async () => {
    const parts = ['data: one\n\n', 'data: one\n\nid: 2\ndata: two\n\n', 'event: end\ndata: {}\n\n']
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(parts.shift() ?? '', () => response.destroy())
    })
    const received: string[] = []
    const input = { params: { id: 'a' }, query: { follow: true } }
    const events = readEvents(createApiClient({ url, token: 't' }), getTaskLogs, input, () => received.push('begin'))
    for await (const { data } of events) received.push(data)
    expect(received).toEqual(['begin', 'one', 'begin', 'one', 'two'])
  })

  it('ends when its consumer leaves', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('id: 1\ndata: one\n\n')
    })
    const stop = new AbortController()
    const client = createApiClient({ url, token: 't' })
    const input = { params: { id: 'a' }, query: { follow: true }, signal: stop.signal }
    const reading = (async () => {
      for await (const _event of readEvents(client, getTaskLogs, input)) stop.abort()
    })()
    await expect(reading).rejects.toThrow(/abort/i)
  })
})
