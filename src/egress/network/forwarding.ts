// Requests that are readable on their way: each one is judged by the host that it names, and nothing else of it is changed.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { readHostName, writeHostName } from '../../contract/values/network-names.ts'
import { HttpAgent, request as sendRequest } from '../../lib/node-http.ts'
import { type Dialer, GateRefusal, type GateTarget } from './dial.ts'

/** Of one connection, not of the message (RFC 9110 section 7.6.1), and for the proxy alone. */
const ownHeaders = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'te',
  'transfer-encoding',
  'upgrade',
]

const maxLine = 300

const refusalHeaders = { 'content-type': 'text/plain', 'x-svc-network': 'refused', connection: 'close' }

/** Most programs print the first line of a refusal, and few of them what follows. */
function readRefusal(error: unknown): { status: number; line: string; body: string } {
  const { status = 502, message } = error as Partial<GateRefusal> & Error
  return { status, line: message.replaceAll(/[^ -~]+/g, ' ').slice(0, maxLine), body: `${message}\n` }
}

/** The answer where there is no response to write it to, as to CONNECT and Upgrade. */
export function refuseOn(socket: Duplex, error: unknown): void {
  const { status, line, body } = readRefusal(error)
  const headers = { ...refusalHeaders, 'content-length': Buffer.byteLength(body) }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.end([`HTTP/1.1 ${status} ${line}`, ...lines, '', body].join('\r\n'))
  // Else its end is not seen.
  socket.resume()
}

function readAuthority(text: string): GateTarget {
  const { host, port = 80 } = readHostName(text) ?? {}
  if (host !== undefined) return { host, port }
  throw new GateRefusal(400, 'the request does not name one host, as in http://example.com/path')
}

/** What its one header says. */
function readClaimed({ rawHeaders }: IncomingMessage): GateTarget {
  const hosts = rawHeaders.filter((_value, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'host')
  return readAuthority(hosts.length === 1 ? (hosts[0] ?? '') : '')
}

/** Where a request leads: the host of its whole address, else where its tunnel leads. GateRefusal where it names another host. */
function readTarget(request: IncomingMessage, tunnel: GateTarget | undefined): { target: GateTarget; path: string } {
  const { url = '' } = request
  const whole = /^http:\/\/([^/?#@]+)(\/.*|\?.*|)$/is.exec(url)
  const claimed = readClaimed(request)
  const target = whole === null ? claimed : readAuthority(whole[1] ?? '')
  if (writeHostName(target) !== writeHostName(claimed))
    throw new GateRefusal(403, `the request to ${writeHostName(target)} names another host in its header`)
  if (tunnel !== undefined && target.host !== tunnel.host)
    throw new GateRefusal(403, `a request in the tunnel to ${writeHostName(tunnel)} names ${writeHostName(target)}`)
  if (whole === null && !url.startsWith('/') && url !== '*')
    throw new GateRefusal(400, 'the address of the request is not supported')
  const path = whole === null ? url : (whole[2] ?? '').replace(/^(?!\/)/, '/')
  return { target: tunnel ?? target, path }
}

function listOwn(headers: IncomingMessage['headers']): Set<string> {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase())
  return new Set([...ownHeaders, ...named])
}

function passHeaders({ headers, rawHeaders }: IncomingMessage): string[] {
  const own = listOwn(headers)
  return rawHeaders.flatMap((name, at) =>
    at % 2 === 0 && !own.has(name.toLowerCase()) ? [name, rawHeaders[at + 1] ?? ''] : [],
  )
}

export type Forwarding = {
  request(request: IncomingMessage, response: ServerResponse, tunnel?: GateTarget): void
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, tunnel?: GateTarget): void
  close(): void
}

class GateAgent extends HttpAgent {
  readonly #dial: Dialer['dial']
  constructor(dial: Dialer['dial']) {
    super({ keepAlive: true, maxFreeSockets: 8, timeout: 60_000 })
    this.#dial = dial
  }

  override createConnection(
    options: { host?: string | null | undefined; port?: number | string | null | undefined },
    done: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    this.#dial({ host: options.host ?? '', port: Number(options.port) }).then(
      (socket) => done(null, socket),
      (error: Error) => done(error, undefined as unknown as Socket),
    )
  }
}

export function createForwarding(dialer: Dialer, judge: (target: GateTarget) => boolean): Forwarding {
  const agent = new GateAgent((target) => dialer.dial(target))

  function begin(request: IncomingMessage, tunnel: GateTarget | undefined, more: string[] = []) {
    try {
      const { target, path } = readTarget(request, tunnel)
      // A connection that is kept open is not judged again, but the name is.
      const headers = [...passHeaders(request), ...more]
      const { host, port } = target
      if (tunnel === undefined) dialer.judge(target)
      const isKnown = judge(target)
      // The name of a tunnel was judged when it was opened, and an answer for one connection is used up by that.
      const dial = (to: GateTarget) => dialer.dial(to, { isJudged: tunnel !== undefined })
      return sendRequest({
        host,
        port,
        path,
        headers,
        method: request.method,
        setHost: false,
        agent: isKnown && more.length === 0 ? agent : new GateAgent(dial),
      })
    } catch (error) {
      if (tunnel !== undefined) dialer.refuse(tunnel, (error as Error).message)
      throw error
    }
  }

  function answer(error: unknown, response: ServerResponse): void {
    if (response.headersSent) return void response.destroy()
    const { status, line, body } = readRefusal(error)
    response.writeHead(status, line, refusalHeaders)
    response.end(body)
  }

  return {
    request(request, response, tunnel) {
      try {
        const sent = begin(request, tunnel)
        sent.on('error', (error) => answer(error, response))
        sent.on('response', (got) => {
          response.writeHead(got.statusCode ?? 502, passHeaders(got))
          got.pipe(response)
          got.on('error', () => response.destroy())
        })
        response.on('close', () => void (response.writableFinished || sent.destroy()))
        request.pipe(sent)
      } catch (error) {
        request.resume()
        answer(error, response)
      }
    },
    upgrade(request, socket, head, tunnel) {
      const refuse = (error: unknown) => refuseOn(socket, error)
      try {
        const sent = begin(request, tunnel, ['Connection', 'Upgrade', 'Upgrade', request.headers.upgrade ?? ''])
        sent.on('error', refuse)
        sent.on('response', () => refuse(new GateRefusal(502, 'the server does not change the protocol')))
        sent.on('upgrade', (got, upstream, first) => {
          const lines = got.rawHeaders.flatMap((name, at) =>
            at % 2 === 0 ? [`${name}: ${got.rawHeaders[at + 1]}`] : [],
          )
          socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`)
          if (first.length > 0) socket.write(first)
          if (head.length > 0) upstream.write(head)
          joinSockets(socket, upstream)
        })
        sent.end()
      } catch (error) {
        refuse(error)
      }
    },
    close: () => agent.destroy(),
  }
}

/** Each passes on what the other says, and ends with it. */
function joinSockets(left: Duplex, right: Duplex): void {
  for (const [from, to] of [
    [left, right],
    [right, left],
  ] as const) {
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroy())
    from.pipe(to)
  }
}
