// How memories come to their vectors: by a provider that may fail, or not at all.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createMemoryVectorController } from '../../src/controllers/memory/vectors.ts'
import { createQueryVectors, queryVectorTimes } from '../../src/lookup/query-vectors.ts'
import type { Embedder } from '../../src/ports/memory/vectors.ts'
import { normalizeVector } from '../../src/rules/memory/vectors.ts'
import { type Bench, openBench } from './bench.ts'

let bench: Bench
beforeEach(async () => {
  bench = await openBench()
})
afterEach(() => bench.dispose())

const namespace = 'default'
const write = (id: string, content: string, more: object = {}) =>
  bench.records.memories.create({ id, namespace, source: 'manual', content, disabled: false, ...more })

/** One controller, and queries as a service with the same settings makes them. */
function open(embedder?: Embedder) {
  const { log, lines } = { log: bench.log, lines: bench.lines }
  const clock = { ...bench.clock, sleep: async () => {} }
  const deps = { vectors: bench.records.memoryVectors, clock, log, embedder }
  const controller = createMemoryVectorController(deps)
  const reports: string[] = []
  const parts = { memoryVectors: bench.records.memoryVectors, clock: bench.clock }
  const report = (message: string) => void reports.push(message)
  const queries = embedder && createQueryVectors({ ...parts, embedder, report })
  return {
    lines,
    reports,
    run: (signal = new AbortController().signal) => controller.reconcile('place', signal),
    async search(query: string, limit = 5) {
      const { vector, notice } = (await queries?.of(namespace, query)) ?? {}
      const found = await bench.records.memories.list({ namespace, query, vector, limit })
      return { ids: found.map(({ id }) => id), notice }
    },
  }
}

describe('memories without a provider', () => {
  it('wait for no vectors, and are found by words', async () => {
    for (let at = 0; at < 300; at += 1) await write(`m${at}`, `boat ${at}`)
    await open().run()
    expect(await bench.records.memoryVectors.listPending(10)).toEqual([])
    expect((await open().search('boats')).ids).toHaveLength(5)
    expect((await open().search('ship')).ids).toEqual([])
  })

  it('get vectors of the provider that was there before once it is back, those written meanwhile too', async () => {
    const { embedder } = scriptEmbedder()
    await write('early', 'a boat')
    await open(embedder).run()
    await write('late', 'a vessel')
    await open().run()
    expect(await bench.records.memoryVectors.listPending(10)).toEqual([])
    await open(embedder).run()
    expect((await open(embedder).search('ship')).ids.toSorted()).toEqual(['early', 'late'])
  })

  it('wait where the controller is told to end', async () => {
    for (let at = 0; at < 10; at += 1) await write(`m${at}`, `boat ${at}`)
    await open().run(AbortSignal.abort())
    expect(await bench.records.memoryVectors.listPending(500)).toHaveLength(10)
  })
})

/** Vectors by subject; `fail` says what goes wrong. */
function scriptEmbedder(dimension = 4) {
  const script = { dimension, asked: [] as string[], fail: (_texts: readonly string[]): void => {}, isSilent: false }
  const embedder: Embedder = {
    model: 'default/main/embed',
    async embed(texts, signal) {
      if (script.isSilent)
        await new Promise((_, reject) => void signal.addEventListener('abort', () => reject(signal.reason)))
      script.fail(texts)
      script.asked.push(...texts)
      return texts.map((text) => {
        const subject = /ship|boat|vessel/.test(text) ? 0 : 1
        return normalizeVector(Array.from({ length: script.dimension }, (_, at) => (at === subject ? 1 : 0.1)))
      })
    },
  }
  return { script, embedder }
}

