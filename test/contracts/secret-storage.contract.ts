// What every storage of sealed secrets does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SecretRow } from '../../src/store/resources/secret-storage.ts'
import { type OpenBench, useBench } from './record-bench.ts'

export function describeSecretStorage(name: string, open: OpenBench): void {
  describe(`secret storage on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const secrets = () => bench().stores().secrets
    const makeRow = (name: string, namespace = 'default'): SecretRow => ({
      namespace,
      name,
      type: 'Opaque',
      annotations: { 'svc.ai/allowed-hosts': 'example.com', odd: '\0\ud800' },
      createdAt: '2026-03-01T12:00:00Z',
      entries: {
        'api-key': Buffer.from([0, 1, 255, 0]),
        Key: Buffer.from('x'),
        key: Buffer.from('y'),
        empty: Buffer.alloc(0),
      },
    })

    it('gives back every field and byte, also after a restart', async () => {
      expect(await secrets().insert(makeRow('main'))).toBe(true)
      await bench().reopen()
      expect(await secrets().get({ namespace: 'default', name: 'main' })).toEqual(makeRow('main'))
      expect(await secrets().get({ namespace: 'other', name: 'main' })).toBeUndefined()
      expect(await secrets().insert({ ...makeRow('bare'), entries: {}, annotations: {} })).toBe(true)
      expect((await secrets().get({ namespace: 'default', name: 'bare' }))?.entries).toEqual({})
    })

    it('lists in namespace and name order, bytewise', async () => {
      for (const [namespace, name] of [
        ['b', 'x'],
        ['a', 'y'],
        ['a', 'X'],
        ['a', 'x'],
        ['a-b', 'a'],
      ] as const) {
        await secrets().insert(makeRow(name, namespace))
      }
      const names = (rows: SecretRow[]) => rows.map((row) => `${row.namespace}/${row.name}`)
      expect(names(await secrets().list())).toEqual(['a/X', 'a/x', 'a/y', 'a-b/a', 'b/x'])
      expect(names(await secrets().list('a'))).toEqual(['a/X', 'a/x', 'a/y'])
      expect(await secrets().list('none')).toEqual([])
    })

    it('gives a name to exactly one of many that insert it together', async () => {
      const rows = Array.from({ length: 10 }, (_, index) => ({ ...makeRow('main'), type: `type-${index}` }))
      const inserted = await Promise.all(rows.map((row) => secrets().insert(row)))
      expect(inserted.filter(Boolean)).toHaveLength(1)
      const stored = await secrets().get({ namespace: 'default', name: 'main' })
      expect(stored).toEqual(rows[inserted.indexOf(true)])
    })

    it('replaces values only if they are the ones that the caller read', async () => {
      const key = { namespace: 'default', name: 'main' }
      await secrets().insert(makeRow('main'))
      const before = makeRow('main').entries
      const after = { 'api-key': Buffer.from('resealed') }
      expect(await secrets().replaceEntries(key, { ...before, more: Buffer.from('') }, after)).toBe(false)
      expect(await secrets().replaceEntries(key, { ...before, key: Buffer.from('z') }, after)).toBe(false)
      const races = await Promise.all([1, 2, 3].map(() => secrets().replaceEntries(key, before, after)))
      expect(races.filter(Boolean)).toHaveLength(1)
      expect(await secrets().get(key)).toEqual({ ...makeRow('main'), entries: after })
      expect(await secrets().replaceEntries({ ...key, name: 'none' }, {}, after)).toBe(false)
      expect(await secrets().get({ ...key, name: 'none' })).toBeUndefined()
    })

    it('deletes one secret with its values and no other', async () => {
      await secrets().insert(makeRow('main'))
      await secrets().insert(makeRow('main', 'other'))
      expect(await secrets().delete({ namespace: 'default', name: 'main' })).toBe(true)
      expect(await secrets().delete({ namespace: 'default', name: 'main' })).toBe(false)
      expect(await secrets().list()).toEqual([makeRow('main', 'other')])
      expect(await secrets().insert({ ...makeRow('main'), entries: {} })).toBe(true)
      expect((await secrets().get({ namespace: 'default', name: 'main' }))?.entries).toEqual({})
    })
  })
}
