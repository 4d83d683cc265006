import { describe, expect, it } from 'vitest'
import { createGateCredentials } from './gate-credentials.ts'
import { createWorkerTokens } from './worker-tokens.ts'

const clock = { now: () => new Date('2026-05-01T00:00:00Z'), sleep: async () => undefined }
const identity = { taskUid: 'uid-1', attempt: 2, namespace: 'team-a', taskName: 'build.it' }
const key = Buffer.alloc(32, 7)
const encode = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

describe('the credential of the gate', () => {
  it('is read back by another replica, and survives the address of a proxy', async () => {
    const { user, password } = await createGateCredentials({ key, clock }).mint(identity)
    const url = new URL(`http://${user}:${password}@gate:1`)
    expect([url.username, url.password]).toEqual([user, password])
    expect(await createGateCredentials({ key, clock }).verify(encode(user, password))).toEqual(identity)
  })

  it('is of one installation and for the gate alone', async () => {
    const credentials = createGateCredentials({ key, clock })
    const { user, password } = await credentials.mint(identity)
    const foreign = createGateCredentials({ key: Buffer.alloc(32, 8), clock })
    expect(await foreign.verify(encode(user, password))).toBeUndefined()
    const derive = () => [{ id: 'gate', key: Buffer.from(key) }]
    const worker = createWorkerTokens({ keys: { derive }, clock })
    await expect(worker.verify(password)).rejects.toMatchObject({ reason: 'Unauthenticated' })
    expect(await credentials.verify(encode(user, await worker.mint(identity)))).toBeUndefined()
  })

  it('is nothing else', async () => {
    const credentials = createGateCredentials({ key, clock })
    const { password } = await credentials.mint(identity)
    const wrong = [undefined, '', `Bearer ${password}`, encode('root', password), encode('attempt', ''), 'Basic %%%']
    const changed = encode('attempt', `${password.slice(0, -4)}AAAA`)
    for (const header of [...wrong, changed, `Basic ${'A'.repeat(5000)}`])
      expect(await credentials.verify(header)).toBeUndefined()
  })
})
