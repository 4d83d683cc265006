// What every store of sign-in links does: one use, one caller, and an end with the token they were made with.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SignInDraft, TokenDraft } from '../../src/ports/identity/identity.ts'
import { hardTexts, type OpenBench, useBench } from './record-bench.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

export function describeSignInLinks(name: string, open: OpenBench): void {
  describe(`sign-in links on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const tokens = () => bench().stores().tokens
    const links = () => bench().stores().signInLinks
    const later = (ms: number) => new Date(bench().now().getTime() + ms)
    const refused = { reason: 'Unauthenticated', message: expect.stringContaining('the sign-in link is not valid') }
    const owner = { id: 'owner', name: 'owner' }

    function draft(caller: SignInDraft['caller'] = owner, more: Partial<TokenDraft> = {}): SignInDraft {
      const token = { name: 'dashboard', role: 'editor', serverTools: true, ...more, expiresAt: later(HOUR) } as const
      return { caller, token, expiresAt: later(2 * MINUTE) }
    }

    const whoHas = (token: string) => bench().authenticator().authenticate({ token, source: 'bearer' })

    async function makeToken(): Promise<{ id: string; name: string }> {
      const { record } = await tokens().create({ name: 'laptop', role: 'editor', serverTools: true })
      return { id: record.id, name: record.name }
    }

    it('give a token of their own that acts as their maker, with what the link says and no more', async () => {
      const maker = await makeToken()
      const rights = { role: 'viewer', namespace: 'team', serverTools: false } as const
      const code = await links().create(draft(maker, rights))
      const { record, token } = await links().exchange(code)
      expect(code).toMatch(/^svc_link_[A-Za-z0-9_-]{43}$/)
      expect(token).toMatch(/^svc_[A-Za-z0-9_-]{43}$/)
      expect(record).toMatchObject({ name: 'dashboard', ...rights, signInOf: maker })
      expect(await tokens().list()).toContainEqual(record)
      expect(await whoHas(token)).toEqual({
        authType: 'token',
        username: 'laptop',
        uid: maker.id,
        groups: [],
        namespace: 'team',
        boundNamespace: 'team',
        role: 'viewer',
        token: { id: record.id, expiresAt: later(HOUR).toISOString(), isSignIn: true },
        serverTools: false,
      })
    })

    it('work once, also for many who ask at the same time', async () => {
      const code = await links().create(draft())
      const answers = await Promise.allSettled(Array.from({ length: 10 }, () => links().exchange(code)))
      expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      await expect(links().exchange(code)).rejects.toMatchObject(refused)
      expect(await tokens().list()).toHaveLength(1)
    })

    it('are refused in the same words whatever is wrong', async () => {
      const code = await links().create(draft())
      for (const bad of ['', 'svc_link_', code.slice(0, -1), `${code} `, code.toUpperCase(), '\0', '\ud800'])
        await expect(links().exchange(bad)).rejects.toMatchObject(refused)
      bench().advance(2 * MINUTE)
      await expect(links().exchange(code)).rejects.toMatchObject(refused)
      await expect(whoHas(code)).rejects.toMatchObject({ reason: 'Unauthenticated' })
    })

    it('survive a restart, and stay used over one', async () => {
      const [first, second] = [await links().create(draft()), await links().create(draft())]
      await links().exchange(first)
      await bench().reopen()
      await expect(links().exchange(first)).rejects.toMatchObject(refused)
      expect((await links().exchange(second)).record.signInOf).toEqual(owner)
    })

    it('end with the token they were made with, and so do those who signed in', async () => {
      const maker = await makeToken()
      const [used, unused] = [await links().create(draft(maker)), await links().create(draft(maker))]
      const other = await links().exchange(await links().create(draft()))
      const { token } = await links().exchange(used)
      const authenticator = bench().authenticator()
      await authenticator.authenticate({ token, source: 'bearer' })
      await tokens().revoke(maker.id)
      await expect(authenticator.authenticate({ token, source: 'bearer' })).rejects.toMatchObject({
        reason: 'Unauthenticated',
      })
      await expect(links().exchange(unused)).rejects.toMatchObject(refused)
      expect((await whoHas(other.token)).username).toBe('owner')
    })

    it('are refused once the token they were made with is over', async () => {
      const { record } = await tokens().create({
        name: 'brief',
        role: 'editor',
        serverTools: true,
        expiresAt: later(MINUTE),
      })
      const code = await links().create(draft({ id: record.id, name: record.name }))
      bench().advance(MINUTE)
      await expect(links().exchange(code)).rejects.toMatchObject(refused)
    })

    it('end alone when a token from one is revoked', async () => {
      const maker = await makeToken()
      const [one, two] = [await links().create(draft(maker)), await links().create(draft(maker))]
      const [first, second] = [await links().exchange(one), await links().exchange(two)]
      await tokens().revoke(first.record.id)
      await expect(whoHas(first.token)).rejects.toMatchObject({ reason: 'Unauthenticated' })
      expect((await whoHas(second.token)).uid).toBe(maker.id)
      expect((await tokens().list()).map(({ id }) => id).sort()).toEqual([maker.id, second.record.id].sort())
    })

    it('leave no token behind once it is over', async () => {
      await links().exchange(await links().create(draft()))
      bench().advance(HOUR)
      await links().create(draft())
      expect(await tokens().list()).toEqual([])
    })

    it('keep any name', async () => {
      for (const text of hardTexts) {
        const caller = { id: 'owner', name: text }
        const { record } = await links().exchange(await links().create(draft(caller, { name: text, namespace: text })))
        expect(record).toMatchObject({ name: text, namespace: text, signInOf: caller })
      }
    })
  })
}
