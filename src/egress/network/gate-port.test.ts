import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createGateCredentials } from '../../auth/gate-credentials.ts'
import type { WorkerIdentity } from '../../ports/identity/identity.ts'
import type { AttemptKey } from '../../ports/tasks/workloads.ts'
import type { GatedAttempt, NetworkGates } from '../../ports/workspaces/network-gates.ts'
import { openSharedPort, type SharedPort } from './gate-port.ts'
import { createNetworkGates } from './gates.ts'

const clock = { now: () => new Date('2026-05-01T00:00:00Z'), sleep: async () => undefined }
const credentials = createGateCredentials({ key: Buffer.alloc(32, 3), clock })
const ada = { taskUid: 'uid-a', attempt: 1, namespace: 'team', taskName: 'ada' }
const bob = { taskUid: 'uid-b', attempt: 1, namespace: 'team', taskName: 'bob' }

describe('the shared port of the gates', () => {
  let port: SharedPort
  let opened: string[]
  let closed: string[]
  let owner: AttemptKey | undefined
  let isLive: boolean

  const gates: NetworkGates = {
    async open({ taskName }) {
      opened.push(taskName)
      return {
        socket: '',
        // Says whose gate it is, then sends back what it is sent.
        accept(client) {
          client.write(`${taskName}:`)
          client.pipe(client)
        },
        close: async () => void closed.push(taskName),
      }
    },
  }
  const findAttempt = async (identity: WorkerIdentity): Promise<GatedAttempt | undefined> =>
    isLive ? { key: identity, ...identity, rules: { allow: [], onUnknown: 'refuse', ports: [443] } } : undefined

  beforeEach(async () => {
    opened = []
    closed = []
    owner = undefined
    isLive = true
    const log = { warn: () => undefined }
    const parts = { gates, identify: credentials.verify, findAttempt, ownerOf: () => owner, log, idleMs: 0 }
    port = await openSharedPort(parts, { host: '127.0.0.1', port: 0 })
  })
  afterEach(async () => {
    await port.close()
  })

  const authorize = async (identity: WorkerIdentity) => {
    const { user, password } = await credentials.mint(identity)
    return `Proxy-Authorization: Basic ${Buffer.from(`${user}:${password}`).toString('base64')}\r\n`
  }
  /** The whole answer to bytes that are sent in pieces. */
  async function send(...pieces: string[]): Promise<string> {
    const client = connect({ port: port.port, host: '127.0.0.1', allowHalfOpen: true })
    const answer = text(client)
    for (const piece of pieces) {
      client.write(piece)
      await new Promise((resolve) => setImmediate(resolve))
    }
    client.end()
    return answer
  }

  it('passes a connection to the gate of its attempt, byte for byte', async () => {
    const first = `CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n${await authorize(ada)}`
    const binary = String.fromCharCode(22, 3, 1, 0, 255)
    const answer = await send(first.slice(0, 20), first.slice(20), `\r\n${binary}`)
    expect(answer).toBe(`ada:${first}\r\n${binary}`)
    const middle = `GET http://a.example/ HTTP/1.1\r\n${await authorize(bob)}Host: a.example\r\n\r\n`
    expect(await send(middle)).toBe(`bob:${middle}`)
    expect(opened).toEqual(['ada', 'bob'])
  })

  it('closes a gate that nobody uses, and opens it anew', async () => {
    const hello = `CONNECT a:443 HTTP/1.1\r\n${await authorize(ada)}\r\n`
    await send(hello)
    // One of another test may be closed meanwhile.
    await expect.poll(() => closed).toContain('ada')
    expect(await send(hello)).toMatch(/^ada:/)
    expect(opened).toEqual(['ada', 'ada'])
  })

  it('refuses who shows no credential, one of somebody else, or one of an attempt that is over', async () => {
    const line = 'CONNECT a:443 HTTP/1.1\r\n'
    expect(await send(`${line}\r\n`)).toMatch(/^HTTP\/1.1 407 .*\r\nProxy-Authenticate: Basic/)
    expect(await send(`${line}Proxy-Authorization: Basic YTpi\r\n\r\n`)).toMatch(/^HTTP\/1.1 407 /)
    owner = bob
    expect(await send(`${line}${await authorize(ada)}\r\n`)).toMatch(/^HTTP\/1.1 403 .*another attempt/s)
    expect(await send(`${line}${await authorize(bob)}\r\n`)).toMatch(/^bob:/)
    owner = undefined
    isLive = false
    expect(await send(`${line}${await authorize(ada)}\r\n`)).toMatch(/^HTTP\/1.1 403 .*not under way/s)
    expect(opened).toEqual(['bob'])
  })

  it('bears what is no request', async () => {
    expect(await send('')).toBe('')
    expect(await send('\r\n\r\n')).toMatch(/^HTTP\/1.1 407 /)
    expect(await send(`GET / HTTP/1.1\r\nX: ${'a'.repeat(40_000)}`)).toMatch(/^HTTP\/1.1 431 /)
  })

  it('says so when the gate cannot be opened, and takes the next connection', async () => {
    const credential = await authorize(ada)
    const real = gates.open
    gates.open = async () => Promise.reject(new Error('disk full'))
    expect(await send(`CONNECT a:443 HTTP/1.1\r\n${credential}\r\n`)).toMatch(/^HTTP\/1.1 503 .*now/s)
    gates.open = real
    await expect.poll(async () => send(`CONNECT a:443 HTTP/1.1\r\n${credential}\r\n`)).toMatch(/^ada:/)
  })

  it('is a proxy that programs can use, and no server sees their credential', async () => {
    const seen: unknown[] = []
    const target = createServer(({ headers }, answer) => {
      seen.push(headers['proxy-authorization'])
      answer.end('through')
    }).listen(0, '127.0.0.1')
    await once(target, 'listening')
    const real = createNetworkGates({
      policy: { allowNetworks: [], deny: [] },
      limits: { connections: 10, bytes: 1e9 },
      report: () => undefined,
      limit: () => undefined,
      end: async () => undefined,
      ask: async () => 'pending',
      resolve: async () => [{ address: '93.184.216.34', family: 4 }],
      redirect: () => ({ host: '127.0.0.1', port: (target.address() as AddressInfo).port }),
    })
    const fake = gates.open
    gates.open = (attempt) => real.open({ ...attempt, rules: { ...attempt.rules, allow: ['a.example'], ports: [80] } })
    const [, authorization] = (await authorize(ada)).trim().split(': ')
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let round = 0; round < 2; round += 1) {
      const headers = { 'proxy-authorization': authorization, host: 'a.example' }
      const asked = request({ port: port.port, path: 'http://a.example/', headers, agent }).end()
      const [answer] = await once(asked, 'response')
      expect(await text(answer)).toBe('through')
    }
    expect(seen).toEqual([undefined, undefined])
    agent.destroy()
    target.close()
    gates.open = fake
  })
})
