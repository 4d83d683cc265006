/**
 * What it costs to compare an answer with its schema in a thread: the first time, again, and a long one (docs/adr/0080-threads-with-a-deadline.md).
 *
 *   node bench/output-check.ts
 */
import { createOutputCheck } from '../src/llm/loop/output-check.ts'

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

const first = await measure({ name: 'Ada' })
const again: number[] = []
for (let i = 0; i < 1000; i++) again.push(await measure({ name: 'Ada', tags: ['a'] }))
again.sort((a, b) => a - b)
const long = await measure({ name: 'A'.repeat(15 * 1024 ** 2) })
const rows = { first, median: again[500], p99: again[990], long }
for (const [name, ms] of Object.entries(rows)) console.log(`${name.padEnd(8)} ${ms?.toFixed(2)} ms`)
