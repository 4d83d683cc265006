// What every keeper of secrets does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isSvcError } from '../../src/errors.ts'
import type { Secrets } from '../../src/ports/resources/secrets.ts'

export type SecretsBench = { secrets: Secrets; close(): Promise<void> }

async function reasonOf(work: Promise<unknown>): Promise<string> {
  const error = await work.catch((thrown: unknown) => thrown)
  return isSvcError(error) ? error.reason : `no error but ${JSON.stringify(error)}`
}

export function describeSecrets(name: string, open: () => Promise<SecretsBench>): void {
  describe(`secrets on ${name}`, () => {
    let bench: SecretsBench
    beforeEach(async () => {
      bench = await open()
    })
    afterEach(() => bench.close())

    const key = { namespace: 'default', name: 'vendor' }
    const values = { VENDOR_API_KEY: 'sk-123', empty: '', text: 'two\nlines \u0000 ü 🎈' }

    it('gives back the values it was given', async () => {
      await bench.secrets.create({ ...key, stringData: values })
      expect(await bench.secrets.read(key)).toEqual(values)
    })

    it('describes a secret without its values', async () => {
      const made = await bench.secrets.create({
        ...key,
        stringData: values,
        annotations: { 'svc.ai/allowed-hosts': 'a.example' },
      })
      expect(made).toMatchObject({ ...key, type: 'Opaque', annotations: { 'svc.ai/allowed-hosts': 'a.example' } })
      expect(made.keys).toEqual(['VENDOR_API_KEY', 'empty', 'text'])
      expect(made.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      expect(await bench.secrets.describe(key)).toEqual(made)
      expect(await bench.secrets.list()).toEqual([made])
      expect(JSON.stringify([made, await bench.secrets.list()])).not.toContain('sk-123')
    })

    it('finds no secret under an unknown name, nor under the same name elsewhere', async () => {
      await bench.secrets.create({ ...key, stringData: values })
      expect(await bench.secrets.read({ ...key, namespace: 'other' })).toBeUndefined()
      expect(await bench.secrets.describe({ ...key, name: 'Vendor' })).toBeUndefined()
    })

    it('lists by namespace and name', async () => {
      for (const [namespace, name] of [
        ['b', 'x'],
        ['a', 'z'],
        ['a', 'y'],
      ] as const) {
        await bench.secrets.create({ namespace, name, stringData: { k: 'v' } })
      }
      const names = async (namespace?: string) =>
        (await bench.secrets.list(namespace)).map((found) => `${found.namespace}/${found.name}`)
      expect(await names()).toEqual(['a/y', 'a/z', 'b/x'])
      expect(await names('b')).toEqual(['b/x'])
      expect(await names('none')).toEqual([])
    })

    it('refuses a name in use and keeps the stored secret', async () => {
      await bench.secrets.create({ ...key, stringData: values })
      expect(await reasonOf(bench.secrets.create({ ...key, stringData: { other: 'x' } }))).toBe('AlreadyExists')
      expect(await bench.secrets.read(key)).toEqual(values)
    })

    it('changes the given values, and keeps all others', async () => {
      const annotations = { 'svc.ai/allowed-hosts': 'a.example' }
      const made = await bench.secrets.create({ ...key, stringData: values, annotations })
      const change = { stringData: { VENDOR_API_KEY: 'sk-456', more: 'x' }, remove: ['empty'] }
      const changed = await bench.secrets.update(key, change)
      expect(changed).toEqual({ ...made, keys: ['VENDOR_API_KEY', 'more', 'text'] })
      expect(await bench.secrets.read(key)).toEqual({ VENDOR_API_KEY: 'sk-456', more: 'x', text: values.text })
      expect(await reasonOf(bench.secrets.update({ ...key, name: 'none' }, change))).toBe('NotFound')
    })

    it('loses no change when several are made at the same time', async () => {
      await bench.secrets.create({ ...key, stringData: { first: '1' } })
      const names = Array.from({ length: 8 }, (_, index) => `k${index}`)
      await Promise.all(names.map((name) => bench.secrets.update(key, { stringData: { [name]: name }, remove: [] })))
      expect((await bench.secrets.describe(key))?.keys).toEqual(['first', ...names])
    })

    it('removes a secret once', async () => {
      await bench.secrets.create({ ...key, stringData: values })
      await bench.secrets.remove(key)
      expect(await bench.secrets.read(key)).toBeUndefined()
      expect(await reasonOf(bench.secrets.remove(key))).toBe('NotFound')
    })

    it('notifies listeners of changes until they leave', async () => {
      const changes: string[] = []
      const leave = bench.secrets.onChange((changed) => changes.push(`${changed.namespace}/${changed.name}`))
      await bench.secrets.create({ ...key, stringData: values })
      await expect.poll(() => changes).toEqual(['default/vendor'])
      await bench.secrets.remove(key)
      await expect.poll(() => changes).toEqual(['default/vendor', 'default/vendor'])
      leave()
      await bench.secrets.create({ ...key, stringData: values })
      expect(changes).toHaveLength(2)
    })
  })
}
