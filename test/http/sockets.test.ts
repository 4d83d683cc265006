// Clients that misbehave on the wire.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aiTask, ownerToken, type Service, startService } from './service.ts'

let service: Service
let port: number
beforeAll(async () => {
  service = await startService()
  port = await listen(service)
})
afterAll(() => service.stop())

const mebibyte = 1_048_576

async function listen(on: Service): Promise<number> {
  return Number(new URL(await on.listen()).port)
}

function open(at = port): { socket: Socket; ended: Promise<string> } {
  const socket = connect(at, '127.0.0.1')
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.on('error', () => {})
  return { socket, ended: new Promise((resolve) => socket.on('close', () => resolve(text))) }
}

const authorization = `Authorization: Bearer ${ownerToken}`
const post = (headers: string[]) =>
  [
    'POST /api/v1/tasks HTTP/1.1',
    'Host: localhost',
    authorization,
    'Content-Type: application/json',
    ...headers,
    '',
    '',
  ].join('\r\n')

async function exchange(text: string, at = port): Promise<string> {
  const { socket, ended } = open(at)
  socket.write(text)
  return ended
}

describe('a client that is slow', () => {
  let hasty: Service
  let at: number
  beforeAll(async () => {
    hasty = await startService({ http: { headersTimeoutMs: 300, requestTimeoutMs: 600, timeoutCheckMs: 50 } })
    at = await listen(hasty)
  })
  afterAll(() => hasty.stop())

  it('is disconnected in the middle of its headers', async () => {
    const answer = await exchange('GET /healthz HTTP/1.1\r\nHost: local', at)
    expect(answer).toMatch(/^HTTP\/1\.1 408 /)
    expect(answer).toContain('"code":408')
  })

  it('is disconnected in the middle of its body', async () => {
    expect(await exchange(`${post(['Content-Length: 100'])}{"name":`, at)).toMatch(/^HTTP\/1\.1 408 /)
  })
})

