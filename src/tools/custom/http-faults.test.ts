// HTTP tools against servers that redirect, rebind their name, are slow, send too much, or lie about what they send.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createSocketServer, type Server, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import type { AssignedHttpTool } from '../../contract/api/tools/assigned-tool.ts'
import type { Resolve } from '../../egress/dialer.ts'
import { createEgress } from '../../egress/egress.ts'
import { createToolHost } from '../registry/registry.ts'
import type { ToolContext } from '../registry/tool.ts'
import { createHttpTool } from './http-tool.ts'

const never = new AbortController().signal
const token = 'token-of-the-tool-0123'
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  return (server.address() as AddressInfo).port
}

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer)
  const port = await listen(server)
  closing.push(() => server.closeAllConnections())
  return `http://127.0.0.1:${port}`
}

/** Answers each connection with these bytes, whatever was asked. */
async function serveBytes(write: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createSocketServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => write(socket))
  })
  const port = await listen(server)
  closing.push(() => {
    for (const socket of sockets) socket.destroy()
  })
  return `http://127.0.0.1:${port}`
}

/** What a model gets of one call. */
async function ask(url: string, http: Partial<AssignedHttpTool['http']> = {}, resolve?: Resolve) {
  const egress = createEgress(resolve === undefined ? {} : { resolve })
  closing.push(() => egress.close())
  const context = { egress, egressPolicy: { allowNetworks: ['127.0.0.1/32'], deny: [] } } as unknown as ToolContext
  const auth = { inject: 'header', token } as const
  const standard = { method: 'POST' as const, headers: {}, timeoutMs: 60_000, auth }
  const tool = createHttpTool({
    name: 'lookup',
    description: 'looks up',
    parameters: {},
    http: { ...standard, url, ...http },
  })
  const host = createToolHost({ builtin: [], custom: [tool], context })
  const { content } = await host.call({ id: '1', name: 'lookup', args: { a: 1 } }, never)
  expect(content).not.toContain(token)
  expect(Buffer.byteLength(content)).toBeLessThan(65_536)
  return JSON.parse(content)
}

/** Sends the beginning, then the text again and again. */
function drip(socket: Socket, beginning: string, text: string): void {
  socket.write(beginning)
  const timer = setInterval(() => socket.write(text), 5)
  closing.push(() => clearInterval(timer))
}

describe('a server that redirects', () => {
  it.each([
    'http://169.254.169.254/latest/meta-data',
    'http://127.0.0.2/',
    'http://[::ffff:169.254.169.254]/',
    'http://2130706434/',
    'file:///etc/passwd',
  ])('leads nowhere that is not permitted: %s', async (location) => {
    const url = await serve((_request, response) => void response.writeHead(302, { location }).end())
    for (const method of ['GET', 'POST'] as const) {
      expect(await ask(url, { method })).toMatchObject({ success: false, errorType: 'forbidden' })
    }
  })

  it('to another origin gets the token there in no header and no body', async () => {
    const seen: string[] = []
    const other = await serve((request, response) => {
      seen.push(JSON.stringify([request.method, request.headers]))
      response.end('from elsewhere')
    })
    const url = await serve((request, response) => {
      response.writeHead(request.url === '/kept' ? 307 : 302, { location: `${other}/x` }).end()
    })
    expect(await ask(url, { headers: { 'X-Api-Key': token } })).toMatchObject({ success: true, body: 'from elsewhere' })
    expect(seen).toHaveLength(1)
    expect(seen[0]).not.toContain(token)
    const inBody = { auth: { inject: 'body', bodyKey: 'key', token } } as const
    expect(await ask(`${url}/kept`, inBody)).toMatchObject({ success: false, errorType: 'forbidden' })
    expect(seen).toHaveLength(1)
  })

  it('for ever is followed five times', async () => {
    let asked = 0
    const url = await serve((_request, response) => void response.writeHead(302, { location: `/${asked++}` }).end())
    expect(await ask(url)).toMatchObject({ success: false, errorType: 'upstream_error' })
    expect(asked).toBe(6)
  })
})

