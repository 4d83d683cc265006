// The key that encrypts secrets: in its own file, with several keys in it while one replaces another.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, randomUUID } from 'node:crypto'
import { link, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isSvcError, messageOf, SvcError } from '../../errors.ts'
import { hasCode } from '../../lib/error-code.ts'
import { memoizeByObject } from '../../lib/memoize.ts'

export type DerivedKey = { id: string; key: Buffer }

export type SecretKeys = {
  /** Encrypts under the current key, bound to `context`. */
  seal(context: string[], plain: string): Buffer
  /** Internal when the key is not in the file, or the value or its context was changed. */
  unseal(context: string[], sealed: Buffer): string
  /** Whether it is sealed under the current key. */
  isCurrent(sealed: Buffer): boolean
  /** Keys for other purposes, the current one first. A replaced one stays until the process ends. */
  derive(purpose: string): DerivedKey[]
  /** Creates a new current key; older ones stay in the file until `dropOlder`. */
  addKey(): Promise<void>
  /** Removes all keys except the current one. Only when nothing is sealed under them. */
  dropOlder(): Promise<void>
}

/** The file: base64 keys of 32 bytes, the current one first. */
type KeyFile = { version: 1; keys: { id: string; key: string }[] }

type Key = { id: string; bytes: Buffer }

// Sealed value: version, key id, nonce, authentication tag, ciphertext (AES-256-GCM, NIST SP 800-38D).
const sealVersion = 1
const idLength = 4
const nonceLength = 12
const tagLength = 16
const headLength = 1 + idLength + nonceLength + tagLength

function makeKey(): Key {
  return { id: randomBytes(idLength).toString('hex'), bytes: randomBytes(32) }
}

function formatKeys(keys: Key[]): string {
  const file: KeyFile = { version: 1, keys: keys.map(({ id, bytes }) => ({ id, key: bytes.toString('base64') })) }
  return `${JSON.stringify(file, null, 2)}\n`
}

function parseKeys(text: string, file: string): Key[] {
  try {
    const { version, keys } = JSON.parse(text) as KeyFile
    const parsed = keys.map(({ id, key }) => ({ id, bytes: Buffer.from(key, 'base64') }))
    if (version === 1 && parsed.length > 0 && parsed.every(({ bytes }) => bytes.length === 32)) return parsed
  } catch {
    // Reported below, without quoting what may be a key.
  }
  const words =
    'is not a key file of this service. Restore it from a backup; without it the stored secrets cannot be read.'
  throw new SvcError('NotConfigured', `${file} ${words}`)
}

async function checkPermissions(file: string): Promise<void> {
  if (process.platform === 'win32') return
  const { mode } = await stat(file)
  if ((mode & 0o077) === 0) return
  const octal = (mode & 0o777).toString(8).padStart(4, '0')
  throw new SvcError('NotConfigured', `${file} can be read by others (mode ${octal}). Run: chmod 600 ${file}`)
}

async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, 'w', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  await handle.sync().finally(() => handle.close())
}

/** When two processes create it at the same time, one wins, and both read the same key. */
async function createKeyFile(file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.${randomUUID()}.new`
  await writeDurably(draft, formatKeys([makeKey()]))
  try {
    await link(draft, file)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  } finally {
    await rm(draft, { force: true })
  }
  await syncFolder(dirname(file))
}

async function replaceKeyFile(file: string, keys: Key[]): Promise<void> {
  const draft = `${file}.${randomUUID()}.new`
  await writeDurably(draft, formatKeys(keys))
  await rename(draft, file)
  await syncFolder(dirname(file))
}

async function readOrCreate(file: string): Promise<Key[]> {
  try {
    const isThere = await stat(file).then(
      () => true,
      () => false,
    )
    if (!isThere) await createKeyFile(file)
    await checkPermissions(file)
    return parseKeys(await readFile(file, 'utf8'), file)
  } catch (error) {
    if (isSvcError(error)) throw error
    throw new SvcError('NotConfigured', `The secret key file ${file} cannot be used: ${messageOf(error)}`, {
      cause: error,
    })
  }
}

/** Joins values so that no two contexts give the same text. */
function encodeContext(context: string[]): Buffer {
  return Buffer.from(JSON.stringify(context))
}

function sealWith(key: Key, context: string[], plain: string): Buffer {
  const nonce = randomBytes(nonceLength)
  const cipher = createCipheriv('aes-256-gcm', key.bytes, nonce)
  cipher.setAAD(encodeContext(context))
  const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
  const head = Buffer.concat([Buffer.from([sealVersion]), Buffer.from(key.id, 'hex'), nonce, cipher.getAuthTag()])
  return Buffer.concat([head, body])
}

function readKeyId(sealed: Buffer): string | undefined {
  return sealed.length >= headLength && sealed[0] === sealVersion
    ? sealed.subarray(1, 1 + idLength).toString('hex')
    : undefined
}

function unsealWith(key: Key, context: string[], sealed: Buffer): string {
  const nonce = sealed.subarray(1 + idLength, 1 + idLength + nonceLength)
  const decipher = createDecipheriv('aes-256-gcm', key.bytes, nonce, { authTagLength: tagLength })
  decipher.setAAD(encodeContext(context))
  decipher.setAuthTag(sealed.subarray(headLength - tagLength, headLength))
  return Buffer.concat([decipher.update(sealed.subarray(headLength)), decipher.final()]).toString('utf8')
}

function unsealChecked(keys: Key[], context: string[], sealed: Buffer): string {
  const id = readKeyId(sealed)
  const key = keys.find((candidate) => candidate.id === id)
  const what = `The stored value of ${context.join('/')}`
  if (key === undefined) {
    throw new SvcError(
      'Internal',
      `${what} was sealed with a key that is not in the key file: restore the file it belongs to.`,
    )
  }
  try {
    return unsealWith(key, context, sealed)
  } catch (error) {
    throw new SvcError('Internal', `${what} does not match its seal: it was damaged or moved.`, { cause: error })
  }
}

/** Asked for with every call of a worker. */
const deriveFor = memoizeByObject(({ id, bytes }: Key) => {
  const known = new Map<string, DerivedKey>()
  return (purpose: string): DerivedKey => {
    // HKDF (RFC 5869); the key is random already, so that no salt is needed.
    const derived = known.get(purpose) ?? { id, key: Buffer.from(hkdfSync('sha256', bytes, '', `svc ${purpose}`, 32)) }
    known.set(purpose, derived)
    return derived
  }
})

/** Opens the key file, making it on first use (mode 0600). NotConfigured when it is unusable or open to others. */
export async function openSecretKeys(file: string): Promise<SecretKeys> {
  let keys = await readOrCreate(file)
  const retired: Key[] = []
  const current = (): Key => {
    const [first] = keys
    if (first === undefined) throw new SvcError('Internal', `The secret key file ${file} contains no key.`)
    return first
  }
  return {
    seal: (context, plain) => sealWith(current(), context, plain),
    unseal: (context, sealed) => unsealChecked(keys, context, sealed),
    isCurrent: (sealed) => readKeyId(sealed) === current().id,
    derive: (purpose) => [...keys, ...retired].map((key) => deriveFor(key)(purpose)),
    addKey: async () => {
      const next = [makeKey(), ...keys]
      await replaceKeyFile(file, next)
      keys = next
    },
    dropOlder: async () => {
      await replaceKeyFile(file, [current()])
      retired.push(...keys.slice(1))
      keys = [current()]
    },
  }
}
