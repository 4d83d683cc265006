// How memories come to their vectors: by a space that is learnt from them, or by a provider that may fail.
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

function makeRandom() {
  let state = 7
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

/** One controller, and queries as a service with the same settings makes them. */
function open(embedder?: Embedder) {
  const { log, lines } = { log: bench.log, lines: bench.lines }
  const clock = { ...bench.clock, sleep: async () => {} }
  const deps = { vectors: bench.records.memoryVectors, clock, log, random: makeRandom(), embedder }
  const controller = createMemoryVectorController(deps)
  const reports: string[] = []
  const queries = createQueryVectors({
    memoryVectors: bench.records.memoryVectors,
    clock: bench.clock,
    embedder,
    report: (message) => void reports.push(message),
  })
  return {
    lines,
    reports,
    run: (signal = new AbortController().signal) => controller.reconcile('place', signal),
    async search(query: string, limit = 5) {
      const { vector, notice } = await queries.of(namespace, query)
      const found = await bench.records.memories.list({ namespace, query, vector, limit })
      return { ids: found.map(({ id }) => id), notice }
    },
  }
}

describe('memories of a namespace without a provider', () => {
  const letters = 'abcdefghijklmnop'
  /** Sixteen subjects of sixteen words, as many as the space has directions; no text has both of the first two words of the first subject. */
  const wordsOf = (subject: number) =>
    Array.from({ length: 16 }, (_, at) => `${letters[subject]}${letters[at >> 1]}${at % 2 ? 'on' : 'ir'}`)
  const [car = '', automobile = ''] = wordsOf(0)

  async function writeMany(from: number, count: number) {
    const random = makeRandom()
    for (let at = from; at < from + count; at += 1) {
      const words = wordsOf(at % 16)
      const left = at % 16 !== 0 ? undefined : at % 32 === 0 ? car : automobile
      const chosen = words.filter((word) => word !== left && random() < 0.5)
      await write(`m${at}`, [`subject${at % 16}`, ...chosen].join(' '))
    }
  }

  it('have no vectors while there are few, and are found by words', async () => {
    const few = open()
    await writeMany(0, 20)
    await few.run()
    expect(await bench.records.memoryVectors.modelOf(namespace)).toBeUndefined()
    expect(await bench.records.memoryVectors.listPending(10)).toEqual([])
    const found = await few.search(automobile, 50)
    expect(found.ids.length).toBeGreaterThan(0)
    const texts = await Promise.all(
      found.ids.map(async (id) => (await bench.records.memories.get({ namespace, id }))?.content),
    )
    expect(texts.every((text) => text?.includes(automobile))).toBe(true)
  })

  it('have those of a space that is learnt once there are enough, and anew when there are half as many again', async () => {
    const many = open()
    await writeMany(0, 260)
    await write('other', automobile, { namespace: 'elsewhere' })
    await many.run()
    const first = await bench.records.memoryVectors.modelOf(namespace)
    expect(first).toMatchObject({ memories: 260 })
    expect(await bench.records.memoryVectors.modelOf('elsewhere')).toBeUndefined()
    expect(await bench.records.memoryVectors.listPending(1)).toEqual([])
    // Texts with the other word for it have no word in common with the question.
    const { ids, notice } = await many.search(automobile, 200)
    const texts = await Promise.all(
      ids.map(async (id) => (await bench.records.memories.get({ namespace, id }))?.content ?? ''),
    )
    expect(notice).toBeUndefined()
    expect(texts.some((text) => text.includes(car) && !text.includes(automobile))).toBe(true)
    expect(texts.every((text) => text.startsWith('subject0 '))).toBe(true)
    bench.clock.jump(1000)
    await writeMany(260, 60)
    await many.run()
    expect(await bench.records.memoryVectors.modelOf(namespace)).toEqual(first)
    expect(await bench.records.memoryVectors.listPending(1)).toEqual([])
    await writeMany(320, 80)
    await many.run()
    expect(await bench.records.memoryVectors.modelOf(namespace)).toMatchObject({ memories: 400 })
  })

  it('wait where the controller is told to end', async () => {
    await writeMany(0, 210)
    await open().run(AbortSignal.abort())
    expect(await bench.records.memoryVectors.listPending(500)).toHaveLength(210)
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
    bench.clock.jump(queryVectorTimes.pauseMs)
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
