// What every store of vectors of memories does, and how searches use them.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { QueryVector } from '../../src/ports/memory/vectors.ts'
import { normalizeVector } from '../../src/rules/memory/vectors.ts'
import { type OpenBench, useBench } from './record-bench.ts'

export function describeMemoryVectors(name: string, open: OpenBench): void {
  describe(`vectors of memories on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const memories = () => bench().stores().memories
    const vectors = () => bench().stores().memoryVectors
    const namespace = 'default'
    const write = (id: string, content: string, more: { namespace?: string; tags?: string[] } = {}) =>
      memories().create({ id, namespace, source: 'manual', content, disabled: false, ...more })
    const model = 'main#2'

    /** Vectors by the direction that a text names: `at 30 degrees`. */
    const pointTo = (degrees: number) =>
      normalizeVector([Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)])
    const placeAll = async (by = model) => {
      for (;;) {
        const waiting = await vectors().listPending(3)
        if (waiting.length === 0) return
        await vectors().save(
          waiting.map(({ text, ...one }) => ({ ...one, model: by, vector: pointTo(Number(/\d+/.exec(text)?.[0])) })),
        )
      }
    }
    const asked = (degrees: number, more: Partial<QueryVector> = {}): QueryVector => ({
      model,
      vector: pointTo(degrees) ?? new Float32Array(),
      ...more,
    })
    const list = async (query: string, vector?: QueryVector, more: object = {}) =>
      (await memories().list({ namespace, query, vector, limit: 10, ...more })).map(({ id }) => id)

    it('lists what was written or changed until it is placed, in order', async () => {
      await write('one', 'at 10 degrees', { tags: ['north'] })
      await write('two', 'at 20 degrees')
      const waiting = await vectors().listPending(10)
      expect(waiting.map(({ text }) => text)).toEqual(['at 10 degrees\nnorth', 'at 20 degrees'])
      await vectors().setModel(namespace, model)
      await memories().change({ namespace, id: 'one' }, { content: 'at 80 degrees' })
      await vectors().save(waiting.map(({ text: _text, ...one }) => ({ ...one, model, vector: pointTo(0) })))
      expect((await vectors().listPending(10)).map(({ text }) => text)).toEqual(['at 80 degrees\nnorth'])
      await memories().setDisabled({ namespace, id: 'two' }, true)
      await placeAll()
      expect(await vectors().listPending(10)).toEqual([])
    })

    it('finds memories that are like the query without a word of it, and those with its words', async () => {
      await vectors().setModel(namespace, model)
      for (const degrees of [0, 10, 20, 90]) await write(`m${degrees}`, `at ${degrees} degrees`)
      await write('words', 'a question at 180 degrees')
      await placeAll()
      expect(await list('question')).toEqual(['words'])
      expect(await list('question', asked(8))).toEqual(['words', 'm10', 'm0', 'm20', 'm90'])
      expect(await list('degrees 90', asked(8))).toHaveLength(5)
      expect(await list('degrees 90', asked(8), { limit: 1 })).toEqual(['m90'])
      expect(await list('!?', asked(8))).toEqual([])
    })

    it('compares only vectors of the same model, of as many numbers, and of the namespace', async () => {
      await vectors().setModel(namespace, model)
      await vectors().setModel('other', model)
      await write('here', 'at 10 degrees')
      await write('there', 'at 10 degrees', { namespace: 'other' })
      await placeAll()
      expect(await list('question', asked(10))).toEqual(['here'])
      expect(await list('question', asked(10, { model: 'another#2' }))).toEqual([])
      const wide = Float32Array.from([1, 0, 0])
      expect(await list('question', asked(10, { vector: wide }))).toEqual([])
    })

    it('keeps to filters, and to what is recalled', async () => {
      await vectors().setModel(namespace, model)
      await write('tagged', 'at 15 degrees', { tags: ['staging'] })
      for (const degrees of [9, 10, 11]) await write(`m${degrees}`, `at ${degrees} degrees`)
      await placeAll()
      await memories().setDisabled({ namespace, id: 'm10' }, true)
      await memories().change({ namespace, id: 'm9' }, { deleted: true })
      expect(await list('question', asked(10), { tags: ['staging'] })).toEqual(['tagged'])
      expect(await list('question', asked(10))).toEqual(['m11', 'tagged'])
      const recalled = await memories().recall({ namespace, query: 'x', vector: asked(10), limit: 1, reader: 'r' })
      expect(recalled).toMatchObject([{ id: 'm11', recalledCount: 1 }])
    })

    it('uses the new vector of a memory that was changed, and those of a new model', async () => {
      await vectors().setModel(namespace, model)
      await write('moved', 'at 10 degrees')
      await write('kept', 'at 10 degrees still')
      await placeAll()
      expect(await list('question', asked(10))).toHaveLength(2)
      await memories().change({ namespace, id: 'moved' }, { content: 'at 90 degrees' })
      await placeAll()
      expect(await list('question', asked(10))).toEqual(['kept', 'moved'])
      expect(await list('question', asked(90))).toEqual(['moved', 'kept'])
      await vectors().requeueAll(namespace)
      await vectors().setModel(namespace, 'newer#2')
      expect(await vectors().modelOf(namespace)).toBe('newer#2')
      expect(await list('question', asked(10, { model: 'newer#2' }))).toEqual([])
      await placeAll('newer#2')
      expect(await list('question', asked(10, { model: 'newer#2' }))).toEqual(['kept', 'moved'])
    })

    it('puts all memories of a namespace on the list again, however many', async () => {
      for (let from = 0; from < 2100; from += 300)
        await Promise.all(Array.from({ length: 300 }, (_, at) => write(`m${from + at}`, `at ${at % 90} degrees`)))
      await write('elsewhere', 'at 1 degree', { namespace: 'other' })
      await vectors().setModel(namespace, model)
      for (let waiting = await vectors().listPending(500); waiting.length > 0; ) {
        await vectors().save(waiting.map(({ text: _text, ...one }) => ({ ...one, model, vector: pointTo(1) })))
        waiting = await vectors().listPending(500)
      }
      await vectors().requeueAll(namespace)
      expect(await vectors().listPending(5000)).toHaveLength(2100)
      expect((await vectors().listNamespaces()).sort()).toEqual([namespace, 'other'])
      expect(await list('question', asked(1))).toHaveLength(10)
    })
  })
}
