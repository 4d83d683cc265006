// Spans and metrics of a task, as a collector gets them from the built program.
import { chmodSync, copyFileSync, mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeFolder, readResult, removeFolder, type Service, startService, waitForPhase } from './service.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const callerSpan = 'b7ad6b7169203331'

type Sent = { path: string; key: string | undefined; body: string }
type SentSpan = { name: string; traceId: string; spanId: string; parentSpanId?: string; attributes: { key: string }[] }

const sent: Sent[] = []
const collector = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const key = request.headers['x-honeycomb-team'] as string | undefined
    sent.push({ path: request.url ?? '', key, body: Buffer.concat(chunks).toString() })
    response.end('{}')
  })
})
let service: Service
const folder = makeFolder()

beforeAll(async () => {
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'x-honeycomb-team=made%2Dup' }
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  copyFileSync(join(import.meta.dirname, '..', 'fixtures', 'agents', 'shell.mjs'), join(bin, 'shell-agent'))
  chmodSync(join(bin, 'shell-agent'), 0o755)
  const flags = ['--agent-program', 'shell=shell-agent']
  service = await startService({ folder, flags, env: { ...env, PATH: `${bin}:${process.env.PATH}` } })
})
afterAll(async () => {
  await service?.stop()
  collector.close()
  removeFolder(folder)
})

const listSpans = () =>
  sent
    .filter(({ path }) => path === '/v1/traces')
    .flatMap(({ body }) => JSON.parse(body).resourceSpans[0].scopeSpans[0].spans as SentSpan[])

async function post(path: string, body: object): Promise<void> {
  const answer = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${service.token}`,
      'content-type': 'application/json',
      accept: 'application/json',
      traceparent: `00-${traceId}-${callerSpan}-01`,
    },
    body: JSON.stringify(body),
  })
  expect(answer.ok).toBe(true)
}

it('are one tree below the caller, with the headers of the owner and without texts', async () => {
  await service.call('POST', '/api/v1/providers', { name: 'traced-demo', spec: { type: 'demo' } })
  await service.call('POST', '/api/v1/providers', {
    name: 'off',
    spec: { type: 'llmo', baseURL: 'http://127.0.0.1:9' },
  })
  const shell = { runtime: { runtimeRef: { name: 'shell' } }, model: { name: 'off/m' } }
  await service.call('POST', '/api/v1/agents', { name: 'shell', spec: shell })
  const spec = { type: 'ai', prompt: 'say hello', ai: { providerRef: { name: 'traced-demo' } } }
  await post('/api/v1/tasks', { metadata: { name: 'traced' }, spec })
  const program = { type: 'agent', prompt: 'echo "it is $TRACEPARENT"', agentRef: { name: 'shell' } }
  await post('/api/v1/tasks', { metadata: { name: 'program' }, spec: program })
  await post('/api/v1/chat', { message: 'say hello', provider: 'traced-demo', sessionId: 'talk' })
  await waitForPhase(service, 'traced', 'Succeeded')
  await waitForPhase(service, 'program', 'Succeeded')
  const environment = await readResult(service, 'program')
  await service.stop()
  const spans = listSpans().filter((span) => span.traceId === traceId)
  const turn = spans.find(({ name }) => name === 'invoke_agent chat')
  expect(turn).toMatchObject({ parentSpanId: callerSpan })
  const run = spans.find(({ name }) => name === 'invoke_agent shell')
  expect(environment).toContain(`it is 00-${traceId}-${run?.spanId}-01`)
  const attempt = spans.find(({ name }) => name === 'invoke_agent traced')
  expect(attempt).toMatchObject({ parentSpanId: callerSpan })
  const chats = spans.filter(({ name }) => name.startsWith('chat '))
  expect(new Set(chats.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([attempt?.spanId, turn?.spanId]))
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
  expect(JSON.stringify(sent)).not.toContain('say hello')
  expect(sent.find(({ path }) => path === '/v1/metrics')?.body).toContain('gen_ai.client.token.usage')
  expect(new Set(sent.map(({ key }) => key))).toEqual(new Set(['made-up']))
})
