import { expect, it } from 'vitest'
import { createGenAiMetrics } from './gen-ai-metrics.ts'

it('counts tokens and durations of model calls, and nothing of other spans', async () => {
  const sent: string[] = []
  const metrics = createGenAiMetrics({
    source: { version: '1', instance: 'i-1' },
    now: () => 2000,
    send: async (body) => void sent.push(body),
  })
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'default/p',
    'gen_ai.request.model': 'm',
    'gen_ai.usage.input_tokens': 5,
    'gen_ai.usage.output_tokens': 1,
    'svc.cost': 1,
  }
  const span = { name: 'chat m', startMs: 0, endMs: 250, attributes }
  metrics.count(span)
  metrics.count({ ...span, error: 'failed' })
  metrics.count({ ...span, attributes: { 'gen_ai.operation.name': 'execute_tool' } })
  await metrics.close()
  await metrics.close()
  expect(sent).toHaveLength(1)
  const [tokens, durations] = JSON.parse(sent[0] ?? '').resourceMetrics[0].scopeMetrics[0].metrics
  expect(tokens).toMatchObject({ name: 'gen_ai.client.token.usage', unit: '{token}' })
  const [input, output] = tokens.histogram.dataPoints
  expect([input.count, input.sum, input.bucketCounts.slice(0, 3)]).toEqual(['2', 10, ['0', '0', '2']])
  expect([output.sum, output.bucketCounts[0]]).toEqual([2, '2'])
  expect(input.attributes).toContainEqual({ key: 'gen_ai.token.type', value: { stringValue: 'input' } })
  expect(input.attributes).toHaveLength(4)
  expect(durations).toMatchObject({ name: 'gen_ai.client.operation.duration', unit: 's' })
  expect(durations.histogram.dataPoints.map(({ sum }: { sum: number }) => sum)).toEqual([0.25, 0.25])
})
