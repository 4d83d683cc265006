// Spans of the proxies, as a collector gets them from the real service.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { startUpstream } from '../fixtures/proxy/upstream.ts'
import { waitFor } from '../fixtures/time.ts'
import { removeFolder, startService } from './service.ts'

type Span = { name: string; attributes: { key: string; value: Record<string, unknown> }[] }

it('has one span for each request, in the words of the conventions and without a word of the conversation', async () => {
  const taken: string[] = []
  const collector = createServer(async (request, response) => {
    let text = ''
    for await (const part of request) text += part
    if (request.url === '/v1/traces') taken.push(text)
    response.end('{}')
  })
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  const upstream = await startUpstream()
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  const service = await startService({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } })
  try {
    const spec = { type: 'llma', baseURL: upstream.url }
    expect((await service.call('POST', '/api/v1/providers', { name: 'vendor', spec })).status).toBe(201)
    for (const tools of ['disabled', 'enabled']) {
      const answer = await fetch(`${service.url}/llma/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': service.token, 'x-svc-tools': tools },
        body: JSON.stringify({ model: 'vendor/m', max_tokens: 9, messages: [{ role: 'user', content: 'tulip' }] }),
      })
      expect(answer.status).toBe(200)
    }
    const spans = (): Span[] => taken.flatMap((text) => JSON.parse(text).resourceSpans[0].scopeSpans[0].spans as Span[])
    await waitFor(() => spans().length === 2, 'the spans')
    for (const { name, attributes } of spans()) {
      expect(name).toBe('chat m')
      expect(attributes).toContainEqual({ key: 'gen_ai.request.model', value: { stringValue: 'm' } })
      expect(attributes).toContainEqual({ key: 'gen_ai.usage.input_tokens', value: { intValue: '15' } })
    }
    expect(taken.join('')).not.toMatch(/tulip|hello/)
  } finally {
    await service.stop()
    await upstream.stop()
    collector.close()
    removeFolder(service.folder)
  }
})
