import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { createEgress } from '../../egress/egress.ts'
import { systemClock } from '../../lib/system-clock.ts'
import { createLlmoClient } from '../llmo/client.ts'
import { collectTurn } from '../messages/collect.ts'
import { createPipedFetch, type VendorFetch } from './piped-fetch.ts'

const answer = `data: ${JSON.stringify({ choices: [{ delta: { content: 'a' }, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`

/** Calls `onEnd` when the body has been read to its end. */
function tellEnd(fetch: VendorFetch, onEnd: () => void): VendorFetch {
  return async (url, init) => {
    const answer = await fetch(url, init)
    const reader = answer.body?.getReader()
    if (reader === undefined) return answer
    const read = async () => {
      const part = await reader.read()
      if (part.done) onEnd()
      return part
    }
    return { ...answer, body: { getReader: () => ({ read, cancel: () => reader.cancel() }) } }
  }
}

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
  let ended = Promise.withResolvers<void>()
  const client = createLlmoClient({
    fetch: tellEnd(createPipedFetch(egress, { allowNetworks: [], deny: [], trusted: `http://127.0.0.1:${port}` }), () =>
      ended.resolve(),
    ),
    baseUrl: `http://127.0.0.1:${port}/v1`,
    target: { provider: 'p', model: 'm', host: 'h', hasKey: false },
    clock: systemClock,
    idleTimeoutMs: 10_000,
  })
  const { signal } = new AbortController()
  const request = { model: 'm', system: [], messages: [], tools: [] }
  for (let call = 0; call < 3; call += 1) {
    const turn = await collectTurn(client, request, signal)
    expect(turn.error).toBeUndefined()
    finish()
    // Until the end has come here, the connection is not free.
    await ended.promise
    await new Promise((resolve) => setImmediate(resolve))
    ended = Promise.withResolvers()
  }
  expect(connections).toBe(1)
  await egress.close()
  server.closeAllConnections()
  server.close()
})
