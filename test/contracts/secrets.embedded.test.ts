// Secrets of embedded mode: the suite over SQLite, and what only sealed values can show.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isSvcError } from '../../src/errors.ts'
import { systemClock as clock } from '../../src/lib/system-clock.ts'
import { openSecretKeys, type SecretKeys } from '../../src/store/local/secret-key.ts'
import { createEmbeddedSecrets } from '../../src/store/local/secrets.ts'
import type { SecretStorage } from '../../src/store/resources/secret-storage.ts'
import { makeFolder, removeFolder } from './embedded-bench.ts'
import { describeSecrets } from './secrets.contract.ts'
import { openSqliteBench } from './sqlite-bench.ts'

describeSecrets('SQLite and a key file', async () => {
  const folder = makeFolder('secrets-test')
  const bench = await openSqliteBench()
  const keys = await openSecretKeys(join(folder, 'secret.key'))
  const close = async () => {
    await bench.close()
    removeFolder(folder)
  }
  return { secrets: createEmbeddedSecrets({ storage: bench.stores().secrets, keys, clock }), close }
})

let folder: string
let file: string
let bench: Awaited<ReturnType<typeof openSqliteBench>>
let storage: SecretStorage
beforeEach(async () => {
  folder = makeFolder('secret-key-test')
  file = join(folder, 'config', 'secret.key')
  bench = await openSqliteBench()
  storage = bench.stores().secrets
})
afterEach(async () => {
  await bench.close()
  removeFolder(folder)
})

const open = async (changed: Partial<SecretKeys> = {}) => {
  const keys = { ...(await openSecretKeys(file)), ...changed }
  return createEmbeddedSecrets({ storage, keys, clock })
}
const key = { namespace: 'default', name: 'vendor' }
const readKeyIds = () => (JSON.parse(readFileSync(file, 'utf8')) as { keys: { id: string }[] }).keys.map(({ id }) => id)
const failureOf = async (work: Promise<unknown>) => {
  const error = await work.catch((thrown: unknown) => thrown)
  if (!isSvcError(error)) throw new Error(`no refusal but ${String(error)}`)
  return error
}

describe('the key file', () => {
  it('is created on first use with mode 0600 in a folder of its own, and read from then on [MODE-014]', async () => {
    const sealed = (await openSecretKeys(file)).seal(['a'], 'text')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, 'config')).mode & 0o777).toBe(0o700)
    expect((await openSecretKeys(file)).unseal(['a'], sealed)).toBe('text')
    expect(readdirSync(join(folder, 'config'))).toEqual(['secret.key'])
  })

  it('is one file when several processes make it at the same time', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => openSecretKeys(file)))
    const [sealed] = all.map((keys) => keys.seal(['a'], 'text'))
    expect(all.map((keys) => keys.unseal(['a'], sealed ?? Buffer.alloc(0)))).toEqual(all.map(() => 'text'))
  })

  it.each([0o640, 0o604, 0o620, 0o666])(
    'is refused with mode %o, with the command that repairs it [MODE-014]',
    async (mode) => {
      await openSecretKeys(file)
      chmodSync(file, mode)
      const error = await failureOf(openSecretKeys(file))
      expect(error).toMatchObject({ reason: 'NotConfigured', message: expect.stringContaining(`chmod 600 ${file}`) })
    },
  )

  it.each(['', 'not json', '{}', '{"version":1,"keys":[]}', '{"version":1,"keys":[{"id":"ab","key":"c2hvcnQ="}]}'])(
    'with the content %j is refused and left as it is',
    async (content) => {
      mkdirSync(join(folder, 'config'))
      writeFileSync(file, content, { mode: 0o600 })
      const error = await failureOf(openSecretKeys(file))
      expect(error).toMatchObject({ reason: 'NotConfigured', message: expect.stringContaining('backup') })
      expect(readFileSync(file, 'utf8')).toBe(content)
    },
  )

  it('yields keys for other purposes that differ by purpose and stay over restarts', async () => {
    const [first] = (await openSecretKeys(file)).derive('one')
    const keys = await openSecretKeys(file)
    expect(keys.derive('one')[0]).toEqual(first)
    expect(keys.derive('two')[0]?.key).not.toEqual(first?.key)
  })
})

describe('a sealed value', () => {
  it('is AES-256-GCM with a fresh nonce, and contains nothing of the plain text [MODE-013]', async () => {
    const secrets = await open()
    const text = 'a very recognisable value'
    await secrets.create({ ...key, stringData: { one: text, two: text } })
    const entries = (await storage.get(key))?.entries ?? {}
    expect(entries.one?.length).toBe(1 + 4 + 12 + 16 + text.length)
    expect(entries.one?.equals(entries.two ?? Buffer.alloc(0))).toBe(false)
    for (const sealed of Object.values(entries)) expect(sealed.includes('recognisable')).toBe(false)
  })

  it.each([
    ['another key of the secret', { ...key, entry: 'other' }],
    ['another secret', { ...key, name: 'other', entry: 'one' }],
    ['another namespace', { ...key, namespace: 'other', entry: 'one' }],
  ])('cannot be moved to %s [MODE-013]', async (_where, { entry, ...place }) => {
    const secrets = await open()
    await secrets.create({ ...key, stringData: { one: 'text' } })
    const row = await storage.get(key)
    await storage.delete(key)
    await storage.insert({
      ...place,
      type: 'Opaque',
      annotations: {},
      createdAt: row?.createdAt ?? '',
      entries: { [entry]: row?.entries.one ?? Buffer.alloc(0) },
    })
    expect(await failureOf(secrets.read(place))).toMatchObject({ reason: 'Internal' })
  })

  it('that was changed in any byte is refused [MODE-013]', async () => {
    const keys = await openSecretKeys(file)
    const sealed = keys.seal(['a', 'b'], 'text')
    for (let index = 0; index < sealed.length; index++) {
      const changed = Buffer.from(sealed)
      changed[index] = (changed[index] ?? 0) ^ 1
      expect(() => keys.unseal(['a', 'b'], changed)).toThrow()
    }
    expect(() => keys.unseal(['a', 'b'], sealed.subarray(0, 20))).toThrow()
    expect(() => keys.unseal(['ab', ''], sealed)).toThrow()
    expect(keys.unseal(['a', 'b'], sealed)).toBe('text')
  })
})

