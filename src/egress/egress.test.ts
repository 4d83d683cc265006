import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { answerBuffers } from '../lib/buffer-quota.ts'
import type { Egress, EgressPolicy, EgressRequest } from '../ports/service/egress.ts'
import type { Resolve } from './dialer.ts'
import { createEgress } from './egress.ts'

const closing: (() => Promise<unknown>)[] = []

afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()))
})

async function serve(handler: RequestListener, host = '127.0.0.1'): Promise<{ port: number; server: Server }> {
  const server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  closing.push(async () => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, server }
}

function makeEgress(resolve?: Resolve): Egress {
  const egress = createEgress(resolve === undefined ? {} : { resolve })
  closing.push(() => egress.close())
  return egress
}

const owner: EgressPolicy = { allowNetworks: ['127.0.0.1/32'], deny: [] }
const stranger: EgressPolicy = { allowNetworks: [], deny: [] }

function get(url: string, changes: Partial<EgressRequest> = {}): EgressRequest {
  return { url, method: 'GET', maxBytes: 10_000, timeoutMs: 5_000, maxRedirects: 3, policy: owner, ...changes }
}

const never = new AbortController().signal

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}

describe('egress', () => {
  it('asks a permitted address and gives the answer', async () => {
    const { port } = await serve((request, response) => response.setHeader('x-echo', request.url ?? '').end('hello'))
    const answer = await makeEgress().request(get(`http://127.0.0.1:${port}/a?b`), never)
    expect(answer).toMatchObject({ status: 200, truncated: false, headers: { 'x-echo': '/a?b' } })
    expect(answer.body.toString()).toBe('hello')
  })

  it('refuses a private address before it connects [NET-002]', async () => {
    let requests = 0
    const { port } = await serve((_request, response) => {
      requests += 1
      response.end()
    })
    const request = makeEgress().request(get(`http://127.0.0.1:${port}/`, { policy: stranger }), never)
    await expect(request).rejects.toMatchObject({ reason: 'Forbidden', message: expect.stringContaining('loopback') })
    expect(requests).toBe(0)
  })

  it('checks every address that a name resolves to, and dials permitted ones only [NET-001]', async () => {
    const { port } = await serve((_request, response) => response.end('the permitted one'))
    const addresses = [
      { address: '10.0.0.1', family: 4 },
      { address: '169.254.169.254', family: 4 },
    ]
    const inside = makeEgress(async () => addresses).request(get(`http://inside.example:${port}/`), never)
    await expect(inside).rejects.toMatchObject({ reason: 'Forbidden', message: expect.stringContaining('10.0.0.1') })
    const mixed = makeEgress(async () => [...addresses, { address: '127.0.0.1', family: 4 }])
    const answer = await mixed.request(get(`http://mixed.example:${port}/`), never)
    expect(answer.body.toString()).toBe('the permitted one')
  })

  it('dials the address it checked and resolves the name once per connection, so that DNS rebinding fails [NET-001]', async () => {
    const { port } = await serve((_request, response) => response.setHeader('connection', 'close').end('first'))
    const answers = ['127.0.0.1', '127.0.0.2']
    let lookups = 0
    const egress = makeEgress(async () => [{ address: answers[lookups++] ?? '127.0.0.3', family: 4 }])
    const first = await egress.request(get(`http://rebind.example:${port}/`), never)
    expect(first.body.toString()).toBe('first')
    expect(lookups).toBe(1)
    const second = egress.request(get(`http://rebind.example:${port}/`), never)
    await expect(second).rejects.toMatchObject({ reason: 'Forbidden', message: expect.stringContaining('127.0.0.2') })
  })

  it('checks each redirect again [NET-001]', async () => {
    const { port } = await serve((request, response) => {
      const target = new URL(request.url ?? '', 'http://x').searchParams.get('to')
      response.writeHead(302, { location: target ?? '/' }).end()
    })
    const egress = makeEgress()
    const targets = [
      'http://169.254.169.254/latest/',
      'http://127.0.0.2/',
      'file:///etc/passwd',
      'http://10.0.0.1/',
      'http://u:p@127.0.0.1/',
    ]
    for (const target of targets) {
      const request = egress.request(get(`http://127.0.0.1:${port}/?to=${encodeURIComponent(target)}`), never)
      await expect(request, target).rejects.toMatchObject({ reason: 'Forbidden' })
    }
  })

  it('never dials the service itself, trusted or not, under any name [NET-003] [NET-005]', async () => {
    const { port } = await serve((_request, response) => response.end('the service'))
    const egress = makeEgress(async () => [{ address: '127.0.0.1', family: 4 }])
    const policy = { allowNetworks: ['127.0.0.0/8'], deny: [`127.0.0.1:${port}`] }
    for (const host of ['127.0.0.1', 'localhost', 'harmless.example', '[::ffff:127.0.0.1]']) {
      const url = `http://${host}:${port}/`
      const request = egress.request(get(url, { policy: { ...policy, trusted: new URL(url).origin } }), never)
      await expect(request, host).rejects.toMatchObject({ reason: 'Forbidden' })
    }
  })

  it('lets a trusted destination be on loopback [NET-004]', async () => {
    const { port } = await serve((_request, response) => response.end('local model'))
    const answer = await makeEgress().request(
      get(`http://localhost:${port}/`, { policy: { ...stranger, trusted: `http://localhost:${port}` } }),
      never,
    )
    expect(answer.body.toString()).toBe('local model')
  })

  it('trusts one origin only: no other port or scheme of its host, and no redirect elsewhere [NET-001] [NET-004]', async () => {
    const inner = await serve((_request, response) => response.end('of the private network'))
    const statuses = [301, 302, 303, 307, 308]
    const { port } = await serve((request, response) => {
      const status = Number(new URL(request.url ?? '', 'http://x').searchParams.get('status'))
      response.writeHead(status, { location: `http://127.0.0.1:${inner.port}/secret` }).end()
    })
    const policy = { ...stranger, trusted: `http://127.0.0.1:${port}` }
    const egress = makeEgress()
    for (const status of statuses) {
      const url = `http://127.0.0.1:${port}/?status=${status}`
      await expect(egress.request(get(url, { policy }), never), `${status}`).rejects.toMatchObject({
        reason: 'Forbidden',
      })
      const fetched = egress.fetchWith(policy)(url)
      await expect(fetched, `fetched, ${status}`).rejects.toMatchObject({ reason: 'Forbidden' })
    }
    const other = egress.openPipe(`http://127.0.0.1:${inner.port}/`, policy)
    const failed = await new Promise((resolve) => {
      const sink = { head: resolve, data: () => true, end: () => {}, fail: resolve }
      void other.then((pipe) => pipe.send({ method: 'GET', path: '/', headers: [] }, sink))
    })
    expect(failed).toMatchObject({ reason: 'Forbidden' })
  })

  it('does not share a connection between policies', async () => {
    const { port } = await serve((_request, response) => response.end('ok'))
    const egress = makeEgress(async () => [{ address: '127.0.0.1', family: 4 }])
    await egress.request(get(`http://name.example:${port}/`), never)
    const request = egress.request(get(`http://name.example:${port}/`, { policy: stranger }), never)
    await expect(request).rejects.toMatchObject({ reason: 'Forbidden' })
  })

  it('drops all credentials when a redirect leaves the origin, and keeps them within it', async () => {
    const seen: Record<string, unknown>[] = []
    const other = await serve((request, response) => {
      seen.push({ host: 'other', ...request.headers })
      response.end('there')
    })
    const { port } = await serve((request, response) => {
      seen.push({ host: 'first', ...request.headers })
      const location = request.url === '/' ? '/again' : `http://127.0.0.1:${other.port}/`
      response.writeHead(307, { location }).end()
    })
    const headers = { Authorization: 'Bearer secret', 'X-Token': 'secret', Cookie: 'a=b', Accept: 'text/plain' }
    const answer = await makeEgress().request(get(`http://127.0.0.1:${port}/`, { headers }), never)
    expect(answer.url).toBe(`http://127.0.0.1:${other.port}/`)
    expect(seen[1]).toMatchObject({ authorization: 'Bearer secret', 'x-token': 'secret' })
    expect(seen[2]).toMatchObject({ accept: 'text/plain' })
    expect(JSON.stringify(seen[2])).not.toMatch(/secret|a=b/)
  })

  it('follows the method rules of redirects', async () => {
    const seen: string[] = []
    const { port } = await serve(async (request, response) => {
      seen.push(`${request.method} ${request.url} ${await readBody(request)}`)
      const status = Number(request.url?.slice(1))
      if (status > 300) response.writeHead(status, { location: '/0' })
      response.end()
    })
    const egress = makeEgress()
    for (const [method, status] of [
      ['POST', 301],
      ['POST', 302],
      ['PUT', 302],
      ['PUT', 303],
      ['POST', 307],
      ['POST', 308],
    ] as const) {
      await egress.request(get(`http://127.0.0.1:${port}/${status}`, { method, body: 'data' }), never)
    }
    const second = seen.filter((line) => line.includes('/0'))
    expect(second).toEqual(['GET /0 ', 'GET /0 ', 'PUT /0 data', 'GET /0 ', 'POST /0 data', 'POST /0 data'])
  })

  it('does not send a body to another host', async () => {
    const { port } = await serve((_request, response) =>
      response.writeHead(308, { location: 'http://127.0.0.1:1/' }).end(),
    )
    const request = makeEgress().request(
      get(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{"token":"x"}' }),
      never,
    )
    await expect(request).rejects.toMatchObject({ reason: 'Forbidden' })
  })

  it('stops after the allowed number of redirects, and returns the redirect itself when none is allowed', async () => {
    const { port } = await serve((_request, response) => response.writeHead(302, { location: '/loop' }).end())
    const egress = makeEgress()
    const endless = egress.request(get(`http://127.0.0.1:${port}/`), never)
    await expect(endless).rejects.toMatchObject({
      reason: 'UpstreamFailed',
      message: expect.stringContaining('3 times'),
    })
    const single = await egress.request(get(`http://127.0.0.1:${port}/`, { maxRedirects: 0 }), never)
    expect(single.status).toBe(302)
  })

  it('reads at most maxBytes, counted after decompression', async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000))
    const { port } = await serve((request, response) => {
      if (request.url === '/gzip') response.setHeader('content-encoding', 'gzip').end(bomb)
      else response.end('x'.repeat(10_000))
    })
    const egress = makeEgress()
    const cut = await egress.request(get(`http://127.0.0.1:${port}/gzip`), never)
    expect([cut.body.length, cut.truncated]).toEqual([10_000, true])
    const whole = await egress.request(get(`http://127.0.0.1:${port}/`), never)
    expect([whole.body.length, whole.truncated]).toEqual([10_000, false])
  })

  it('holds no more than 256 MiB of all answers at a time, says which one was too much, and in the end holds nothing', async () => {
    const part = Buffer.alloc(1024 ** 2)
    const { port } = await serve((_request, response) => {
      const parts = Array.from({ length: 60 }, () => part)
      Readable.from(parts).pipe(response)
    })
    const egress = makeEgress()
    const limits = { maxBytes: 60 * 1024 ** 2, timeoutMs: 60_000 }
    let most = 0
    const watch = setInterval(() => {
      most = Math.max(most, answerBuffers.bytes)
    }, 1)
    const answers = Array.from({ length: 7 }, () => egress.request(get(`http://127.0.0.1:${port}/`, limits), never))
    const ends = await Promise.allSettled(answers)
    clearInterval(watch)
    // When all of them wait, the largest ends.
    const isTold = ({ reason }: PromiseRejectedResult) =>
      /:\d+ was not read: .*together exceed 256 MiB/.test(String(reason))
    for (const end of ends) {
      if (end.status === 'fulfilled') expect(end.value.body.length).toBe(limits.maxBytes)
      else expect(end).toSatisfy(isTold)
    }
    expect(ends.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThanOrEqual(4)
    expect(most).toBeGreaterThan(60 * 1024 ** 2)
    expect(most).toBeLessThanOrEqual(256 * 1024 ** 2)
    expect(answerBuffers.bytes).toBe(0)
  })

  it('waits for room no longer than it may take', async () => {
    const held = Array.from({ length: 4 }, () => answerBuffers.open())
    for (const each of held) await each.add(60 * 1024 ** 2)
    const { port } = await serve((_request, response) => void response.end(Buffer.alloc(50 * 1024 ** 2)))
    const limits = { maxBytes: 60 * 1024 ** 2, timeoutMs: 500 }
    const answer = makeEgress().request(get(`http://127.0.0.1:${port}/`, limits), never)
    await expect(answer).rejects.toThrow('did not answer within 0.5 s.')
    for (const each of held) each.release()
    expect(answerBuffers.bytes).toBe(0)
  })

  it('names the host and the cause when it cannot be reached', async () => {
    const { port, server } = await serve((_request, response) => response.end())
    server.close()
    const egress = makeEgress()
    const refused = egress.request(get(`http://127.0.0.1:${port}/`), never)
    await expect(refused).rejects.toMatchObject({
      reason: 'UpstreamFailed',
      message: `127.0.0.1:${port} could not be reached: the connection was refused (ECONNREFUSED).`,
    })
    const unknown = makeEgress(async () => [])
    await expect(unknown.request(get('http://nowhere.example/'), never)).rejects.toMatchObject({
      message: 'nowhere.example could not be reached: no such host name (ENOTFOUND).',
    })
  })

  it('times out after timeoutMs, also in the middle of a body, and at once when the caller aborts', async () => {
    const { port } = await serve((_request, response) => {
      response.writeHead(200).write('half')
    })
    const egress = makeEgress()
    const slow = egress.request(get(`http://127.0.0.1:${port}/`, { timeoutMs: 100 }), never)
    await expect(slow).rejects.toMatchObject({ reason: 'UpstreamFailed', message: expect.stringContaining('0.1 s') })
    const reason = new Error('the caller left')
    const aborter = new AbortController()
    const left = egress.request(get(`http://127.0.0.1:${port}/`), aborter.signal)
    aborter.abort(reason)
    await expect(left).rejects.toBe(reason)
  })
})

describe('fetch under a policy', () => {
  it('streams what a permitted host answers', async () => {
    const { port } = await serve(async (request, response) => {
      response.end(`${request.method} ${request.headers['content-type']} ${await readBody(request)}`)
    })
    const fetchUnder = makeEgress().fetchWith(owner)
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
    const answer = await fetchUnder(`http://127.0.0.1:${port}/`, init)
    expect(await answer.text()).toBe('POST application/json {}')
    const asRequest = await fetchUnder(new Request(`http://127.0.0.1:${port}/`, init))
    expect(await asRequest.text()).toBe('POST application/json {}')
  })

  it('refuses what the policy refuses, in its own words', async () => {
    const egress = makeEgress()
    await expect(egress.fetchWith(stranger)('http://127.0.0.1:8099/')).rejects.toMatchObject({ reason: 'Forbidden' })
    await expect(egress.fetchWith(owner)('http://2130706433/')).rejects.toMatchObject({ reason: 'Forbidden' })
  })
})