it('a server that binds its name anew is not followed to a forbidden address: not by a redirect, not by the next call', async () => {
  let asked = 0
  const url = await serve((_request, response) => {
    asked += 1
    response.writeHead(302, { location: '/again', connection: 'close' }).end()
  })
  let lookups = 0
  const resolve = async () => [{ address: lookups++ === 0 ? '127.0.0.1' : '169.254.169.254', family: 4 }]
  const named = url.replace('127.0.0.1', 'tool.example')
  for (const _call of [1, 2]) {
    expect(await ask(named, {}, resolve)).toMatchObject({
      success: false,
      errorType: 'forbidden',
      error: expect.stringContaining('169.254.169.254'),
    })
  }
  expect(asked).toBe(1)
})

describe('a slow server is given up after the time limit', () => {
  it.each<[string, (socket: Socket) => void]>([
    ['that says nothing', () => {}],
    ['whose head never ends', (socket) => drip(socket, 'HTTP/1.1 200 OK\r\n', 'X: y\r\n')],
    [
      'that keeps announcing its answer',
      (socket) => drip(socket, '', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'),
    ],
    ['whose body never ends', (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n', 'a')],
  ])('%s', async (_what, write) => {
    const url = await serveBytes(write)
    expect(await ask(url, { timeoutMs: 300 })).toMatchObject({ success: false, errorType: 'timeout' })
  })
})

describe('a huge answer', () => {
  it.each<[string, Buffer]>([
    ['is cut', Buffer.alloc(15_000_000, 'a')],
    ['is cut though it is small on its way', gzipSync(Buffer.alloc(15_000_000, 'a'))],
  ])('%s', async (_what, body) => {
    const url = await serve((_request, response) => {
      if (body[0] === 0x1f) response.setHeader('content-encoding', 'gzip')
      response.end(body)
    })
    expect(await ask(url)).toMatchObject({
      success: true,
      truncated: true,
      note: expect.stringContaining('more than 10485760 bytes'),
    })
  })

  it('that is an error is cut as well', async () => {
    const url = await serve((_request, response) => void response.writeHead(500).end(Buffer.alloc(15_000_000, 'a')))
    const { success, error } = await ask(url)
    expect([success, error.length < 2200]).toEqual([false, true])
  })
})

describe('a server that lies', () => {
  const reply = (head: string, body = '') => `HTTP/1.1 ${head}\r\nConnection: close\r\n\r\n${body}`

  it.each<[string, string]>([
    ['promises more than it sends', reply('200 OK\r\nContent-Length: 100', 'short')],
    ['does not speak HTTP', 'SSH-2.0-OpenSSH_9.7\r\n'],
    ['has a length of its own', reply('200 OK\r\nContent-Length: -5', 'x')],
    ['names two lengths', reply('200 OK\r\nContent-Length: 1\r\nContent-Length: 3', 'abc')],
    ['packs nothing that can be unpacked', reply('200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5', 'plain')],
    ['breaks off in a chunk', reply('200 OK\r\nTransfer-Encoding: chunked', 'ff\r\nabc')],
    ['has an endless head', reply(`200 OK\r\nX: ${'a'.repeat(200_000)}`)],
    ['hangs up', ''],
  ])('and %s fails', async (_what, bytes) => {
    const url = await serveBytes((socket) => void socket.end(bytes))
    expect(await ask(url)).toMatchObject({ success: false, errorType: 'upstream_error' })
  })

  it.each<[string, string, unknown]>([
    ['says that HTML is JSON', '<html>', '<html>'],
    ['sends half of its JSON', '{"a":', '{"a":'],
    ['sends numbers that are none', '{"a":NaN}', '{"a":NaN}'],
    ['sends bytes that are no text', '\xff\xfe', expect.any(String)],
  ])('and %s is quoted', async (_what, body, shown) => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(Buffer.from(body, 'latin1'))
    })
    expect(await ask(url)).toMatchObject({ success: true, body: shown })
  })

  it('and nests its JSON without end is quoted', async () => {
    const body = '['.repeat(30_000) + ']'.repeat(30_000)
    const url = await serve((_request, response) => void response.end(body))
    expect(await ask(url)).toMatchObject({ success: true, body })
  })

  it('and repeats the token in what it says of its answer shows it to nobody', async () => {
    const url = await serve(({ headers }, response) => {
      response.writeHead(200, `fine ${headers.authorization}`, { 'content-type': `text/${token}` })
      response.end(JSON.stringify({ [String(headers.authorization)]: encodeURIComponent(token) }))
    })
    expect(await ask(url)).toMatchObject({ success: true, content_type: 'text/[REDACTED]' })
  })
})
