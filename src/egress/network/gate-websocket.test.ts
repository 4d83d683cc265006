// WebSockets pass the gate as they are: over its proxy, in a tunnel without TLS, and within TLS.
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, request } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import type { Duplex } from 'node:stream'
import { ProxyAgent, WebSocket } from 'undici'
import { afterEach, describe, expect, it } from 'vitest'
import { hasOpenssl, makeCertificate } from '../../../test/fixtures/certificates.ts'
import { createHostJudge } from '../../rules/workspaces/network.ts'
import { createGate } from './gate.ts'
import { createTraffic } from './traffic.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** The text of one short frame of a client, whose bytes are masked (RFC 6455 section 5.2). */
function readFrame(frame: Buffer): string {
  const size = (frame[1] ?? 0) & 127
  const mask = frame.subarray(2, 6)
  return Buffer.from(frame.subarray(6, 6 + size).map((byte, at) => byte ^ (mask[at % 4] ?? 0))).toString()
}

function writeFrame(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x81, text.length]), Buffer.from(text)])
}

/** Answers each text with the host that it was asked as and the text itself. */
function serveSocket({ headers }: IncomingMessage, socket: Duplex): void {
  const accept = createHash('sha1')
    .update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64')
  socket.on('error', () => undefined)
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  )
  socket.on('data', (frame: Buffer) => {
    if (((frame[0] ?? 0) & 15) === 1) socket.write(writeFrame(`${headers.host}: ${readFrame(frame)}`))
    else socket.end()
  })
}

async function listen(server: Server): Promise<number> {
  server.on('upgrade', serveSocket)
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done))
  closing.push(() => server.close())
  return (server.address() as AddressInfo).port
}

async function openGate(leads: number) {
  const counted = new Map<string, number>()
  const traffic = createTraffic(
    (changed) => {
      for (const { host, port, received } of changed) counted.set(`${host}:${port}`, received)
    },
    { bytes: 0, reached: new Set() },
  )
  const gate = createGate({
    judge: createHostJudge({ allow: ['good.example'], onUnknown: 'refuse', ports: [80, 443] }),
    policy: { allowNetworks: [], deny: [] },
    limits: { connections: 10, bytes: 1e6 },
    traffic,
    onLimit: () => undefined,
    ask: async () => 'pending',
    resolve: async () => [{ address: '93.184.216.34', family: 4 }],
    redirect: () => ({ host: '127.0.0.1', port: leads }),
  })
  await new Promise<void>((done) => void gate.server.listen(0, '127.0.0.1', done))
  closing.push(gate.close)
  const readCounted = () => {
    traffic.flush()
    return counted
  }
  return { port: (gate.server.address() as AddressInfo).port, counted: readCounted }
}

async function talk(url: string, proxy: ProxyAgent): Promise<string[]> {
  closing.push(() => proxy.destroy())
  const socket = new WebSocket(url, { dispatcher: proxy })
  const heard: string[] = []
  const over = new Promise<void>((done, fail) => {
    socket.addEventListener('open', () => socket.send('one'))
    socket.addEventListener('error', (event) => fail(event.error))
    socket.addEventListener('message', ({ data }) => {
      heard.push(String(data))
      if (heard.length === 1) socket.send('two')
      else done()
    })
  })
  await over
  socket.close()
  return heard
}

describe('a WebSocket', () => {
  it('passes without TLS, in a tunnel', async () => {
    const gate = await openGate(await listen(createServer()))
    const proxy = new ProxyAgent({ uri: `http://127.0.0.1:${gate.port}`, proxyTunnel: true })
    expect(await talk('ws://good.example/', proxy)).toEqual(['good.example: one', 'good.example: two'])
    await expect.poll(() => gate.counted().get('good.example:80')).toBeGreaterThan(0)
  })

  it('passes without TLS, as a request to the proxy', async () => {
    const gate = await openGate(await listen(createServer()))
    const headers = {
      host: 'good.example',
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': Buffer.alloc(16).toString('base64'),
    }
    const sent = request({ host: '127.0.0.1', port: gate.port, path: 'http://good.example/', headers })
    sent.end()
    const [answer, socket] = await new Promise<[IncomingMessage, Duplex]>((done, fail) => {
      sent.once('upgrade', (got, upgraded) => done([got, upgraded]))
      sent.once('error', fail)
    })
    expect([answer.statusCode, answer.headers['sec-websocket-accept']]).toEqual([101, expect.any(String)])
    socket.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]))
    const frame = await new Promise<Buffer>((done) => void socket.once('data', done))
    expect(frame.subarray(2).toString()).toBe('good.example: hi')
    socket.destroy()
  })

  it('is refused where its host is not listed', async () => {
    const gate = await openGate(await listen(createServer()))
    const proxy = new ProxyAgent({ uri: `http://127.0.0.1:${gate.port}`, proxyTunnel: true })
    await expect(talk('ws://other.example/', proxy)).rejects.toThrow()
  })

  it.skipIf(!hasOpenssl)('passes within TLS, which nobody opens on the way', async () => {
    const { cert, key, remove } = makeCertificate('good.example', ['good.example'])
    closing.push(remove)
    const gate = await openGate(await listen(createSecureServer({ cert, key })))
    const proxy = new ProxyAgent({
      uri: `http://127.0.0.1:${gate.port}`,
      proxyTunnel: true,
      requestTls: { ca: cert },
    })
    expect(await talk('wss://good.example/', proxy)).toEqual(['good.example: one', 'good.example: two'])
    await expect.poll(() => gate.counted().get('good.example:443')).toBeGreaterThan(0)
  })
})
