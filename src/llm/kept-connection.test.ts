import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { systemClock } from '../adapters/system/clock.ts'
import { createEgress } from '../egress/egress.ts'
import { collectTurn, guardStream } from './collect.ts'
import { createLlmoClient } from './llmo/client.ts'
import { createPipedFetch } from './piped-fetch.ts'

const answer = `data: ${JSON.stringify({ choices: [{ delta: { content: 'a' }, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`

it('serves the next call with the same connection, though the body ends after its last event', async () => {
  let connections = 0
  let finish = () => {}
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.write(answer))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    finish = () => response.end()
  }).on('connection', () => {
    connections += 1
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const egress = createEgress()
  const client = createLlmoClient({
    fetch: createPipedFetch(egress, { allowNetworks: [], deny: [], trusted: true }),
    baseUrl: `http://127.0.0.1:${port}/v1`,
    target: { provider: 'p', model: 'm', host: 'h', hasKey: false },
    clock: systemClock,
    idleTimeoutMs: 10_000,
  })
  const { signal } = new AbortController()
  const request = { model: 'm', system: [], messages: [], tools: [] }
  for (let call = 0; call < 3; call += 1) {
    const turn = await collectTurn(guardStream(client.stream(request, signal), signal))
    expect(turn.error).toBeUndefined()
    finish()
    // Until the end has come here, the connection is not free.
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  expect(connections).toBe(1)
  await egress.close()
  server.closeAllConnections()
  server.close()
})
