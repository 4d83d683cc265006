// The gate of one attempt: a proxy that takes CONNECT and requests for whole addresses, and lets through what may be reached.
// It reads no TLS, and passes WebSockets and HTTP/2 on.
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { isAddress, readHostName, writeHostName } from '../../contract/values/network-names.ts'
import { createServer } from '../../lib/node-http.ts'
import { createGateDialer, type Dialer, type DialOptions, GateRefusal, type GateTarget } from './dial.ts'
import { judgeFirstBytes } from './first-bytes.ts'
import { createForwarding, type Forwarding, refuseOn } from './forwarding.ts'

type Gate = {
  /** Listens wherever it is told to; whoever reaches it counts as the attempt. */
  server: Server
  close(): void
}

/** Of programs that are being answered, or have not asked yet, beside those that lead on: without a limit they could take all descriptors. */
const spareConnections = 256

const serverOptions = { requestTimeout: 0, headersTimeout: 60_000, keepAliveTimeout: 120_000, maxHeaderSize: 65_536 }

function readTunnel({ url = '' }: IncomingMessage): GateTarget {
  const { host, port } = readHostName(url) ?? {}
  if (host === undefined || port === undefined || url.startsWith('*'))
    throw new GateRefusal(400, 'CONNECT needs a host and a port, as in example.com:443')
  return { host, port }
}

type Tunnel = { target: GateTarget; client: Duplex; upstream: Socket }

/** What has been received is still passed on, unless the connection was cut. */
function endAfter(upstream: Socket, client: Duplex): void {
  if (upstream.readableEnded) client.end(() => client.destroy())
  else client.destroy()
}

/** Passes on what the server says at once, and what the client says once it is judged. */
function judgeClient(
  { target, client, upstream }: Tunnel,
  head: Buffer,
  options: { dialer: Dialer; serveHttp(first: Buffer): void },
): void {
  let first = head
  const isName = !isAddress(target.host)
  const stop = () => {
    client.off('data', take)
    client.off('end', end)
    client.pause()
  }
  const end = () => void upstream.destroy()
  function take(chunk: Buffer): void {
    first = first.length === 0 ? chunk : Buffer.concat([first, chunk])
    const verdict = judgeFirstBytes(first, { ...target, isName })
    if (verdict === 'wait') return
    stop()
    if (verdict === 'raw') {
      upstream.write(first)
      client.pipe(upstream)
      upstream.on('close', () => endAfter(upstream, client))
      upstream.resume()
      return
    }
    upstream.destroy()
    if (verdict === 'http') {
      options.serveHttp(first)
      return
    }
    options.dialer.refuse(target, `${writeHostName(target)}: ${verdict.refuse}`)
    client.destroy()
  }
  client.on('data', take)
  client.on('end', end)
  client.on('error', () => upstream.destroy())
  client.on('close', () => upstream.destroy())
  upstream.on('error', () => client.destroy())
  if (target.port !== 80 && target.port !== 443) upstream.resume()
  if (head.length > 0) {
    first = Buffer.alloc(0)
    take(head)
  }
}

function createInnerServer(forwarding: Forwarding, tunnels: WeakMap<object, GateTarget>): Server {
  const inner = createServer(serverOptions, (request, response) =>
    forwarding.request(request, response, tunnels.get(request.socket)),
  )
  inner.on('upgrade', (request, socket, head) => forwarding.upgrade(request, socket, head, tunnels.get(request.socket)))
  inner.on('clientError', (_error, socket) => socket.destroy())
  return inner
}

export function createGate(options: DialOptions): Gate {
  const dialer = createGateDialer(options)
  const forwarding = createForwarding(dialer, ({ host, port }) => options.judge(host, port) === 'allow')
  const tunnels = new WeakMap<object, GateTarget>()
  const inner = createInnerServer(forwarding, tunnels)
  const clients = new Set<Duplex>()

  async function openTunnel(request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    client.on('error', () => client.destroy())
    const target = readTunnel(request)
    const upstream = await dialer.dial(target, { to: client })
    if (client.destroyed) return void upstream.destroy()
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    const serveHttp = (first: Buffer) => {
      tunnels.set(client, target)
      client.unshift(first)
      inner.emit('connection', client)
      client.resume()
    }
    judgeClient({ target, client, upstream }, head, { dialer, serveHttp })
  }

  const server = createServer(serverOptions, (request, response) => forwarding.request(request, response))
  server.on('connection', (socket) => {
    clients.add(socket)
    socket.once('close', () => clients.delete(socket))
  })
  server.on('connect', (request, client, head) => {
    openTunnel(request, client, head).catch((error: unknown) => refuseOn(client, error))
  })
  server.on('upgrade', (request, socket, head) => forwarding.upgrade(request, socket, head))
  server.on('clientError', (_error, socket) => socket.destroy())
  server.maxConnections = options.limits.connections + spareConnections
  server.on('drop', () => options.onLimit('connections'))
  return {
    server,
    close() {
      server.close()
      for (const client of clients) client.destroy()
      forwarding.close()
      dialer.close()
    },
  }
}
