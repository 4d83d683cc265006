// What every keeper of config maps does that the service writes itself.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isSvcError } from '../../src/errors.ts'
import type { ResourceKey } from '../../src/ports/resources/resources.ts'
import { hardTexts, type OpenBench, useBench } from './record-bench.ts'

async function reasonOf(work: Promise<unknown>): Promise<string> {
  const error = await work.catch((thrown: unknown) => thrown)
  return isSvcError(error) ? error.reason : `no error but ${JSON.stringify(error)}`
}

export function describeConfigMaps(name: string, open: OpenBench): void {
  describe(`config maps on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const maps = () => bench().stores().configMaps
    const key = { namespace: 'default', name: 'texts' }

    it('keeps every text, label and annotation over a restart', async () => {
      const data = Object.fromEntries(hardTexts.map((text, at) => [`key-${at}`, text]))
      const made = await maps().create({ ...key, data, labels: { team: 'red' }, annotations: { note: 'a\0b' } })
      expect(made).toMatchObject({ ...key, data, labels: { team: 'red' }, annotations: { note: 'a\0b' } })
      expect(made.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      await bench().reopen()
      expect(await maps().get(key)).toEqual(made)
      expect(await maps().get({ ...key, namespace: 'other' })).toBeUndefined()
    })

    it('replaces data always, and labels and annotations only where they are given', async () => {
      const made = await maps().create({ ...key, data: { a: '1', b: '2' }, labels: { team: 'red' } })
      const changed = await maps().replace({ ...key, data: { a: '3' } })
      expect(changed).toMatchObject({ data: { a: '3' }, labels: { team: 'red' } })
      expect(Object.keys(changed.data)).toEqual(['a'])
      expect(changed.resourceVersion).not.toBe(made.resourceVersion)
      expect((await maps().replace({ ...key, data: {}, labels: {} })).labels).toEqual({})
    })

    it('refuses a taken name, an unknown name, and an outdated version', async () => {
      const { resourceVersion } = await maps().create({ ...key, data: { a: '1' } })
      expect(await reasonOf(maps().create({ ...key, data: {} }))).toBe('AlreadyExists')
      await maps().replace({ ...key, data: { a: '2' } }, resourceVersion)
      expect(await reasonOf(maps().replace({ ...key, data: { a: '3' } }, resourceVersion))).toBe('Conflict')
      expect((await maps().get(key))?.data).toEqual({ a: '2' })
      await maps().remove(key)
      expect(await reasonOf(maps().remove(key))).toBe('NotFound')
      expect(await reasonOf(maps().replace({ ...key, data: {} }))).toBe('NotFound')
    })

    it('lists by namespace and name', async () => {
      for (const [namespace, name] of [
        ['b', 'x'],
        ['a', 'z'],
        ['a', 'y'],
      ] as const) {
        await maps().create({ namespace, name, data: {} })
      }
      const all = (await maps().list()).map(({ namespace, name }) => `${namespace}/${name}`)
      expect(all).toEqual(['a/y', 'a/z', 'b/x'])
      expect((await maps().list('a')).map(({ name }) => name)).toEqual(['y', 'z'])
    })

    it('notifies listeners of every write', async () => {
      const heard: ResourceKey[] = []
      const stop = maps().onChange((changed) => heard.push(changed))
      await maps().create({ ...key, data: {} })
      await maps().replace({ ...key, data: { a: '1' } })
      await maps().remove(key)
      expect(heard).toEqual([key, key, key])
      stop()
      await maps().create({ ...key, data: {} })
      expect(heard.length).toBe(3)
    })
  })
}
