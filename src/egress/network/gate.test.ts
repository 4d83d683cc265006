import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { type AddressInfo, connect, createServer as createTcp, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect as connectTls } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import type { HostTraffic } from '../../ports/workspaces/network-gates.ts'
import { createHostJudge } from '../../rules/workspaces/network.ts'
import type { ResolvedAddress } from '../dialer.ts'
import type { DialOptions, HostAnswer } from './dial.ts'
import { createGate } from './gate.ts'
import { createTraffic } from './traffic.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

type Options = {
  allow?: string[]
  onUnknown?: 'refuse' | 'ask' | 'allow'
  /** Where everything that may be dialled leads. */
  port?: number
  addresses?: Record<string, string[]>
  answer?: HostAnswer
  limits?: Partial<DialOptions['limits']>
  allowNetworks?: string[]
  deny?: string[]
}

async function listen(server: Server, path?: string): Promise<number> {
  closing.push(() => server.close())
  await new Promise<void>((resolve) =>
    path === undefined ? server.listen(0, '127.0.0.1', resolve) : server.listen(path, resolve),
  )
  return path === undefined ? (server.address() as AddressInfo).port : 0
}

async function openGate(options: Options = {}) {
  const lines = new Map<string, HostTraffic>()
  const traffic = createTraffic(
    (changed) => {
      for (const line of changed) lines.set(`${line.host}:${line.port}`, line)
    },
    { bytes: 0, reached: new Set() },
  )
  const reached: string[] = []
  const asked: string[] = []
  const lookedUp: string[] = []
  const dialled: ResolvedAddress[] = []
  const gate = createGate({
    judge: createHostJudge({
      allow: options.allow ?? ['good.example', '*.sub.example'],
      onUnknown: options.onUnknown ?? 'refuse',
      ports: [22, 80, 443],
    }),
    policy: { allowNetworks: options.allowNetworks ?? [], deny: options.deny ?? [] },
    limits: { connections: 100, bytes: 1e9, ...options.limits },
    traffic,
    onLimit: (limit) => void reached.push(limit),
    ask: async ({ host }) => {
      asked.push(host)
      return options.answer ?? 'pending'
    },
    resolve: async (host) => {
      lookedUp.push(host)
      const found = options.addresses?.[host] ?? ['93.184.216.34']
      return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    },
    redirect: (addresses) => {
      dialled.push(...addresses)
      return { host: '127.0.0.1', port: options.port ?? 9 }
    },
  })
  const folder = mkdtempSync(join(tmpdir(), 'svc-gate-'))
  closing.push(() => rmSync(folder, { recursive: true }), gate.close)
  const socket = join(folder, 's')
  await listen(gate.server, socket)
  const readLines = () => {
    traffic.flush()
    return lines
  }
  return { socket, gate, asked, lookedUp, dialled, reached, lines: readLines }
}

/** The head of the answer, and the connection. */
async function ask(path: string, head: string): Promise<{ status: number; head: string; socket: Socket }> {
  const socket = connect(path)
  socket.on('error', () => undefined)
  closing.push(() => socket.destroy())
  socket.write(head)
  let got = ''
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    got += String(chunk)
    if (got.includes('\r\n\r\n')) break
  }
  return { status: Number(/^HTTP\/1.1 (\d+)/.exec(got)?.[1] ?? 0), head: got, socket }
}
const tunnel = (path: string, target: string) => ask(path, `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`)

const echo = () => createTcp((socket) => void socket.on('error', () => undefined).pipe(socket))

