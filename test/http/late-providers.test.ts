// Who is to blame for an answer that is cut off at the service's own time limit: a provider that was waited for.
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ProxySample } from '../../src/proxy/request.ts'
import { type Proxied, simpleMessage, startProxied } from '../fixtures/proxy/proxied.ts'
import type { Received } from '../fixtures/proxy/upstream.ts'
import { passBytes, runLoop, runTurn } from '../fixtures/proxy/ways.ts'
import { waitFor } from '../fixtures/time.ts'
import { ownerToken } from './service.ts'

const messages = '/llma/v1/messages'
const maxDurationMs = 2000

let proxied: Proxied
const samples: ProxySample[] = []

beforeAll(async () => {
  proxied = await startProxied({
    usecases: { chat: { maxDurationMs } },
    proxy: {
      loop: { maxIterations: 50, maxToolCalls: 128, maxDurationMs, toolTimeoutMs: 10_000 },
      observe: (sample) => void samples.push(sample),
    },
  })
  proxied.upstream.script.answer = answerAs
})
afterAll(() => proxied.stop())

const frame = (length: number) => `event: ping\ndata: ${JSON.stringify({ type: 'ping', more: 'x'.repeat(length) })}\n\n`

/** Providers named `trickle` and `flood` never end, all others never begin. */
function answerAs({ path, response }: Received): void {
  const isFlood = path.startsWith('/flood')
  if (!isFlood && !path.startsWith('/trickle')) return
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if (!isFlood) return void response.write(frame(10))
  const write = () => {
    while (!response.destroyed && response.write(frame(60_000)));
  }
  response.on('drain', write)
  write()
}

const addProvider = (name: string) => proxied.addProvider(name, { baseURL: `${proxied.upstream.url}/${name}` })
const read = (name: string) => proxied.service.ports.records.providerHealth.read({ namespace: 'default', name })
const sampleOf = (model: string) => samples.find((sample) => sample.model === model)

const viaBytes = (name: string) => passBytes(proxied, name)
const viaLoop = (name: string) => runLoop(proxied, name)
const viaChat = (name: string) => runTurn(proxied, name)

describe.concurrent.each([
  ['bytes passed on', 'passed', viaBytes, '--chat-max-duration'],
  ['the tool loop', 'looped', viaLoop, 'had not finished its answer'],
  ['chat', 'chatted', viaChat, 'had not finished its answer'],
])('a provider that is called by %s', (_way, name, ask, reason) => {
  it('and does not answer within the time limit counts as failed [PROV-011] [LIM-017]', async () => {
    await addProvider(name)
    await (await ask(name)).text()
    await waitFor(async () => (await read(name)) !== undefined, 'the failure to be written')
    expect(await read(name)).toMatchObject({ failed: { reason: expect.stringContaining(reason) }, failures: 1 })
  })
})

/** A caller that takes nothing of the answer. */
function askWithoutReading(body: string) {
  const socket = connect(Number(new URL(proxied.url).port), '127.0.0.1')
  const head = `POST ${messages} HTTP/1.1\r\nHost: localhost\r\nX-Svc-Tools: disabled\r\nX-Api-Key: ${ownerToken}`
  socket.pause()
  socket.on('error', () => {})
  socket.write(`${head}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  return socket
}

describe('a provider whose answer', () => {
  it('takes longer than the time limit counts as failed', async () => {
    await addProvider('trickle')
    const answer = await proxied.ask(messages, simpleMessage('trickle/read', { stream: true }))
    await expect(answer.text()).rejects.toThrow()
    await waitFor(() => sampleOf('read') !== undefined, 'the end of the passage')
    expect(sampleOf('read')?.outcome).toBe('failed')
    await waitFor(async () => (await read('trickle')) !== undefined, 'the failure to be written')
    expect((await read('trickle'))?.failed?.reason).toContain('--chat-max-duration')
  })

  it('is not read by the caller in time does not count as failed', async () => {
    await addProvider('flood')
    const socket = askWithoutReading(JSON.stringify(simpleMessage('flood/unread', { stream: true })))
    await waitFor(() => sampleOf('unread') !== undefined, 'the end of the passage')
    socket.destroy()
    expect(sampleOf('unread')?.outcome).toBe('aborted')
  })
})