describe('memories with a provider of vectors', () => {
  it('are found in other words than the question [MEM-021]', async () => {
    const { embedder } = scriptEmbedder()
    const service = open(embedder)
    await write('boat', 'the boat leaves at noon')
    await write('tea', 'tea is served at four')
    expect((await service.search('ship')).notice).toContain('are being made anew')
    await service.run()
    expect(await service.search('ship', 1)).toEqual({ ids: ['boat'], notice: undefined })
  })

  it('are found by words while the provider is down, with a notice that says so, and it is not asked each time', async () => {
    const { script, embedder } = scriptEmbedder()
    const service = open(embedder)
    await write('boat', 'the boat leaves at noon')
    await service.run()
    let failures = 0
    script.fail = () => {
      failures += 1
      throw new Error('connection refused')
    }
    const down = await service.search('boats')
    expect(down).toEqual({ ids: ['boat'], notice: expect.stringContaining('connection refused') })
    expect((await service.search('ship')).ids).toEqual([])
    expect([failures, service.reports]).toEqual([1, ['connection refused']])
    script.fail = () => {}
    await bench.jump(queryVectorTimes.pauseMs)
    expect(await service.search('ship', 1)).toEqual({ ids: ['boat'], notice: undefined })
  })

  it('are found by words when the provider takes too long', async () => {
    const { script, embedder } = scriptEmbedder()
    const service = open(embedder)
    await write('boat', 'the boat leaves at noon')
    await service.run()
    script.isSilent = true
    const searching = service.search('boat')
    await bench.clock.advance(queryVectorTimes.waitMs)
    expect(await searching).toEqual({ ids: ['boat'], notice: expect.stringContaining('took longer than 1000 ms') })
  })

  it('wait while the provider is down, are written meanwhile, and get their vectors when it is back', async () => {
    const { script, embedder } = scriptEmbedder()
    const service = open(embedder)
    script.fail = () => {
      throw new Error('connection refused')
    }
    for (let at = 0; at < 70; at += 1) await write(`boat-${at}`, `boat ${at}`)
    await service.run()
    expect(await bench.records.memoryVectors.listPending(100)).toHaveLength(70)
    expect(service.lines.map(({ message }) => message)).toEqual(['no vectors of memories: the provider fails'])
    script.fail = () => {}
    await service.run()
    expect(await bench.records.memoryVectors.listPending(100)).toEqual([])
    expect((await service.search('ship')).ids).toHaveLength(5)
  })

  it('have no vector where the provider refuses their text, and do not hold up others', async () => {
    const { script, embedder } = scriptEmbedder()
    const service = open(embedder)
    script.fail = (texts) => {
      if (texts.some((text) => text.includes('forbidden'))) throw new Error('refused')
    }
    await write('bad', 'forbidden boat')
    await write('good', 'a boat')
    await service.run()
    expect(await bench.records.memoryVectors.listPending(10)).toEqual([])
    expect((await service.search('vessel')).ids).toEqual(['good'])
    expect((await service.search('forbidden')).ids).toContain('bad')
  })

  it('get new vectors when the provider answers another dimension, and are found meanwhile', async () => {
    const { script, embedder } = scriptEmbedder()
    const service = open(embedder)
    for (const id of ['one', 'two']) await write(id, `a boat, ${id}`)
    await service.run()
    script.dimension = 7
    const meanwhile = await service.search('boat')
    expect(meanwhile.ids.toSorted()).toEqual(['one', 'two'])
    expect(meanwhile.notice).toContain('are being made anew')
    await write('three', 'a boat, three')
    await service.run()
    expect((await service.search('vessel')).ids.toSorted()).toEqual(['one', 'three', 'two'])
    expect((await service.search('vessel')).notice).toBeUndefined()
  })

  it('get new vectors when another model is configured, each once', async () => {
    const { script, embedder } = scriptEmbedder()
    await write('one', 'a boat')
    await open(embedder).run()
    expect(script.asked).toEqual(['a boat'])
    const other = open({ ...embedder, model: 'default/main/newer' })
    expect((await other.search('ship')).notice).toContain('are being made anew')
    script.asked.length = 0
    await other.run()
    expect(script.asked).toEqual(['memory', 'a boat'])
    expect((await other.search('ship')).ids).toEqual(['one'])
  })
})
