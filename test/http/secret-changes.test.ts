// Secrets that change: entries that are not named stay, values never come back, and who may not write learns nothing.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SecretItem } from '../../src/contract/api/resources/secrets.ts'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

const value = 'made-up-value-0815'
const put = (name: string, payload: object, token?: string) =>
  service.call(`PUT /api/v1/secrets/${name}`, token === undefined ? { payload } : { payload, token })
const read = (name: string) => service.ports.secrets.read({ namespace: 'default', name })

async function make(name: string, more: object = {}): Promise<void> {
  const payload = { name, stringData: { 'api-key': value, other: 'kept-value' }, ...more }
  expect((await service.call('POST /api/v1/secrets', { payload })).statusCode).toBe(201)
}

describe('a secret', () => {
  it('takes new values, and keeps the others with the hosts that they may be sent to', async () => {
    await make('key', { allowedHosts: ['api.example.com'] })
    const answer = await put('key', { stringData: { 'api-key': 'new', third: '3' } })
    expect(answer.statusCode).toBe(200)
    const { keys, allowedHosts } = answer.json() as SecretItem
    expect([keys, allowedHosts]).toEqual([['api-key', 'other', 'third'], ['api.example.com']])
    expect(answer.body).not.toMatch(/kept-value|made-up-value/)
    expect(await read('key')).toEqual({ 'api-key': 'new', other: 'kept-value', third: '3' })
    expect((await put('key', { remove: ['third'] })).statusCode).toBe(200)
    expect(Object.keys((await read('key')) ?? {})).toEqual(['api-key', 'other'])
  })

  it('is left alone by a change that cannot be made whole', async () => {
    await make('whole')
    const changes = [
      [{}, 400],
      [{ stringData: {}, remove: [] }, 400],
      [{ stringData: { 'api-key': '' } }, 400],
      [{ stringData: { other: 'x' }, remove: ['other'] }, 400],
      [{ stringData: { other: 'x' }, remove: ['absent'] }, 400],
      [{ remove: ['api-key', 'other'] }, 400],
      [{ stringData: { other: 'x' }, allowedHosts: ['*'] }, 400],
    ] as const
    for (const [change, status] of changes) expect((await put('whole', change)).statusCode).toBe(status)
    expect(await read('whole')).toEqual({ 'api-key': value, other: 'kept-value' })
    expect((await put('absent', { stringData: { a: 'b' } })).statusCode).toBe(404)
  })

  it('of a single task is nobody’s to change', async () => {
    const owner = { name: 'task', uid: 'uid-1' }
    await service.ports.secrets.create({ namespace: 'default', name: 'owned', stringData: { token: 't' }, owner })
    expect((await put('owned', { stringData: { token: 'mine' } })).statusCode).toBe(404)
    expect(await read('owned')).toEqual({ token: 't' })
  })

  it('changes for editors alone, in their own namespace', async () => {
    await make('guarded')
    const tokens = [
      [{ role: 'runner' }, 403],
      [{ role: 'viewer' }, 403],
      [{ role: 'editor', namespace: 'elsewhere' }, 404],
      [{ role: 'editor' }, 200],
    ] as const
    for (const [index, [more, status]] of tokens.entries()) {
      const made = await service.call('POST /api/v1/tokens', { payload: { name: `t${index}`, ...more } })
      const { token } = made.json() as { token: string }
      expect((await put('guarded', { stringData: { other: 'x' } }, token)).statusCode).toBe(status)
    }
  })
})
