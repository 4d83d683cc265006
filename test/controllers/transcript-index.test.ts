// How messages come into the index of transcripts.
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createTranscriptIndexController } from '../../src/controllers/chat/transcript-index.ts'
import { type Bench, openBench } from './bench.ts'

let bench: Bench
beforeEach(async () => {
  bench = await openBench()
})
afterEach(() => bench.dispose())

it('indexes everything there is, and ends when it is told to', async () => {
  const { sessions, transcripts } = bench.records
  const controller = createTranscriptIndexController({ transcripts, clock: { ...bench.clock, sleep: async () => {} } })
  for (const name of ['one', 'two']) {
    const key = { namespace: 'default', name }
    await sessions.ensure(key, { create: true, sessionType: 'chat' })
    await sessions.append(
      key,
      Array.from({ length: 40 }, (_, number) => ({ role: 'user', content: `message ${number}` })),
    )
  }
  await controller.reconcile('index', AbortSignal.abort())
  expect(await transcripts.countUnindexed()).toBe(80)
  await controller.reconcile('index', new AbortController().signal)
  expect(await transcripts.countUnindexed()).toBe(0)
})
