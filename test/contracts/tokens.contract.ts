// What every store of access tokens does, and the authenticator over it.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TokenDraft } from '../../src/ports/identity/identity.ts'
import { waitFor } from '../fixtures/time.ts'
import { hardTexts, type OpenBench, useBench } from './record-bench.ts'

const MINUTE = 60_000

export function describeTokens(name: string, open: OpenBench): void {
  describe(`tokens on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const tokens = () => bench().stores().tokens
    const plain: TokenDraft = { name: 'laptop', role: 'editor', serverTools: true }
    const refused = { reason: 'Unauthenticated', message: 'the credential is missing or not valid: send a valid token' }
    const lastUse = async () => (await tokens().list()).find((record) => record.name === 'laptop')?.lastUsedAt

    it('shows the text once and stores only its hash', async () => {
      const { record, token } = await tokens().create(plain)
      expect(token).toMatch(/^svc_[A-Za-z0-9_-]{43}$/)
      expect(record).toEqual({ ...plain, id: record.id, createdAt: bench().now().toISOString() })
      expect(await tokens().list()).toEqual([record])
      expect(JSON.stringify(await tokens().list())).not.toContain(token.slice(4))
      expect((await tokens().create(plain)).token).not.toBe(token)
    })

    it('identifies the holder of a token, also after a restart', async () => {
      const { record, token } = await tokens().create(plain)
      await bench().reopen()
      expect(await bench().authenticator().authenticate({ token, source: 'bearer' })).toEqual({
        authType: 'token',
        username: 'laptop',
        uid: record.id,
        groups: [],
        role: 'editor',
        token: { id: record.id, isSignIn: false },
        serverTools: true,
      })
    })

    it('can restrict a token to a namespace, to reading, and to requests without server tools', async () => {
      const { token } = await tokens().create({ name: 'ci', namespace: 'team', role: 'viewer', serverTools: false })
      expect(await bench().authenticator().authenticate({ token, source: 'x-api-key' })).toMatchObject({
        namespace: 'team',
        boundNamespace: 'team',
        role: 'viewer',
        serverTools: false,
      })
    })

    it('refuses a token after its expiry, even when it was just accepted', async () => {
      const expiresAt = new Date(bench().now().getTime() + 3_000)
      const { token, record } = await tokens().create({ ...plain, expiresAt })
      expect(record.expiresAt).toBe(expiresAt.toISOString())
      const authenticator = bench().authenticator()
      bench().advance(2_999)
      await authenticator.authenticate({ token, source: 'bearer' })
      bench().advance(1)
      await expect(authenticator.authenticate({ token, source: 'bearer' })).rejects.toMatchObject(refused)
      await expect(tokens().create({ ...plain, expiresAt })).rejects.toMatchObject({ reason: 'InvalidRequest' })
    })

    it('refuses a revoked token at once, even when it was just accepted', async () => {
      const { token, record } = await tokens().create(plain)
      const other = await tokens().create({ ...plain, name: 'other' })
      const authenticator = bench().authenticator()
      await authenticator.authenticate({ token, source: 'bearer' })
      await authenticator.authenticate({ token: other.token, source: 'bearer' })
      await tokens().revoke(record.id)
      await expect(authenticator.authenticate({ token, source: 'bearer' })).rejects.toMatchObject(refused)
      expect((await authenticator.authenticate({ token: other.token, source: 'bearer' })).username).toBe('other')
      await expect(tokens().revoke(record.id)).rejects.toMatchObject({ reason: 'NotFound' })
    })

    it('refuses every invalid credential with the same words', async () => {
      const { token } = await tokens().create(plain)
      const authenticator = bench().authenticator({ ownerToken: 'the-owner' })
      const bad = [
        '',
        'svc_',
        token.slice(0, -1),
        `${token}x`,
        token.toUpperCase(),
        ` ${token}`,
        'the-owner ',
        '\0',
        '\ud800',
      ]
      for (const text of bad) {
        await expect(authenticator.authenticate({ token: text, source: 'bearer' })).rejects.toMatchObject(refused)
      }
    })

    it('identifies the owner by a token that is not stored', async () => {
      const authenticator = bench().authenticator({ ownerToken: 'the-owner' })
      expect(await authenticator.authenticate({ token: 'the-owner', source: 'bearer' })).toMatchObject({
        role: 'owner',
        serverTools: true,
      })
      expect(await tokens().list()).toEqual([])
      const without = bench().authenticator()
      await expect(without.authenticate({ token: 'the-owner', source: 'bearer' })).rejects.toMatchObject(refused)
    })

    it('records the last use, at most once a minute', async () => {
      const { token } = await tokens().create(plain)
      const authenticator = bench().authenticator()
      const use = () => authenticator.authenticate({ token, source: 'bearer' })
      const first = bench().now().toISOString()
      await use()
      await waitFor(async () => (await lastUse()) === first, 'the first use is noted')
      bench().advance(MINUTE - 1)
      await use()
      // Writes keep their order: had the use asked for one, it would be there by now.
      await tokens().create({ ...plain, name: 'later' })
      expect(await lastUse()).toBe(first)
      bench().advance(1)
      const second = bench().now().toISOString()
      await use()
      await waitFor(async () => (await lastUse()) === second, 'the use a minute later is noted')
    })

    it('accepts tokens while the last use cannot be written', async () => {
      const { token } = await tokens().create(plain)
      bench().faults.writes = 'fail'
      expect((await bench().authenticator().authenticate({ token, source: 'bearer' })).username).toBe('laptop')
    })

    it('keeps any name', async () => {
      for (const text of hardTexts) expect((await tokens().create({ ...plain, name: text })).record.name).toBe(text)
      expect((await tokens().list()).map((record) => record.name).sort()).toEqual([...hardTexts].sort())
    })
  })
}
