// Clients that misbehave on the wire.
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ownerToken, type Service, startService } from './service.ts'

let service: Service
let port: number
beforeAll(async () => {
  service = await startService({ http: { headersTimeoutMs: 300, requestTimeoutMs: 600, timeoutCheckMs: 50 } })
  port = Number(new URL(await service.listen()).port)
})
afterAll(() => service.stop())

const mebibyte = 1_048_576

function open(): { socket: Socket; ended: Promise<string> } {
  const socket = connect(port, '127.0.0.1')
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

async function exchange(text: string): Promise<string> {
  const { socket, ended } = open()
  socket.write(text)
  return ended
}

describe('a client that', () => {
  it('sends its headers too slowly is let go', async () => {
    const answer = await exchange('GET /healthz HTTP/1.1\r\nHost: local')
    expect(answer).toMatch(/^HTTP\/1\.1 408 /)
    expect(answer).toContain('"code":408')
  })

  it('sends its body too slowly is let go', async () => {
    expect(await exchange(`${post(['Content-Length: 100'])}{"name":`)).toMatch(/^HTTP\/1\.1 408 /)
  })

  it('names no Host is refused [HTTP-043]', async () => {
    expect(await exchange('GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /)
    expect(await exchange('GET /healthz HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 403 /)
    expect(await exchange('GET /healthz HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 403 /)
  })

  it('speaks no HTTP gets an answer in the usual form', async () => {
    const answer = await exchange('hello?\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain('"reason":"InvalidRequest"')
  })

  it('sends headers without end is refused', async () => {
    expect(await exchange(`GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 431 /,
    )
  })

  it('vanishes in the middle of its body leaves the service well', async () => {
    const { socket, ended } = open()
    socket.write(`${post(['Content-Length: 100'])}{"name":`)
    socket.destroy()
    await ended
    expect((await service.call('GET /healthz')).statusCode).toBe(200)
  })

  it.each([
    ['with its length told', `Content-Length: ${16 * mebibyte}`, (part: string) => part],
    ['in chunks', 'Transfer-Encoding: chunked', (part: string) => `${part.length.toString(16)}\r\n${part}\r\n`],
  ])('sends 16 MiB %s gets its 413 and may go on with the connection [HTTP-031]', async (_title, header, wrap) => {
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

describe('a header that must be there once', () => {
  it.each([
    ['Host', ['Host: localhost', 'Host: evil.example']],
    ['Authorization', ['Host: localhost', authorization, 'Authorization: Bearer other']],
  ])('is refused when it is there twice: %s', async (_name, headers) => {
    const answer = await exchange(`${['GET /healthz HTTP/1.1', ...headers, 'Connection: close'].join('\r\n')}\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain('is there 2 times')
  })
})
