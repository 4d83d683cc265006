// The gate of one attempt: a proxy that takes CONNECT and requests for whole addresses, and lets through what may be reached.
// It reads no TLS, and passes WebSockets and HTTP/2 on.
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { isAddress, readHostName, writeHostName } from '../../contract/values/network-names.ts'
import { createServer } from '../../lib/node-http.ts'
import { createGateDialer, type Dialer, type DialOptions, GateRefusal, type GateTarget } from './dial.ts'
import { judgeFirstBytes } from './first-bytes.ts'
import { type ConnectRequest, maxHeadBytes, readFirstRequest } from './first-request.ts'
import { createForwarding, type Forwarding, refuseOn } from './forwarding.ts'

type Gate = {
  /** Listens wherever it is told to; whoever reaches it counts as the attempt. */
  server: Server
  accept(client: Duplex): void
  close(): void
}

/** Of programs that are being answered, or have not asked yet, beside those that lead on: without a limit they could take all descriptors. */
const spareConnections = 256

const serverOptions = {
  requestTimeout: 0,
  headersTimeout: 60_000,
  keepAliveTimeout: 120_000,
  maxHeaderSize: maxHeadBytes,
}

function readTunnel(authority: string): GateTarget {
  const { host, port } = readHostName(authority) ?? {}
  if (host === undefined || port === undefined || authority.startsWith('*'))
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
  let isJudged = false
  const isName = !isAddress(target.host)
  const stop = () => {
    isJudged = true
    client.off('data', take)
    client.off('end', end)
    client.pause()
  }
  const end = () => void upstream.destroy()
  const gone = () => endAfter(upstream, client)
  function take(chunk: Buffer): void {
    first = first.length === 0 ? chunk : Buffer.concat([first, chunk])
    const verdict = judgeFirstBytes(first, { ...target, isName })
    if (verdict === 'wait') return
    stop()
    if (verdict === 'raw') {
      upstream.write(first)
      client.pipe(upstream)
      upstream.resume()
      return
    }
    upstream.off('close', gone)
    upstream.destroy()
    if (verdict === 'http') {
      options.serveHttp(first)
      return
    }
    options.dialer.refuse(target, `${writeHostName(target)}: ${verdict.refuse}`)
    client.destroy()
  }
  client.on('data', take)
  client.resume()
  client.on('end', end)
  client.on('close', () => upstream.destroy())
  upstream.on('error', () => client.destroy())
  upstream.on('close', gone)
  if (target.port !== 80 && target.port !== 443) upstream.resume()
  if (head.length > 0) {
    first = Buffer.alloc(0)
    take(head)
  }
  // It may have ended before anybody listened.
  if (!isJudged && client.readableEnded) end()
}

/** Each request of a connection is judged, in a tunnel too. Its own listener of connections is replaced by the caller. */
function createHttp(forwarding: Forwarding, tunnels: WeakMap<object, GateTarget>): Server {
  const http = createServer(serverOptions, (request, response) =>
    forwarding.request(request, response, tunnels.get(request.socket)),
  )
  http.on('upgrade', (request, socket, head) => forwarding.upgrade(request, socket, head, tunnels.get(request.socket)))
  http.on('clientError', (_error, socket) => socket.destroy())
  return http
}

export function createGate(options: DialOptions): Gate {
  const dialer = createGateDialer(options)
  const forwarding = createForwarding(dialer, ({ host, port }) => options.judge(host, port) === 'allow')
  const tunnels = new WeakMap<object, GateTarget>()
  const server = createHttp(forwarding, tunnels)
  const [serve] = server.listeners('connection') as [(client: Duplex) => void]
  const clients = new Set<Duplex>()

  function serveHttp(client: Duplex): void {
    serve.call(server, client)
    client.resume()
  }

  async function openTunnel(client: Duplex, target: GateTarget, rest: Buffer): Promise<void> {
    const upstream = await dialer.dial(target, { to: client })
    if (client.destroyed) return void upstream.destroy()
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    judgeClient({ target, client, upstream }, rest, {
      dialer,
      serveHttp(first) {
        tunnels.set(client, target)
        client.unshift(first)
        serveHttp(client)
      },
    })
  }

  function connect(client: Duplex, { target: authority, rest }: ConnectRequest): void {
    const refuse = (error: unknown) => refuseOn(client, error)
    try {
      const target = readTunnel(authority)
      dialer.judge(target)
      openTunnel(client, target, rest).catch(refuse)
    } catch (error) {
      refuse(error)
    }
  }

  function accept(client: Duplex): void {
    client.on('error', () => client.destroy())
    if (client.destroyed) return
    if (clients.size >= options.limits.connections + spareConnections) {
      options.onLimit('connections')
      return void client.destroy()
    }
    clients.add(client)
    client.once('close', () => clients.delete(client))
    readFirstRequest(client, {
      destroyAfterMs: serverOptions.headersTimeout,
      connect: (request) => connect(client, request),
      other: () => serveHttp(client),
    })
  }

  server.on('connect', ({ url = '', socket }, client, rest) =>
    tunnels.has(socket) ? client.destroy() : connect(client, { target: url, rest }),
  )
  server.off('connection', serve).on('connection', accept)
  return {
    server,
    accept,
    close() {
      server.close()
      for (const client of clients) client.destroy()
      forwarding.close()
      dialer.close()
    },
  }
}
