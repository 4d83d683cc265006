import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isSvcError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { openSecretKeys, type SecretKeys } from '../store/local/secret-key.ts'
import { createWorkerTokens } from './worker-tokens.ts'

const clock: Clock = { now: () => new Date('2026-03-01T12:00:00Z'), sleep: () => Promise.resolve() }
const identity = { taskUid: 'uid-1', attempt: 2, namespace: 'default', taskName: 'täsk' }

let folder: string
let keys: SecretKeys
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-tokens-'))
  keys = await openSecretKeys(join(folder, 'secret.key'))
})
afterEach(() => rmSync(folder, { recursive: true }))

async function isRefused(token: string): Promise<boolean> {
  const error = await createWorkerTokens({ keys, clock })
    .verify(token)
    .catch((thrown: unknown) => thrown)
  return isSvcError(error, 'Unauthenticated')
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

describe('a worker token', () => {
  it('verifies to the attempt it was minted for, in another process too [AUTH-007]', async () => {
    const token = await createWorkerTokens({ keys, clock }).mint(identity)
    const elsewhere = createWorkerTokens({ keys: await openSecretKeys(join(folder, 'secret.key')), clock })
    expect(await elsewhere.verify(token)).toEqual(identity)
  })

  it('carries the audience svc-internal [AUTH-007]', async () => {
    const token = await createWorkerTokens({ keys, clock }).mint(identity)
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    expect(claims).toMatchObject({ aud: 'svc-internal', uid: 'uid-1', attempt: 2 })
  })

  it('is refused when any of its characters is changed', async () => {
    const token = await createWorkerTokens({ keys, clock }).mint(identity)
    const [head = '', payload = '', signature = ''] = token.split('.')
    const forged = encode({ aud: 'svc-internal', ns: 'default', task: 'other', uid: 'uid-2', attempt: 1 })
    expect(await isRefused(`${head}.${forged}.${signature}`)).toBe(true)
    expect(await isRefused(`${encode({ alg: 'none', kid: 'x' })}.${payload}.`)).toBe(true)
    for (let index = 0; index < signature.length - 1; index++) {
      const other = signature[index] === 'A' ? 'B' : 'A'
      expect(
        await isRefused(`${head}.${payload}.${signature.slice(0, index)}${other}${signature.slice(index + 1)}`),
      ).toBe(true)
    }
  })

  it.each([
    '',
    '.',
    '..',
    'a.b.c',
    'svc_user_token',
    `${encode(null)}.${encode(null)}.x`,
    `${encode([])}.e30.`,
    'a'.repeat(100_000),
  ])('is refused when it is malformed: %#', async (token) => {
    expect(await isRefused(token)).toBe(true)
  })

  it('for another audience is refused though its signature is valid', async () => {
    const [key] = keys.derive('worker-tokens')
    const { createHmac } = await import('node:crypto')
    const claims = { aud: 'svc-public', ns: 'default', task: 't', uid: 'u', attempt: 1 }
    const signed = `${encode({ alg: 'HS256', kid: key?.id })}.${encode(claims)}`
    const signature = createHmac('sha256', key?.key ?? '')
      .update(signed)
      .digest('base64url')
    expect(await isRefused(`${signed}.${signature}`)).toBe(true)
  })

  it('of a running attempt stays valid when the key is rotated', async () => {
    const tokens = createWorkerTokens({ keys, clock })
    const token = await tokens.mint(identity)
    await keys.addKey()
    await keys.dropOlder()
    expect(await tokens.verify(token)).toEqual(identity)
    expect(await tokens.mint(identity)).not.toBe(token)
  })
})
