// A service that has 400 MiB of memory for all it does, under answers without end and long texts.
import { chmodSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { memoryGroupRefusal, openMemoryGroup } from '../fixtures/memory-group.ts'
import { createSequence, makeTexts } from '../fuzz/long-texts.ts'
import { makeFolder, removeFolder, type Service, startService } from './service.ts'

let folder: string
beforeEach(() => {
  folder = makeFolder()
})
afterEach(() => removeFolder(folder))

const frame = (json: { type: string; [field: string]: unknown }) =>
  `event: ${json.type}\ndata: ${JSON.stringify(json)}\n\n`
const usage = { input_tokens: 1, output_tokens: 1 }
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage }
const opening = [
  frame({ type: 'message_start', message }),
  frame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
].join('')
const delta = { type: 'text_delta', text: 'x'.repeat(256 * 1024) }
const piece = frame({ type: 'content_block_delta', index: 0, delta })

/** Text for as long as somebody reads it. */
function sendForEver(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(opening)
  const send = () => {
    while (!response.destroyed && response.write(piece));
    if (!response.destroyed) response.once('drain', send)
  }
  send()
}

async function startVendor(): Promise<{ url: string; stop(): void }> {
  const server = createServer((request, response) => void request.resume().once('end', () => sendForEver(response)))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Through the loop, which collects whole answers. */
function ask({ url, token }: Service): Promise<number> {
  const headers = { 'x-api-key': token, 'content-type': 'application/json', 'x-svc-tools': 'enabled' }
  const body = JSON.stringify({ model: 'vendor/m', max_tokens: 100, messages: [{ role: 'user', content: 'x' }] })
  return fetch(`${url}/llma/v1/messages`, { method: 'POST', headers, body }).then(async (answer) => {
    await answer.text()
    return answer.status
  })
}

/** Of many kinds, into what is stored and what is refused. */
async function sendLongTexts(service: Service, count: number): Promise<number[]> {
  const texts = [...makeTexts(200_000)]
  const next = createSequence(1)
  const send = async (at: number) => {
    const { text } = texts[next() % texts.length] ?? { text: '' }
    const spec = { type: 'container', command: ['echo', text], suspend: true }
    const body = at % 2 === 0 ? { metadata: { name: `long-${at}` }, spec } : { metadata: { name: text }, spec }
    return (await service.call('POST', '/api/v1/tasks', body)).status
  }
  return Promise.all(Array.from({ length: count }, (_, at) => send(at)))
}

describe.skipIf(memoryGroupRefusal !== undefined)(`400 MiB of memory ${memoryGroupRefusal ?? ''}`, () => {
  it('are enough for sixteen answers without end beside long texts: nothing is ended, and it goes on', async () => {
    const group = openMemoryGroup(400)
    const vendor = await startVendor()
    const runtime = join(folder, 'runtime')
    writeFileSync(runtime, `#!/bin/sh\n${group.enter}\nexec ${process.execPath} "$@"\n`)
    chmodSync(runtime, 0o755)
    const service = await startService({ folder, runtime, flags: ['--allow-network', '127.0.0.0/8'] })
    try {
      const spec = { type: 'llma', baseURL: vendor.url, defaultModel: 'm' }
      expect((await service.call('POST', '/api/v1/providers', { metadata: { name: 'vendor' }, spec })).status).toBe(201)
      for (let round = 0; round < 3; round += 1) {
        const [answers, stored] = await Promise.all([
          Promise.all(Array.from({ length: 16 }, () => ask(service))),
          sendLongTexts(service, 60),
        ])
        expect(answers.filter((status) => status !== 502)).toEqual([])
        expect(stored.filter((status) => ![201, 409, 422, 400].includes(status))).toEqual([])
      }
      expect((await service.call('GET', '/healthz')).status).toBe(200)
      expect((await service.call('GET', '/readyz')).status).toBe(200)
      expect([service.process.exitCode, group.countKills()]).toEqual([null, 0])
    } finally {
      await service.stop()
      vendor.stop()
      group.remove()
    }
  }, 180_000)
})
