// What the suites of record stores get: stores over a fresh place, a clock they set, a restart, and faults.
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { Authenticator, SignInLinks } from '../../src/ports/identity/identity.ts'
import type { Records } from '../../src/ports/index.ts'
import type { ConfigMaps } from '../../src/ports/resources/configmaps.ts'
import type { RecordOwners } from '../../src/ports/resources/retention.ts'
import type { TokenAuthenticatorOptions } from '../../src/store/identity/token-authenticator.ts'
import type { TokenStore } from '../../src/store/identity/tokens.ts'
import type { SecretStorage } from '../../src/store/resources/secret-storage.ts'

export type BenchStores = Required<Records> & {
  tokens: TokenStore
  signInLinks: SignInLinks
  secrets: SecretStorage
  configMaps: ConfigMaps
  owners: RecordOwners
  sweepOrphans(): Promise<number>
}

export type RecordFaults = {
  /** Bytes that files take from now on before the disk is full; undefined: no limit. */
  diskBytes: number | undefined
  /** `fail`: no transaction is begun any more; `hang`: none ever ends, as when the process dies there. */
  writes: 'work' | 'fail' | 'hang'
  /** How many transactions hang. */
  hanging: number
}

export type RecordBench = {
  /** The stores now; others after `reopen`. */
  stores(): BenchStores
  /** Opens the same data again with everything in memory gone, as a restart does. */
  reopen(): Promise<void>
  authenticator(options?: Pick<TokenAuthenticatorOptions, 'ownerToken'>): Authenticator
  faults: RecordFaults
  /** Moves the clock. */
  advance(ms: number): void
  now(): Date
  /** How many files there are for bodies of records. */
  countBodies(): Promise<number>
  close(): Promise<void>
}

export type OpenBench = () => Promise<RecordBench>

export const MEBIBYTE = 1024 * 1024

/** Texts that a store may damage: NUL (PostgreSQL), lone surrogates (UTF-8), escapes, case, marks, long scripts. */
export const hardTexts = [
  'a\0b',
  '\0',
  '\ud800 and \udc00',
  'back\\slash \\0 \\u0000 \\\\',
  '😀 e\u0301 \u00e9 ß İ',
  'line\nline\r\n\ttab',
  'quote \' and " and ` ? $1 %s',
]

/** A body of `size` bytes in chunks, with a count of what was taken from it. */
export function makeBody(size: number, fill = 0x61): { body: Readable; taken: () => number } {
  let taken = 0
  function* produce() {
    for (let left = size; left > 0; left -= 65_536) {
      const chunk = Buffer.alloc(Math.min(left, 65_536), fill)
      taken += chunk.length
      yield chunk
    }
  }
  return { body: Readable.from(produce(), { objectMode: false }), taken: () => taken }
}

export function textBody(text: string): Readable {
  return Readable.from([Buffer.from(text)], { objectMode: false })
}

/** A body that breaks off after `size` bytes. */
export function brokenBody(size: number): Readable {
  function* produce() {
    yield Buffer.alloc(size, 0x62)
    throw new Error('socket hang up')
  }
  return Readable.from(produce(), { objectMode: false })
}

export async function readText(opened: { open(): Readable } | undefined): Promise<string | undefined> {
  return opened === undefined ? undefined : (await buffer(opened.open())).toString('utf8')
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = []
  for await (const item of items) collected.push(item)
  return collected
}

/** Opens a bench before each test of the suite and closes it after; the callback gives the one of the test. */
export function useBench(
  open: OpenBench,
  hooks: { beforeEach: (run: () => Promise<void>) => void; afterEach: (run: () => Promise<void>) => void },
): () => RecordBench {
  let bench: RecordBench | undefined
  hooks.beforeEach(async () => {
    bench = await open()
  })
  hooks.afterEach(async () => {
    await bench?.close()
    bench = undefined
  })
  return () => {
    if (bench === undefined) throw new Error('the bench is open in tests only')
    return bench
  }
}