describe('the gate of an attempt', () => {
  it('opens a tunnel to a host that is allowed, in any spelling of its name', async () => {
    const port = await listen(echo())
    const gate = await openGate({ port })
    for (const name of ['good.example', 'GOOD.example', 'good.example.', 'a.b.SUB.example'])
      expect((await tunnel(gate.socket, `${name}:22`)).status).toBe(200)
    expect(new Set(gate.lookedUp)).toEqual(new Set(['good.example', 'a.b.sub.example']))
  })

  it('lets go of a program that ends before it has said anything, or before it is led on', async () => {
    const gate = await openGate({ port: await listen(echo()) })
    const { socket } = await tunnel(gate.socket, 'good.example:443')
    const early = connect(gate.socket)
    const closed = [socket, early].map((one) => once(one.resume(), 'close'))
    socket.end()
    early.end('CONNECT good.example:443 HTTP/1.1\r\n\r\n')
    await Promise.all(closed)
  })

  it.each([
    ...[
      'other.example:443',
      'notgood.example:443',
      'good.example.other.example:443',
      'sub.example:443',
      'xn--gd-kja.example:443',
    ],
    ...['good.example:25', 'good.example:8443', '93.184.216.34:443', '[2606:2800:220:1::1]:443'],
  ])('refuses %s before it is looked up', async (target) => {
    const gate = await openGate()
    const answer = await tunnel(gate.socket, target)
    // Many programs show the first line alone.
    expect([answer.status, answer.head.split('\r\n')[0]]).toEqual([
      403,
      expect.stringContaining('is not on the allowlist'),
    ])
    expect([gate.lookedUp, gate.dialled]).toEqual([[], []])
  })

  it.each([
    '0x7f.1:443',
    '127.1:443',
    '2130706433:443',
    '[fe80::1%25lo]:443',
    'good.example',
    '*.sub.example:443',
    'a@good.example:443',
    'good.example:443/',
  ])('takes no target that is none: %s', async (target) =>
    expect((await tunnel((await openGate({ onUnknown: 'allow' })).socket, target)).status).toBe(400),
  )

  it.each([
    ...[
      '127.0.0.1',
      '127.8.8.8',
      '0.0.0.0',
      '169.254.169.254',
      '169.254.7.7',
      '10.0.0.1',
      '192.168.1.1',
      '172.16.0.1',
      '100.100.100.200',
    ],
    ...[
      '::1',
      '::',
      'fe80::1',
      'fd00:ec2::254',
      'fc00::1',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '64:ff9b::7f00:1',
      '2002:7f00:1::',
      '::7f00:1',
      '224.0.0.1',
      'ff02::1',
    ],
  ])('never reaches %s, whatever is listed: not by its address, not by a name', async (address) => {
    const written = address.includes(':') ? `[${address}]` : address
    const gate = await openGate({
      allow: ['good.example', written],
      onUnknown: 'allow',
      addresses: { 'good.example': [address] },
    })
    for (const target of [`${written}:443`, 'good.example:443'])
      expect((await tunnel(gate.socket, target)).status).toBe(403)
    expect(gate.dialled).toEqual([])
  })

  it.each(['127.0.0.1', '::1', '169.254.1.1'])(
    'never reaches %s where the operator allows its network',
    async (address) => {
      const gate = await openGate({
        addresses: { 'good.example': [address] },
        allowNetworks: ['127.0.0.0/8', '::1/128', '169.254.0.0/16'],
      })
      expect((await tunnel(gate.socket, 'good.example:443')).status).toBe(403)
    },
  )

  it('reaches a private network that the operator allows, but not the service in it', async () => {
    const port = await listen(echo())
    const options = { port, addresses: { 'good.example': ['10.9.9.9'] }, allowNetworks: ['10.9.0.0/16'] }
    expect((await tunnel((await openGate(options)).socket, 'good.example:443')).status).toBe(200)
    expect(
      (await tunnel((await openGate({ ...options, deny: ['10.9.9.9:443'] })).socket, 'good.example:443')).status,
    ).toBe(403)
  })

  it('judges the addresses of a name anew at every connection, and dials only those that it has judged', async () => {
    const port = await listen(echo())
    const addresses = { 'good.example': ['127.0.0.1', '93.184.216.34'] }
    const gate = await openGate({ port, addresses })
    expect((await tunnel(gate.socket, 'good.example:443')).status).toBe(200)
    expect(gate.dialled.map(({ address }) => address)).toEqual(['93.184.216.34'])
    addresses['good.example'] = ['127.0.0.1']
    expect((await tunnel(gate.socket, 'good.example:443')).status).toBe(403)
    expect(gate.dialled).toHaveLength(1)
  })

  it('passes TLS on where its greeting names the host of the tunnel, and nothing of it otherwise', async () => {
    const got: Buffer[] = []
    const port = await listen(
      createTcp((socket) => void socket.on('error', () => undefined).on('data', (chunk) => got.push(chunk))),
    )
    const gate = await openGate({ port })
    const greet = async (servername: string | undefined) => {
      const { socket } = await tunnel(gate.socket, 'good.example:443')
      const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()))
      const secure = connectTls({ socket, rejectUnauthorized: false, ...(servername !== undefined && { servername }) })
      secure.on('error', () => undefined)
      return closed
    }
    await Promise.all([greet('other.example'), greet(undefined), greet('good.example.other.example')])
    expect(got).toEqual([])
    void greet('GOOD.example')
    await expect.poll(() => got.length).toBeGreaterThan(0)
    const line = gate.lines().get('good.example:443')
    expect([line?.refused, line?.reason]).toEqual([3, expect.stringContaining('TLS greeting')])
  })

  it('judges each request of a tunnel without TLS', async () => {
    const served: string[] = []
    const port = await listen(
      createServer(
        (incoming, response) => void response.end(served.push(`${incoming.headers.host}${incoming.url}`) && 'ok'),
      ),
    )
    const gate = await openGate({ port })
    const { socket } = await tunnel(gate.socket, 'good.example:80')
    socket.write('GET /one HTTP/1.1\r\nHost: good.example\r\n\r\n')
    await expect.poll(() => served).toEqual(['good.example/one'])
    socket.write('GET /two HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n')
    expect(await text(socket)).toContain('403')
    expect(served).toEqual(['good.example/one'])
  })

  it.each([
    ['GET http://good.example/a HTTP/1.1\r\nHost: good.example\r\n', 200],
    ['GET http://GOOD.example./a HTTP/1.1\r\nHost: good.example:80\r\n', 200],
    ['GET http://good.example/a HTTP/1.1\r\nHost: other.example\r\n', 403],
    ['GET http://other.example/a HTTP/1.1\r\nHost: other.example\r\n', 403],
    ['GET http://good.example/a HTTP/1.1\r\nHost: good.example\r\nHost: other.example\r\n', 400],
    ['GET http://user@good.example/a HTTP/1.1\r\nHost: good.example\r\n', 400],
    ['GET http://127.0.0.1/a HTTP/1.1\r\nHost: 127.0.0.1\r\n', 403],
    ['GET ftp://good.example/a HTTP/1.1\r\nHost: good.example\r\n', 400],
    ['GET http://good.example:8080/a HTTP/1.1\r\nHost: good.example:8080\r\n', 403],
    [
      'POST http://good.example/a HTTP/1.1\r\nHost: good.example\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n',
      0,
    ],
  ])('takes a request for a whole address: %j', async (head, status) => {
    const served: string[] = []
    const port = await listen(
      createServer((incoming, response) => void response.end(served.push(incoming.url ?? '') && 'ok')),
    )
    const { socket } = await openGate({ port })
    const answer = await Promise.race([ask(socket, `${head}Connection: close\r\n\r\n`)])
    expect(answer.status).toBe(status)
    expect(served).toEqual(status === 200 ? ['/a'] : [])
  })

  it('passes bodies and headers on, but not those of the connection', async () => {
    const port = await listen(
      createServer((incoming, response) => {
        response.setHeader('x-got', JSON.stringify(incoming.headers))
        incoming.pipe(response)
      }),
    )
    const { socket } = await openGate({ port })
    const sent = request({
      socketPath: socket,
      method: 'PUT',
      path: 'http://good.example/x',
      headers: {
        host: 'good.example',
        'proxy-authorization': 'secret',
        connection: 'x-hop',
        'x-hop': '1',
        'x-own': '2',
      },
    })
    sent.end('body')
    const answer = await new Promise<import('node:http').IncomingMessage>((resolve) => sent.once('response', resolve))
    const seen = JSON.parse(String(answer.headers['x-got']))
    expect([await text(answer), seen['x-own'], seen['x-hop'], seen['proxy-authorization']]).toEqual([
      'body',
      '2',
      undefined,
      undefined,
    ])
  })

  it('asks a person, and lets through what was approved', async () => {
    const port = await listen(echo())
    const options: Options = { port, onUnknown: 'ask' }
    const gate = await openGate(options)
    const first = await tunnel(gate.socket, 'new.example:443')
    expect([first.status, first.head]).toEqual([403, expect.stringContaining('a person is asked')])
    options.answer = 'approved'
    expect((await tunnel(gate.socket, 'new.example:443')).status).toBe(200)
    options.answer = 'declined'
    expect((await tunnel(gate.socket, 'worse.example:443')).head).toContain('has declined')
    expect(gate.asked).toEqual(['new.example', 'new.example', 'worse.example'])
  })

  it.each([
    ['other.example:80', 'GET http://other.example/ HTTP/1.1\r\nHost: other.example\r\n\r\n'],
    ['other.example:443', 'CONNECT other.example:443 HTTP/1.1\r\nHost: other.example:443\r\n\r\n'],
  ])(
    'counts 10,000 refusals of %s in one line',
    async (host, one) => {
      const gate = await openGate()
      const socket = connect(gate.socket)
      socket.on('error', () => undefined)
      for (let round = 0; round < 10_000; round += 1) {
        const answer = new Promise<void>(
          (resolve) =>
            void connect(gate.socket)
              .on('error', () => undefined)
              .end(one)
              .resume()
              .once('close', resolve),
        )
        if (round % 100 === 99) await answer
      }
      await expect.poll(() => gate.lines().get(host)?.refused).toBe(10_000)
      expect(gate.lines().size).toBe(1)
      socket.destroy()
    },
    60_000,
  )

  it('ends what exceeds the bytes of the task, and opens no more connections than it may', async () => {
    const port = await listen(echo())
    const gate = await openGate({ port, limits: { connections: 2, bytes: 1000 } })
    const [first] = [await tunnel(gate.socket, 'good.example:22'), await tunnel(gate.socket, 'good.example:22')]
    const third = await tunnel(gate.socket, 'good.example:22')
    expect([third.status, third.head]).toEqual([503, expect.stringContaining('2 connections are open')])
    expect(gate.reached).toEqual(['connections'])
    const closed = new Promise<void>((resolve) => void first.socket.once('close', () => resolve()))
    first.socket.resume().write(`SSH-2.0-${'x'.repeat(5000)}`)
    await closed
    const last = await tunnel(gate.socket, 'good.example:22')
    expect([last.status, last.head]).toEqual([403, expect.stringContaining('1000 bytes were sent and received')])
    expect(gate.reached.slice(1)).toContain('bytes')
    // The host itself is not refused: nobody has to allow it.
    expect(gate.lines().get('good.example:22')?.refused).toBe(0)
  })

  it('holds no more clients than it may have connections and some to answer, whatever they do not say', async () => {
    const gate = await openGate({ limits: { connections: 1 } })
    const clients = Array.from({ length: 300 }, () =>
      connect(gate.socket)
        .on('error', () => undefined)
        .resume(),
    )
    closing.push(() => {
      for (const client of clients) client.destroy()
    })
    await expect.poll(() => clients.filter(({ closed }) => closed).length).toBe(300 - 257)
    expect(new Set(gate.reached)).toEqual(new Set(['connections']))
  })
})