describe('rotation of the key', () => {
  const fill = async () => {
    const secrets = await open()
    for (const name of ['a', 'b', 'c'])
      await secrets.create({ namespace: 'default', name, stringData: { k: `value ${name}`, l: '' } })
    return secrets
  }
  const readAll = async () => {
    const secrets = await open()
    const found = await Promise.all(['a', 'b', 'c'].map((name) => secrets.read({ namespace: 'default', name })))
    return found.map((values) => values?.k)
  }
  const values = ['value a', 'value b', 'value c']

  it('encrypts everything again, and removes the old key from the file [MODE-015]', async () => {
    const secrets = await fill()
    const [before] = readKeyIds()
    const old = (await storage.get({ namespace: 'default', name: 'a' }))?.entries.k ?? Buffer.alloc(0)
    expect(await secrets.rotateKey()).toEqual({ secrets: 3 })
    const after = readKeyIds()
    expect(after).toHaveLength(1)
    expect(after).not.toContain(before)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(await readAll()).toEqual(values)
    const keys = await openSecretKeys(file)
    expect(() => keys.unseal(['default', 'a', 'k'], old)).toThrow(/not in the key file/)
  })

  it('keeps every secret readable while it runs', async () => {
    const secrets = await fill()
    const rotation = secrets.rotateKey()
    const reads = await Promise.all(['a', 'b', 'c'].map((name) => secrets.read({ namespace: 'default', name })))
    await rotation
    expect(reads.map((found) => found?.k)).toEqual(values)
  })

  it.each([0, 1, 2])(
    'that dies after %i secrets loses nothing, and the next rotation finishes it [MODE-015]',
    async (count) => {
      await fill()
      let done = 0
      const dying: SecretStorage = {
        ...storage,
        replaceEntries: (...parts) =>
          done++ < count ? storage.replaceEntries(...parts) : Promise.reject(new Error('killed')),
      }
      const broken = createEmbeddedSecrets({ storage: dying, keys: await openSecretKeys(file), clock })
      await expect(broken.rotateKey()).rejects.toThrow('killed')
      expect(readKeyIds()).toHaveLength(2)
      expect(await readAll()).toEqual(values)
      await (await open()).rotateKey()
      expect(readKeyIds()).toHaveLength(1)
      expect(await readAll()).toEqual(values)
    },
  )

  it('that dies before the old key is removed loses nothing', async () => {
    await fill()
    const broken = await open({ dropOlder: () => Promise.reject(new Error('killed')) })
    await expect(broken.rotateKey()).rejects.toThrow('killed')
    expect(await readAll()).toEqual(values)
  })

  it('includes every secret that is created meanwhile', async () => {
    const secrets = await fill()
    const rotation = secrets.rotateKey()
    await secrets.create({ namespace: 'default', name: 'd', stringData: { k: 'value d' } })
    await rotation
    expect((await (await open()).read({ namespace: 'default', name: 'd' }))?.k).toBe('value d')
    expect(existsSync(file)).toBe(true)
  })
})

describe('the secret of a task', () => {
  const build = { name: 'build', uid: 'uid-1' }
  const ownerOf = async (secrets: Awaited<ReturnType<typeof open>>) =>
    (await secrets.describe(key))?.annotations['svc.ai/owner-task-uid']

  it('has one owner, which may change, and is deleted with the last one', async () => {
    const secrets = await open()
    await secrets.create({ ...key, stringData: { token: 't' }, annotations: { other: 'x' }, owner: build })
    await secrets.create({ namespace: 'default', name: 'plain', stringData: { token: 'p' } })
    await secrets.create({ namespace: 'elsewhere', name: 'same', stringData: { token: 'p' }, owner: build })
    expect(await ownerOf(secrets)).toBe('uid-1')
    await secrets.setOwner(key, { name: 'child', uid: 'uid-2' })
    expect(await ownerOf(secrets)).toBe('uid-2')
    expect((await secrets.describe(key))?.annotations.other).toBe('x')
    await secrets.removeOwned('default', 'uid-1')
    expect(await secrets.read(key)).toEqual({ token: 't' })
    await secrets.removeOwned('default', 'uid-2')
    const left = (await secrets.list()).map(({ namespace, name }) => `${namespace}/${name}`)
    expect(left).toEqual(['default/plain', 'elsewhere/same'])
  })

  it('cannot be given to an owner once it is deleted', async () => {
    const secrets = await open()
    expect((await failureOf(secrets.setOwner(key, build))).reason).toBe('NotFound')
  })
})
