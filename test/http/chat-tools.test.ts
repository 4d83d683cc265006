// The Tool resources of a namespace in chat: offered to the model, called under the caller's rights, and ended with the turn.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createEgress } from '../../src/egress/egress.ts'
import {
  readResults,
  readText,
  type ScriptedVendor,
  startVendor,
  type VendorRequest,
} from '../fixtures/llm/scripted-vendor.ts'
import { type ScriptedServer, startScriptedServer } from '../fixtures/mcp/scripted-server.ts'
import { waitFor } from '../fixtures/time.ts'
import { type Service, startService } from './service.ts'

let service: Service
let vendor: ScriptedVendor
let mcp: ScriptedServer
let silent: string
const silence = createServer(() => {})
let script: Parameters<typeof startVendor>[0]

async function start(limits: { toolTimeoutMs?: number } = {}): Promise<void> {
  service = await startService({ usecases: { allowNetworks: ['127.0.0.1/32'], chat: limits } })
  Object.assign(service.ports, { egress: createEgress() })
  const spec = { type: 'llmo', baseURL: vendor.url, defaultModel: 'm' }
  await service.call('POST /api/v1/providers', { payload: { name: 'default', spec } })
}

beforeAll(async () => {
  vendor = await startVendor((request, count) => script(request, count))
  mcp = await startScriptedServer()
  await new Promise<void>((resolve) => silence.listen(0, '127.0.0.1', resolve))
  silent = `http://127.0.0.1:${(silence.address() as AddressInfo).port}`
})
beforeEach(() => {
  script = () => [{ text: 'ok' }]
})
afterEach(async () => {
  await service.stop()
  mcp.reset()
})
afterAll(async () => {
  await vendor.close()
  await mcp.stop()
  silence.closeAllConnections()
  silence.close()
})

async function chat(message: string) {
  const headers = { accept: 'application/json' }
  const answer = await service.call('POST /api/v1/chat', { payload: { message }, headers })
  expect(answer.statusCode).toBe(200)
  return answer.json()
}

const addTool = async (name: string, spec: object) => {
  const made = await service.call('POST /api/v1/tools', { payload: { name, spec: { description: 'd', ...spec } } })
  expect(made.statusCode).toBe(201)
}

const foundAt = (endpoint: string) => ({ available: true, endpoint, observedGeneration: 1 })

/** A Tool that stands for the server, as its controller would leave it. */
async function addServer(): Promise<void> {
  await addTool('docs', { mcp: { url: mcp.url } })
  const search = {
    name: 'docs__search',
    serverName: 'search',
    description: 'does search',
    parameters: { type: 'object' },
  }
  await service.setStatus('Tool', 'docs', { ...foundAt(mcp.url), tools: [search] })
}

const callOnce =
  (...calls: { name: string; args: object }[]) =>
  (request: VendorRequest) =>
    readResults(request).length === 0 ? calls.map((call) => ({ call })) : [{ text: 'done' }]

const offered = () => (vendor.requests.at(-1)?.tools ?? []).map((tool) => tool.function.name)

describe('a Tool in chat', () => {
  it('that is an MCP server is called in one session, which ends with the turn', async () => {
    await start()
    await addServer()
    mcp.intercept((_received, response) => {
      response.setHeader('mcp-session-id', 'of-the-turn')
      return false
    })
    const search = { name: 'docs__search', args: {} }
    script = callOnce(search, search)
    const { message, toolCalls } = await chat('what do the docs say?')
    expect(message).toBe('done')
    expect(toolCalls.map(({ result }: { result: object }) => result)).toEqual([
      { success: true, result: 'found' },
      { success: true, result: 'found' },
    ])
    await waitFor(() => mcp.seen.some(({ method }) => method === 'DELETE'), 'the session to end')
    expect(mcp.seen.filter(({ message: sent }) => sent?.method === 'initialize')).toHaveLength(1)
  })

  it('that is an HTTP request is called, and what it answers shows no secret', async () => {
    await start()
    const secret = 'key-of-the-weather-0123'
    await service.call('POST /api/v1/secrets', { payload: { name: 'weather', stringData: { token: secret } } })
    const authSecretRef = { name: 'weather', key: 'token' }
    mcp.intercept(({ headers }, response) => {
      response.end(`you sent ${headers.authorization}`)
      return true
    })
    await addTool('weather', { http: { url: mcp.url, authSecretRef } })
    script = callOnce({ name: 'weather', args: {} })
    const turn = await chat('what is the weather?')
    expect(turn.toolCalls[0].result).toMatchObject({ success: true, body: 'you sent Bearer [REDACTED]' })
    expect(mcp.seen[0]?.headers.authorization).toBe(`Bearer ${secret}`)
    expect(JSON.stringify([turn, vendor.requests])).not.toContain(secret)
  })

  it('is offered beside chat’s own, and its description shows no secret', async () => {
    await start()
    const secret = 'key-of-the-docs-0123'
    await service.call('POST /api/v1/secrets', { payload: { name: 'key', stringData: { token: secret } } })
    const parameters = { type: 'object', properties: { city: { type: 'string', default: secret } } }
    const http = { url: silent, authSecretRef: { name: 'key', key: 'token' } }
    await addTool('weather', { description: `of ${secret}`, parameters, http })
    await chat('hello')
    expect(offered()).toEqual(expect.arrayContaining(['weather', 'list_tasks']))
    expect(JSON.stringify(vendor.requests)).not.toContain(secret)
    const prompt = readText(vendor.requests.at(-1)?.messages[0]?.content)
    expect(prompt).toContain('you have those that you are offered:\n- weather - of [REDACTED]')
  })

  it('is left out where vendors would take no more', async () => {
    await start()
    await addTool('docs', { mcp: { url: mcp.url } })
    const tools = Array.from({ length: 128 }, (_, at) => ({
      name: `docs__t${at}`,
      serverName: `t${at}`,
      description: 'd',
      parameters: { type: 'object' },
    }))
    await service.setStatus('Tool', 'docs', { ...foundAt(mcp.url), tools })
    await chat('hello')
    expect(offered()).toHaveLength(128)
    expect(offered()).toContain('create_ai_task')
  })

  it('that is not available fails at once, with the reason', async () => {
    await start()
    await addServer()
    const outage = { available: false, error: 'the server is down', lastCheck: new Date().toISOString() }
    await service.setStatus('Tool', 'docs', { ...foundAt(mcp.url), ...outage, tools: [] })
    script = callOnce({ name: 'docs', args: {} })
    const { toolCalls } = await chat('what do the docs say?')
    expect(toolCalls[0].result).toMatchObject({ success: false, errorType: 'unavailable' })
    expect(mcp.seen).toEqual([])
  })

  it('ends at the time limit of chat even when it allows itself longer [LIM-009]', async () => {
    await start({ toolTimeoutMs: 50 })
    await addTool('patient', { http: { url: silent, timeout: '10m' } })
    script = callOnce({ name: 'patient', args: {} })
    const { message, toolCalls } = await chat('wait')
    expect(toolCalls[0].result).toMatchObject({ errorType: 'timeout', error: expect.stringContaining('0.05 s') })
    expect(message).toBe('done')
  })
})