describe('a client that', () => {
  it('names no Host is refused [HTTP-043]', async () => {
    const unnamed = await exchange('GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n')
    expect(unnamed).toMatch(/^HTTP\/1\.1 400 /)
    expect(unnamed).toContain('the header Host is missing')
    expect(await exchange('GET /healthz HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 403 /)
    expect(await exchange('GET /healthz HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 403 /)
  })

  it('does not speak HTTP gets an error in the usual form', async () => {
    const answer = await exchange('hello?\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain('"reason":"InvalidRequest"')
  })

  it('sends endless headers is refused', async () => {
    expect(await exchange(`GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 431 /,
    )
  })

  it('disappears in the middle of its body does not harm the service', async () => {
    const { socket, ended } = open()
    socket.write(`${post(['Content-Length: 100'])}{"name":`)
    socket.destroy()
    await ended
    expect((await service.call('GET /healthz')).statusCode).toBe(200)
  })

  it.each([
    ['with its length told', `Content-Length: ${16 * mebibyte}`, (part: string) => part],
    ['in chunks', 'Transfer-Encoding: chunked', (part: string) => `${part.length.toString(16)}\r\n${part}\r\n`],
  ])('sends 16 MiB %s gets its 413 and may continue to use the connection [HTTP-031]', async (_title, header, wrap) => {
    const { socket, ended } = open()
    const part = 'x'.repeat(mebibyte)
    socket.write(post([header]))
    for (let sent = 0; sent < 16; sent++) socket.write(wrap(part))
    if (header.startsWith('Transfer')) socket.write('0\r\n\r\n')
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    const answers = (await ended).match(/HTTP\/1\.1 \d+/g)
    expect(answers).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200'])
  })

  it('asks for a path as if we were a proxy is refused for its host, whatever Host says [HTTP-043]', async () => {
    const ask = (target: string) => exchange(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
    expect(await ask('http://evil.example/healthz')).toMatch(/^HTTP\/1\.1 403 /)
    expect(await ask('http://localhost/healthz')).toMatch(/^HTTP\/1\.1 200 /)
  })
})

describe('a header that may occur once only', () => {
  it.each([
    ['Host', ['Host: localhost', 'Host: evil.example']],
    ['Authorization', ['Host: localhost', authorization, 'Authorization: Bearer other']],
  ])('is refused when it occurs twice: %s', async (_name, headers) => {
    const answer = await exchange(`${['GET /healthz HTTP/1.1', ...headers, 'Connection: close'].join('\r\n')}\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain('occurs 2 times')
  })
})

describe('what the parser of HTTP refuses', () => {
  const long = `X: ${'x'.repeat(100_000)}`
  type Case = [title: string, request: string, status: number, shape: object]
  const bodyOf = (answer: string) => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))
  it.each<Case>([
    ['headers too large', `GET /healthz HTTP/1.1\r\n${long}`, 431, { reason: 'HeadersTooLarge', code: 431 }],
    ['a broken header', 'GET /api/v1/tasks HTTP/1.1\r\nbad header', 400, { reason: 'InvalidRequest', code: 400 }],
    ['a method nobody knows', 'BREW /healthz HTTP/1.1', 405, { reason: 'MethodNotAllowed' }],
    ['a method in small letters', 'get /nothing HTTP/1.1', 404, { reason: 'NotFound' }],
    ['no HTTP at all', 'hello', 400, { reason: 'InvalidRequest' }],
    ['a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com', 404, { reason: 'NotFound' }],
    ['a tunnel to a path', 'CONNECT /healthz HTTP/1.1\r\nHost: localhost', 405, { reason: 'MethodNotAllowed' }],
  ])('is answered in the form of the API, with an id: %s [HTTP-003]', async (_title, request, status, shape) => {
    const answer = await exchange(`${request}\r\n\r\n`)
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [A-Z]`))
    const { error } = bodyOf(answer)
    expect(error).toMatchObject(shape)
    expect(error.requestId).toMatch(/^req-/)
    expect(answer).toContain(`x-request-id: ${error.requestId}\r\n`)
    expect(answer).toContain('x-content-type-options: nosniff')
    expect(/^allow: (.*)\r$/m.exec(answer)?.[1]).toBe(status === 405 ? 'GET, HEAD' : undefined)
  })

  it.each<Case>([
    [
      'llma',
      `POST /llma/v1/messages HTTP/1.1\r\n${long}`,
      431,
      { type: 'error', error: { type: 'request_too_large' } },
    ],
    ['llma', 'GET /llma/v1/models HTTP/1.1\r\nbad header', 400, { error: { type: 'invalid_request_error' } }],
    ['llma', 'BREW /llma/v1/messages HTTP/1.1', 405, { error: { type: 'invalid_request_error' } }],
    ['llmo', `GET /llmo/v1/models?x=1 HTTP/1.1\r\n${long}`, 431, { error: { code: 'request_too_large', param: null } }],
    ['llmo', 'GET /llmo HTTP/1.1\r\nbad header', 400, { error: { type: 'invalid_request_error', code: null } }],
  ])(
    'on a path of %s is answered in the form of the family [HTTP-005] [HTTP-006]',
    async (_f, request, status, shape) => {
      const answer = await exchange(`${request}\r\n\r\n`)
      expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
      expect(bodyOf(answer)).toMatchObject(shape)
    },
  )

  it('in the body of a request is answered in the form that its path has', async () => {
    const chunked = ['Host: localhost', authorization, 'Content-Type: application/json', 'Transfer-Encoding: chunked']
    const send = (path: string) => exchange([`POST ${path} HTTP/1.1`, ...chunked, '', 'zz', '', ''].join('\r\n'))
    expect(bodyOf(await send('/llma/v1/messages'))).toMatchObject({ type: 'error' })
    expect(bodyOf(await send('/api/v1/tasks'))).toMatchObject({ error: { reason: 'InvalidRequest' } })
  })

  it('is never written into a response that has begun', async () => {
    const { socket, ended } = open()
    await service.call('POST /api/v1/tasks', { payload: aiTask('followed') })
    socket.write(`GET /api/v1/tasks/followed/logs?follow=true HTTP/1.1\r\nHost: localhost\r\n${authorization}\r\n\r\n`)
    await once(socket, 'data')
    socket.write('hello?\r\n\r\n')
    expect((await ended).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200'])
  })
})

describe('a path that cannot be read', () => {
  it.each(['/api/v1/tasks/%zz', `/api/v1/tasks/${'x'.repeat(3000)}`])(
    '%.30s has the headers of every answer',
    async (path) => {
      const answer = await exchange(
        `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${authorization}\r\nConnection: close\r\n\r\n`,
      )
      expect(answer).toMatch(/^HTTP\/1\.1 400 /)
      expect(answer).toMatch(/x-request-id: req-/)
      expect(answer).toContain('x-content-type-options: nosniff')
    },
  )
})

describe('a request that nothing takes', () => {
  it('gets 404 or 405, whatever its body is', async () => {
    const type = { 'content-type': 'text/plain' }
    expect((await service.call('POST /nothing', { payload: 'x', headers: type })).statusCode).toBe(404)
    expect((await service.call('POST /healthz', { payload: 'x', headers: type })).statusCode).toBe(405)
  })

  it('may have any Expect header', async () => {
    expect(
      await exchange('GET /healthz HTTP/1.1\r\nHost: localhost\r\nExpect: miracles\r\nConnection: close\r\n\r\n'),
    ).toMatch(/^HTTP\/1\.1 200 /)
  })
})
