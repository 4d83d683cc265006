// Whether the time of an answer tells good tokens from bad ones, or how much of one was right: a test by statistics, run by
// hand on a quiet machine (`node scripts/token-timing.ts`), never in CI. Welch's t over interleaved samples; what matters is
// between two bad tokens, of which one is nearly right.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthenticatorChain } from '../src/auth/chain.ts'
import { createOidcAuthenticator } from '../src/auth/oidc/authenticator.ts'
import { systemClock as clock, systemIds as ids } from '../src/lib/system-clock.ts'
import { createTokenAuthenticator } from '../src/store/identity/token-authenticator.ts'
import { createTokens } from '../src/store/identity/tokens.ts'
import { openSqlite } from '../src/store/sqlite/database.ts'
import { audience, startIssuer } from '../test/fixtures/issuer.ts'

const rounds = Number(process.argv[2] ?? 30_000)
/** Beyond this a difference is taken as real (as in TVLA, ISO/IEC 17825). */
const threshold = 4.5

type Pair = { what: string; first: string; second: string }

function cropped(times: number[]): number[] {
  // The slowest tenth is the machine's, not the code's.
  const sorted = times.toSorted((a, b) => a - b)
  return sorted.slice(0, Math.floor(sorted.length * 0.9))
}

function summarize(times: number[]): { mean: number; variance: number; count: number } {
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length
  const variance = times.reduce((sum, time) => sum + (time - mean) ** 2, 0) / (times.length - 1)
  return { mean, variance, count: times.length }
}

function compare(first: number[], second: number[]): { t: number; difference: number } {
  const [a, b] = [summarize(cropped(first)), summarize(cropped(second))]
  const error = Math.sqrt(a.variance / a.count + b.variance / b.count)
  return { t: (a.mean - b.mean) / error, difference: a.mean - b.mean }
}

const issuer = await startIssuer()
const folder = mkdtempSync(join(tmpdir(), 'svc-timing-'))
const database = openSqlite({ path: join(folder, 'svc.db') })
const tokens = createTokens({ database, clock, ids })
const owner = `svc_${'a'.repeat(64)}`
const settings = { issuer: issuer.url, audiences: [audience], allowedSubjects: ['*'], namespace: 'default' }
const chain = createAuthenticatorChain({
  plain: [createTokenAuthenticator({ tokens, clock, ownerToken: owner })],
  oidc: { issuer: issuer.url, authenticator: createOidcAuthenticator(settings, { clock }) },
})

async function time(token: string): Promise<number> {
  const began = process.hrtime.bigint()
  await chain.authenticate({ token, source: 'bearer' }).catch(() => undefined)
  return Number(process.hrtime.bigint() - began)
}

async function run({ what, first, second }: Pair, count: number): Promise<boolean> {
  const times: [number[], number[]] = [[], []]
  for (let index = 0; index < count; index++) {
    // In an order that no habit of the machine follows.
    const order = ids.random() < 0.5 ? [0, 1] : [1, 0]
    for (const which of order) times[which as 0 | 1].push(await time(which === 0 ? first : second))
  }
  const { t, difference } = compare(...times)
  const isSame = Math.abs(t) < threshold
  console.log(
    `${isSame ? 'same     ' : 'DIFFERENT'} t=${t.toFixed(2).padStart(7)} ${difference.toFixed(0)} ns  ${what}`,
  )
  return isSame
}

function changeSignature(token: string, at: number): string {
  const [head, claims, signature = ''] = token.split('.')
  const bytes = Buffer.from(signature, 'base64url')
  bytes[at] = (bytes[at] ?? 0) ^ 1
  return `${head}.${claims}.${bytes.toString('base64url')}`
}

const stored = (await tokens.create({ name: 'timing', role: 'editor', serverTools: true })).token
const signed = await issuer.sign()
const pairs: [Pair, number][] = [
  [
    {
      what: 'owner: wrong at the first, wrong at the last character',
      first: `b${owner.slice(1)}`,
      second: `${owner.slice(0, -1)}b`,
    },
    rounds,
  ],
  [
    {
      what: 'stored: wrong at the first, wrong at the last character',
      first: `x${stored.slice(1)}`,
      second: `${stored.slice(0, -1)}!`,
    },
    rounds,
  ],
  [
    {
      what: 'signature: wrong at the first, wrong at the last byte',
      first: changeSignature(signed, 0),
      second: changeSignature(signed, 255),
    },
    rounds / 10,
  ],
  [{ what: 'the same bad token twice (the measure itself)', first: 'svc_none', second: 'svc_none' }, rounds],
]
let good = true
for (const [pair, count] of pairs) {
  await run(pair, 500)
  good = (await run(pair, count)) && good
}
await issuer.stop()
await database.close()
rmSync(folder, { recursive: true })
process.exit(good ? 0 : 1)
