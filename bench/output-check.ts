// What it costs to compare an answer with its schema in a thread: the first time, again, and a long one.
import { createOutputCheck } from '../src/llm/loop/output-check.ts'
import { percentile, report, round } from './measure.ts'

const samples = 1000
const check = createOutputCheck({
  type: 'object',
  properties: { name: { type: 'string', pattern: '^[A-Z]' }, tags: { type: 'array', items: { enum: ['a', 'b'] } } },
  required: ['name'],
  additionalProperties: false,
})
const { signal } = new AbortController()

async function measure(answer: object): Promise<number> {
  const text = JSON.stringify(answer)
  const start = performance.now()
  await check(text, signal)
  return performance.now() - start
}

export async function run(): Promise<void> {
  const first = await measure({ name: 'Ada' })
  const again: number[] = []
  for (let i = 0; i < samples; i++) again.push(await measure({ name: 'Ada', tags: ['a'] }))
  const long = await measure({ name: 'A'.repeat(15 * 1024 ** 2) })
  report('output-check', [
    { what: 'first, with the start of its thread', ms: round(first, 2) },
    { what: 'again, median', ms: round(percentile(again, 0.5), 2) },
    { what: 'again, p99', ms: round(percentile(again, 0.99), 2) },
    { what: 'with 15 MiB of text', ms: round(long, 2) },
  ])
}
