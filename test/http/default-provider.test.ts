// Which provider answers where nobody names one: chat, both proxies, tasks that count their calls, and what a session remembers.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createEgress } from '../../src/egress/egress.ts'
import { type ScriptedVendor, startVendor } from '../fixtures/llm/scripted-vendor.ts'
import { ownerToken, type Service, startService } from './service.ts'

let service: Service
let vendor: ScriptedVendor
let url: string
const egress = createEgress()

beforeEach(async () => {
  service = await startService({ egress, builtinTools: [] })
  url = await service.listen()
  vendor = await startVendor(() => [{ text: 'ok' }])
})
afterEach(async () => {
  await service.stop()
  await vendor.close()
})

async function addProvider(name: string, more: object = {}): Promise<void> {
  const spec = { type: 'llmo', baseURL: vendor.url, defaultModel: `model-of-${name}`, ...more }
  const { statusCode, body } = await service.call('POST /api/v1/providers', { payload: { name, spec } })
  if (statusCode !== 201) throw new Error(body)
}

const chat = (payload: object) =>
  service.call('POST /api/v1/chat', { payload: { message: 'x', ...payload }, headers: { accept: 'application/json' } })

/** Bytes passed on are written to the socket itself. */
async function complete(model?: string) {
  const answer = await fetch(`${url}/llmo/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ownerToken}`, 'content-type': 'application/json', 'x-svc-tools': 'disabled' },
    body: JSON.stringify({ ...(model && { model }), messages: [{ role: 'user', content: 'hi' }] }),
  })
  return { statusCode: answer.status, body: await answer.text() }
}

const lastModel = () => vendor.requests.at(-1)?.model
const readSession = async (id: string) => (await service.call(`GET /api/v1/sessions/${id}`)).json()

describe('the provider that answers where none is named', () => {
  it('is the only usable provider, in chat and in the proxies', async () => {
    await service.call('POST /api/v1/providers', { payload: { name: 'demo', spec: { type: 'demo' } } })
    await addProvider('single')
    expect((await chat({})).statusCode).toBe(200)
    expect(lastModel()).toBe('model-of-single')
    expect((await complete()).statusCode).toBe(200)
    expect(lastModel()).toBe('model-of-single')
    const { data } = (await service.call('GET /llmo/v1/models')).json()
    expect(data.map(({ id }: { id: string }) => id)).toContain('model-of-single')
  })

  it('is the marked provider, before one that is named default; several that are marked are refused', async () => {
    await addProvider('one')
    await addProvider('default')
    await addProvider('two', { default: true })
    await addProvider('three')
    expect((await chat({})).statusCode).toBe(200)
    expect(lastModel()).toBe('model-of-two')
    expect((await complete()).statusCode).toBe(200)
    expect(lastModel()).toBe('model-of-two')
    await addProvider('four', { default: true })
    const asked = await chat({ sessionId: 'chat-session-0123456789ab' })
    expect(asked.json().error.message).toMatch(/\("two", "four"\)|\("four", "two"\)/)
  })

  it('is the provider named default before any other; several without that name are refused', async () => {
    await addProvider('one')
    await addProvider('two')
    const asked = await chat({})
    expect([asked.statusCode, asked.json().error.message]).toEqual([
      400,
      expect.stringMatching(/"one", "two".*--provider one/),
    ])
    const passed = await complete('some-model')
    expect([passed.statusCode, passed.body]).toEqual([400, expect.stringContaining('provider/model')])
    expect(vendor.requests).toEqual([])
    await addProvider('default')
    expect((await chat({})).statusCode).toBe(200)
    expect(lastModel()).toBe('model-of-default')
    await complete()
    expect(lastModel()).toBe('model-of-default')
  })

  it('ignores providers without their key, until none is left', async () => {
    await addProvider('one')
    await addProvider('two')
    const refuse = (name: string) =>
      service.setStatus('Provider', name, {
        ready: false,
        conditions: [
          {
            type: 'Ready',
            status: 'False',
            reason: 'ValidationFailed',
            message: 'no',
            lastTransitionTime: new Date().toISOString(),
          },
        ],
      })
    await refuse('one')
    await complete()
    expect(lastModel()).toBe('model-of-two')
    await refuse('two')
    expect((await complete('m')).statusCode).toBe(400)
    // Who is alone answers all the same: what a provider lacks never keeps the next call from being tried.
    await service.call('DELETE /api/v1/providers/one')
    expect((await complete()).statusCode).toBe(200)
  })

  it('is never the demo provider, which is not a language model [PROV-014]', async () => {
    await service.call('POST /api/v1/providers', { payload: { name: 'demo', spec: { type: 'demo' } } })
    expect((await chat({})).json().error.message).toContain('no provider is named')
    expect((await complete('m')).statusCode).toBe(404)
  })
})

describe('a chat session', () => {
  it('remembers its provider and model, which come after those of the request and the agent', async () => {
    await addProvider('default')
    await addProvider('other')
    await chat({ sessionId: 's', provider: 'other', model: 'special' })
    expect((await readSession('s')).answeredBy).toEqual({ namespace: 'default', name: 'other', model: 'special' })
    const headers = { accept: 'text/event-stream' }
    const next = await service.call('POST /api/v1/chat', { payload: { message: 'x', sessionId: 's' }, headers })
    expect(next.body).toMatch(/event: status\ndata: .*"provider":"other","model":"special"/)
    expect(lastModel()).toBe('special')
    await chat({ sessionId: 's', model: 'once' })
    expect(lastModel()).toBe('once')
    const spec = { providerRef: { name: 'default' } }
    await service.call('POST /api/v1/agents', { payload: { name: 'poet', spec } })
    await chat({ sessionId: 's', agentRef: 'poet' })
    expect(lastModel()).toBe('model-of-default')
    await chat({ sessionId: 's', agentRef: 'poet', provider: 'other' })
    expect(lastModel()).toBe('model-of-other')
    await service.call('DELETE /api/v1/providers/other')
    expect((await chat({ sessionId: 's' })).statusCode).toBe(200)
    expect(lastModel()).toBe('model-of-default')
  })

  it('leaves the demo provider once there is a language model', async () => {
    await service.call('POST /api/v1/providers', { payload: { name: 'demo', spec: { type: 'demo' } } })
    await chat({ sessionId: 's', provider: 'demo' })
    expect((await chat({ sessionId: 's' })).json().message).toContain('demo provider')
    await addProvider('real')
    expect((await chat({ sessionId: 's' })).json().message).toBe('ok')
    expect((await readSession('s')).answeredBy.name).toBe('real')
  })
})
