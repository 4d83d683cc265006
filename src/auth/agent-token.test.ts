import { describe, expect, it } from 'vitest'
import { createManualClock } from '../../test/fixtures/time.ts'
import type { AgentGrant } from '../ports/identity/identity.ts'
import { createAgentTokens, withAgentTokens } from './agent-token.ts'

const key = new Uint8Array(32).fill(7)
let now = new Date('2026-01-01T00:00:00Z')
const clock = { now: () => now, sleep: () => Promise.resolve() }
const tokens = createAgentTokens({ key, clock })

const grant: AgentGrant = {
  taskUid: 'uid-1',
  attempt: 2,
  namespace: 'team',
  taskName: 'build',
  provider: { namespace: 'team', name: 'vendor' },
  maxTokens: 1000,
  expiresAt: '2026-01-01T01:00:00Z',
}

const isBad = async (token: string) => {
  await expect(tokens.verify(token), token.slice(0, 40)).rejects.toMatchObject({ reason: 'Unauthenticated' })
}

function reseal(token: string, change: (grant: AgentGrant) => object): string {
  const [payload = '', signature = ''] = token.slice('svca_'.length).split('.')
  const value = change(JSON.parse(Buffer.from(payload, 'base64url').toString()))
  return `svca_${Buffer.from(JSON.stringify(value)).toString('base64url')}.${signature}`
}

describe('the token of an agent', () => {
  it('verifies to its grant until it expires', async () => {
    const token = await tokens.mint(grant)
    expect(await tokens.verify(token)).toEqual(grant)
    now = new Date('2026-01-01T00:59:59.999Z')
    expect(await tokens.verify(token)).toEqual(grant)
    now = new Date('2026-01-01T01:00:00Z')
    await isBad(token)
    now = new Date('2026-01-01T00:00:00Z')
  })

  it('is refused when it is altered, re-encoded, truncated, signed with another key, or of another type', async () => {
    const token = await tokens.mint(grant)
    await isBad(reseal(token, (one) => ({ ...one, maxTokens: 1e9 })))
    await isBad(reseal(token, (one) => ({ ...one, provider: { namespace: 'team', name: 'other' } })))
    for (const bad of ['svca_', 'svca_.', `${token}=`, `${token}.x`, ` ${token}`, token.slice(0, -1), token.slice(5)]) {
      await isBad(bad)
    }
    await isBad(`svca_${'x'.repeat(10_000)}`)
    const other = createAgentTokens({ key: new Uint8Array(32).fill(8), clock })
    await isBad(await other.mint(grant))
    for (const broken of [
      {},
      { ...grant, maxTokens: 'all' },
      { ...grant, provider: 'vendor' },
      { ...grant, expiresAt: 'never' },
    ]) {
      await isBad(await tokens.mint(broken as never))
    }
  })

  it.each([7_200_000, -7_200_000])('lasts as long where the clock of the machine is set by %d ms', async (ms) => {
    const moved = createManualClock(Date.parse(grant.expiresAt) - 60_000)
    const { mint, verify } = createAgentTokens({ key, clock: moved })
    const token = await mint(grant)
    moved.set(ms)
    moved.jump(59_000)
    expect(await verify(token)).toEqual(grant)
    moved.jump(1000)
    await expect(verify(token)).rejects.toThrow()
  })

  it('is not minted under a key that is too short', () => {
    expect(() => createAgentTokens({ key: new Uint8Array(0), clock })).toThrow(/no key/)
  })

  it('is accepted beside the other kinds of credentials', async () => {
    const checked: string[] = []
    const inner = {
      authenticate: async ({ token }: { token: string }) => {
        checked.push(token)
        throw new Error('not here')
      },
    }
    const both = withAgentTokens(inner, tokens)
    const caller = await both.authenticate({ token: await tokens.mint(grant), source: 'x-api-key' })
    expect(caller).toMatchObject({ username: 'task/build', boundNamespace: 'team', role: 'runner', agent: grant })
    await expect(both.authenticate({ token: 'svca_x.y', source: 'bearer' })).rejects.toMatchObject({
      reason: 'Unauthenticated',
    })
    await expect(both.authenticate({ token: 'svc_x', source: 'bearer' })).rejects.toThrow('not here')
    expect(checked).toEqual(['svc_x'])
  })
})
