// A Tool that stands for the reference server of the protocol, at the doors of the program: both proxies, chat, and tasks.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Tool } from '../../src/contract/kinds/tools/tool.ts'
import { type ReferenceServer, startReferenceServer } from '../fixtures/mcp/reference-server.ts'
import { waitFor } from '../fixtures/time.ts'
import { createTask, readResult, waitForPhase } from './service.ts'
import { useSharedService } from './shared-service.ts'

const shared = useSharedService('mcp-tools')
let everything: ReferenceServer

beforeAll(async () => {
  everything = await startReferenceServer()
  const provider = { name: 'demo', spec: { type: 'demo', defaultModel: 'demo' } }
  await shared.service.call('POST', '/api/v1/providers', provider)
  const spec = { description: 'of the reference server', mcp: { url: everything.url, tools: ['get-sum', 'echo'] } }
  await shared.service.call('POST', '/api/v1/tools', { name: 'every', spec })
})
afterAll(async () => {
  await everything.stop()
})

const sum = 'call every__get-sum {"a":2,"b":40}'

it('is available, and says which tools models get [TOOL-003]', async () => {
  const tool = await waitFor(async () => {
    const { body } = await shared.service.call<Tool>('GET', '/api/v1/tools/every')
    return body.status?.available === true ? body : undefined
  }, 'the tool to be available')
  expect(tool.status?.tools?.map(({ name }) => name)).toEqual(['every__echo', 'every__get-sum'])
})

describe('its tools are called', () => {
  it.each([
    ['llma', '/llma/v1/messages'],
    ['llmo', '/llmo/v1/chat/completions'],
  ])('by a client of the %s proxy', async (_family, path) => {
    const messages = [{ role: 'user', content: sum }]
    const { status, body } = await shared.service.call<unknown>('POST', path, {
      model: 'demo/demo',
      max_tokens: 500,
      messages,
    })
    expect(status).toBe(200)
    expect(JSON.stringify(body)).toContain('The sum of 2 and 40 is 42.')
  })

  it('by chat', async () => {
    const { body } = await shared.service.call<string>('POST', '/api/v1/chat', { message: sum, provider: 'demo' })
    expect(body).toContain('"result":{"success":true,"result":"The sum of 2 and 40 is 42."}')
  })

  it('by an ai task', async () => {
    await createTask(shared.service, 'adds', {
      type: 'ai',
      ai: { prompt: sum, tools: ['every'], providerRef: { name: 'demo' } },
    })
    await waitForPhase(shared.service, 'adds', 'Succeeded')
    expect(await readResult(shared.service, 'adds')).toContain('The sum of 2 and 40 is 42.')
  })
})
