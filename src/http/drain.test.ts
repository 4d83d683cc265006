import { Agent, get, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { fastify } from 'fastify'
import { describe, expect, it } from 'vitest'
import { createDrain } from './drain.ts'

/** Longer than any test may take: a drain that ends did not wait for it. */
const longMs = 3_600_000

async function startServer() {
  const server = fastify({ keepAliveTimeout: longMs, forceCloseConnections: 'idle', return503OnClosing: false })
  const drain = createDrain(server)
  let finish = () => {}
  server.get('/stream', (_request, reply) => {
    reply.hijack()
    reply.raw.writeHead(200, { 'content-type': 'text/plain' })
    reply.raw.write('begun ')
    finish = () => void reply.raw.end('ended')
  })
  server.get('/', () => 'hello')
  const url = new URL(await server.listen({ host: '127.0.0.1', port: 0 }))
  return { server, drain, url, finish: () => finish() }
}

async function openSocket(url: URL): Promise<{ socket: Socket; closed: Promise<void> }> {
  const socket = connect(Number(url.port), url.hostname)
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.on('error', () => {})
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()))
  return { socket, closed }
}

describe('the drain', () => {
  it('does not wait for connections that have not carried a request', async () => {
    const { drain, url } = await startServer()
    const { closed } = await openSocket(url)
    await drain.run(longMs)
    await closed
  })

  it('answers a request that was already on its way on a new connection', async () => {
    const { drain, url } = await startServer()
    const { socket, closed } = await openSocket(url)
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    const drained = drain.run(longMs)
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await Promise.all([drained, closed])
    expect(text).toMatch(/^HTTP\/1\.1 200 [\s\S]*connection: close[\s\S]*hello$/)
  })

  it('lets a stream end, and does not wait for its keep-alive connection', async () => {
    const { drain, url, finish } = await startServer()
    const agent = new Agent({ keepAlive: true })
    const answer = await new Promise<IncomingMessage>((resolve) => get(new URL('/stream', url), { agent }, resolve))
    const text = readText(answer)
    const drained = drain.run(longMs)
    finish()
    expect(await text).toBe('begun ended')
    await drained
  })
})
