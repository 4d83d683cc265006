// What the command line of an agent's attempt can do with its token: one provider, within a budget, while the attempt runs.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AgentGrant } from '../../src/ports/identity/identity.ts'
import { type Proxied, startProxied } from '../fixtures/proxy/proxied.ts'
import { aiTask, type Service } from './service.ts'

let proxied: Proxied
let service: Service
let url: string
beforeAll(async () => {
  proxied = await startProxied()
  ;({ service, url } = proxied)
  await proxied.addProvider('local', { defaultModel: 'm' })
  await proxied.addProvider('other', { defaultModel: 'm' })
})
afterAll(() => proxied.stop())

async function open(name: string, more: Partial<AgentGrant> = {}): Promise<string> {
  await service.call('POST /api/v1/tasks', { payload: aiTask(name) })
  const { identity } = await service.runTask(name)
  const provider = { namespace: 'default', name: 'local' }
  const grant = { ...identity, provider, maxTokens: 1_000_000, expiresAt: '2999-01-01T00:00:00Z', ...more }
  return (await service.ports.agentTokens?.mint(grant)) ?? ''
}

async function ask(token: string, { model = 'local/m', query = '' } = {}) {
  const body = JSON.stringify({ model, max_tokens: 50, messages: [{ role: 'user', content: 'say hello' }] })
  const headers = { 'x-api-key': token, 'content-type': 'application/json' }
  const answer = await fetch(`${url}/llma/v1/messages${query}`, { method: 'POST', headers, body })
  return { status: answer.status, body: (await answer.json()) as { error?: { message: string } } }
}

describe('the token of an agent', () => {
  it('can call its own provider and no other, in no other namespace', async () => {
    const token = await open('one')
    expect((await ask(token)).status).toBe(200)
    expect((await ask(token, { model: 'other/m' })).status).toBe(403)
    expect((await ask(token, { query: '?namespace=team' })).status).toBe(403)
  })

  it('calls its one model and no other [AUTH-013]', async () => {
    const token = await open('model', { model: 'm' })
    expect((await ask(token)).status).toBe(200)
    const other = await ask(token, { model: 'local/n' })
    expect([other.status, other.body.error?.message]).toEqual([403, expect.stringContaining('model "m" only')])
  })

  it('is refused when its budget is used up, and its calls count for its task', async () => {
    const token = await open('two', { maxTokens: 5 })
    expect((await ask(token)).status).toBe(200)
    const over = await ask(token)
    expect([over.status, over.body.error?.message]).toEqual([403, expect.stringContaining('budget of 5 tokens')])
    const items = async () => (await service.call('GET /api/v1/usage?groupBy=task')).json().items
    await expect.poll(items).toContainEqual(expect.objectContaining({ key: 'default/two', llmCalls: 1 }))
    expect((await ask(token)).status).toBe(403)
    expect((await ask(await open('three', { maxTokens: 5 }))).status).toBe(200)
  })

  it('expires with its attempt', async () => {
    const token = await open('four')
    expect((await ask(token)).status).toBe(200)
    await service.runTask('four', 2)
    expect((await ask(token)).status).toBe(403)
    const next = await open('five')
    await service.setStatus('Task', 'five', { phase: 'Succeeded', attempts: 1 })
    expect((await ask(next)).status).toBe(403)
  })

  it('expires after its lifetime', async () => {
    expect((await ask(await open('six', { expiresAt: '2020-01-01T00:00:00Z' }))).status).toBe(401)
  })
})
