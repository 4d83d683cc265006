// Whom the cluster does not let read a provider: what they may still have it do, by naming it, and by naming none.
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Access } from '../../src/contract/api/identity/access.ts'
import { type Proxied, simpleMessage, startProxied } from '../fixtures/proxy/proxied.ts'

let proxied: Proxied
const asked: Access[] = []

beforeAll(async () => {
  let isClosed = false
  const authorizer = {
    authorize: async (_caller: unknown, access: Access) => {
      if (access.kind === 'Provider') asked.push(access)
      const refused = { allowed: false as const, reason: 'may not read providers' }
      return isClosed && access.kind === 'Provider' ? refused : { allowed: true as const }
    },
  }
  proxied = await startProxied({ identity: { authorizer } })
  await proxied.addProvider('default', { defaultModel: 'm' })
  await proxied.create('/api/v1/agents', { name: 'poet', spec: { providerRef: { name: 'default' } } })
  isClosed = true
})
afterAll(() => proxied.stop())

async function makeTask(name: string, more: object = {}): Promise<number> {
  const payload = { name, type: 'ai', prompt: 'hi', ...more }
  return (await proxied.service.call('POST /api/v1/tasks', { payload })).statusCode
}

it('a task may use the provider of its namespace or of its agent, but may name only one that its author may read', async () => {
  asked.length = 0
  expect(await makeTask('by-omission')).toBe(201)
  expect(await makeTask('by-agent', { agentRef: { name: 'poet' } })).toBe(201)
  expect(asked).toEqual([])
  expect(await makeTask('by-name', { ai: { providerRef: { name: 'default' } } })).toBe(403)
  expect(asked).toEqual([{ verb: 'get', kind: 'Provider', namespace: 'default', name: 'default' }])
})

it('chat and the proxies need the right to the provider in any case, because they call it for the caller', async () => {
  const chat = await proxied.service.call('POST /api/v1/chat', { payload: { message: 'hi' } })
  expect(chat.statusCode).toBe(403)
  expect((await proxied.ask('/llma/v1/messages', simpleMessage('m'))).status).toBe(403)
  expect((await proxied.ask('/llma/v1/messages', simpleMessage('default/m'))).status).toBe(403)
  expect(proxied.upstream.received).toEqual([])
})
