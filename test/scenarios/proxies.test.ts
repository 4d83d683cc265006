// The proxies of the real service under many streams at once: none fails, and nothing is left of them.
import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startUpstream, type Upstream } from '../fixtures/proxy/upstream.ts'
import { waitFor } from '../fixtures/time.ts'
import { removeFolder, type Service, startService } from './service.ts'

let service: Service
let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
  service = await startService()
  const spec = { type: 'llma', baseURL: upstream.url }
  const answer = await service.call('POST', '/api/v1/providers', { name: 'vendor', spec })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
})
afterAll(async () => {
  await service.stop()
  await upstream.stop()
  removeFolder(service.folder)
})

const frame = 'event: content_block_delta\ndata: {"type":"content_block_delta","index":0}\n\n'
const frames = 20

function ask(signal?: AbortSignal): Promise<Response> {
  return fetch(`${service.url}/llma/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': service.token, 'x-svc-tools': 'disabled' },
    body: JSON.stringify({ model: 'vendor/m', max_tokens: 9, stream: true, messages: [] }),
    ...(signal === undefined ? {} : { signal }),
  })
}

const countDescriptors = () => readdirSync(`/proc/${service.process.pid}/fd`).length

it('carries many streams at once, whole', async () => {
  const open = new Set<() => void>()
  upstream.script.answer = ({ method, response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(frame)
    // The service looks by itself whether a new provider can be reached.
    if (method !== 'POST') return void response.end()
    open.add(() => response.end(frame.repeat(frames - 1)))
  }
  const answers = Array.from({ length: 300 }, async () => (await ask()).text())
  await waitFor(() => open.size === 300, 'every stream to be open at the same time')
  for (const finish of open) finish()
  expect(new Set(await Promise.all(answers))).toEqual(new Set([frame.repeat(frames)]))
})

it('gives back every connection of streams that were left in the middle', async () => {
  let closed = 0
  upstream.script.answer = ({ response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(frame)
    response.once('close', () => {
      closed += 1
    })
  }
  const leave = async () => {
    const leaving = new AbortController()
    const answer = await ask(leaving.signal)
    await answer.body?.getReader().read()
    leaving.abort()
  }
  await Promise.all(Array.from({ length: 20 }, leave))
  await waitFor(() => closed === 20, 'the first calls of the vendor to end')
  const before = countDescriptors()
  for (let round = 0; round < 10; round += 1) await Promise.all(Array.from({ length: 30 }, leave))
  await waitFor(() => closed === 320, 'every call of the vendor to end')
  await waitFor(() => countDescriptors() <= before + 5, 'the descriptors to be given back')
})

it('writes what was used when it is stopped right after [USAGE-004]', async () => {
  upstream.reset()
  const answer = await fetch(`${service.url}/llma/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': service.token, 'x-svc-tools': 'disabled' },
    body: JSON.stringify({ model: 'vendor/counted', max_tokens: 9, messages: [] }),
  })
  expect(answer.status).toBe(200)
  const { folder } = service
  await service.stop()
  service = await startService({ folder })
  const { body } = await service.call<{ items: { key: string; inputTokens: number }[] }>(
    'GET',
    '/api/v1/usage?groupBy=caller',
  )
  expect(body.items).toMatchObject([{ key: 'owner', inputTokens: 15 }])
})
