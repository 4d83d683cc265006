// Agents that name a Secret, changed by a model in chat: with the rights of the person, and with no Secret of the model's choice.
import { afterEach, beforeEach, expect, it } from 'vitest'
import { AgentSpec } from '../../src/contract/kinds/agents/agent.ts'
import { createEgress } from '../../src/egress/egress.ts'
import type { Caller } from '../../src/ports/identity/identity.ts'
import { createBudgetLedger } from '../../src/usecases/index.ts'
import { createResourceUsecases } from '../../src/usecases/resources/resources.ts'
import { readResults, type ScriptedVendor, startVendor } from '../fixtures/llm/scripted-vendor.ts'
import { type Service, startService } from './service.ts'

let service: Service
let vendor: ScriptedVendor
let call: { name: string; args: object }

beforeEach(async () => {
  service = await startService()
  Object.assign(service.ports, { egress: createEgress() })
  vendor = await startVendor((request) => (readResults(request).length === 0 ? [{ call }] : [{ text: 'done' }]))
  for (const name of ['default', 'other']) {
    await create('providers', { name, spec: { type: 'llmo', baseURL: vendor.url, defaultModel: 'm' } })
  }
  for (const name of ['mine', 'another']) await create('secrets', { name, stringData: { key: 'made-up' } })
  const spec = { systemPrompt: { inline: 'help' }, secretRef: { name: 'mine' } }
  await create('agents', { name: 'armed', spec })
})
afterEach(async () => {
  await service.stop()
  await vendor.close()
})

async function create(path: string, payload: object): Promise<void> {
  expect((await service.call(`POST /api/v1/${path}`, { payload })).statusCode).toBe(201)
}

const readAgent = async (name: string) => (await service.call(`GET /api/v1/agents/${name}`)).json().spec

async function useTool(name: string, args: object, role: string) {
  call = { name, args }
  const made = await service.call('POST /api/v1/tokens', { payload: { name: role, role } })
  const { token } = made.json()
  expect(made.statusCode).toBe(201)
  const headers = { accept: 'application/json' }
  const message = { message: 'create and update the agent' }
  const answer = await service.call('POST /api/v1/chat', { payload: message, headers, token })
  return answer.json().toolCalls[0].result
}

it('is allowed to callers who may change such agents, and keeps the Secret [CTOOL-015]', async () => {
  const args = { name: 'armed', systemPrompt: 'help more', model: 'other/m-2', tools: ['web_fetch'] }
  expect(await useTool('update_agent', args, 'editor')).toMatchObject({ success: true })
  expect(await readAgent('armed')).toMatchObject({
    systemPrompt: { inline: 'help more' },
    providerRef: { name: 'other' },
    model: { name: 'm-2' },
    secretRef: { name: 'mine' },
  })
})

it('names the provider of an agent with a runtime as that of any other [CTOOL-014] [CTOOL-015]', async () => {
  const runtime = { type: 'llma-cli' }
  const made = { name: 'typist', runtime, model: 'other/m-2' }
  expect(await useTool('create_agent', made, 'editor')).toMatchObject({ success: true })
  expect(await readAgent('typist')).toMatchObject({ providerRef: { name: 'other' }, model: { name: 'm-2' } })
  const changed = { name: 'typist', model: { provider: 'default', name: 'm' } }
  expect(await useTool('update_agent', changed, 'editor')).toMatchObject({ success: true })
  expect(await readAgent('typist')).toMatchObject({ providerRef: { name: 'default' }, model: { name: 'm' } })
  expect(await readAgent('typist')).toMatchObject({ runtime })
})

it.each([
  ['tools', { tools: ['web_fetch'] }],
  ['model.temperature', { model: { name: 'm', temperature: 1 } }],
])('refuses %s of an agent with a runtime, as for everybody', async (path, more) => {
  const made = { name: 'typist', runtime: { type: 'llma-cli' }, ...more }
  expect(await useTool('create_agent', made, 'editor')).toMatchObject({ error: expect.stringContaining(path) })
  await create('agents', { name: 'typist', spec: { runtime: { type: 'llma-cli' } } })
  const refused = await useTool('update_agent', { name: 'typist', ...more }, 'editor')
  expect(refused).toMatchObject({ success: false, error: expect.stringContaining(path) })
})

it('is refused to callers who may not', async () => {
  const refused = await useTool('update_agent', { name: 'armed', systemPrompt: 'tell me the key' }, 'runner')
  expect(refused).toMatchObject({ success: false, errorType: 'forbidden' })
  expect(await readAgent('armed')).toMatchObject({ systemPrompt: { inline: 'help' } })
})

it.each([
  ['update_agent', { name: 'armed', secretRef: { name: 'another' } }],
  ['update_agent', { name: 'armed', runtime: { type: 'llma-cli', secretRef: { name: 'another' } } }],
  ['create_agent', { name: 'armed-2', secretRef: { name: 'another' } }],
])('%s names no Secret that the model chose: %j', async (tool, args) => {
  expect(await useTool(tool, args, 'editor')).toMatchObject({ success: false })
  expect(await readAgent('armed')).toMatchObject({ secretRef: { name: 'mine' } })
  expect((await service.call('GET /api/v1/agents/armed-2')).statusCode).toBe(404)
})

it.each([
  ['another Secret', { secretRef: { name: 'another' } }, false],
  ['the same where it stands', { secretRef: { name: 'mine' }, systemPrompt: { inline: 'new' } }, true],
  ['none any more', {}, true],
])('through its tools, a model may name %s: %j, %s', async (_what, spec, allowed) => {
  const settings = {
    allowDemoProvider: false,
    ownAddresses: () => [],
    allowNetworks: [],
    idempotencyKey: new Uint8Array(16),
  }
  const builtinTools = { list: async () => [], names: [] }
  const resources = createResourceUsecases({
    ports: service.ports,
    settings,
    builtinTools,
    ledger: createBudgetLedger(service.ports),
  })
  const rights = { role: 'editor', serverTools: true, isModel: true } as const
  const caller: Caller = { authType: 'token', username: 'eve', groups: [], ...rights }
  const { metadata } = await resources.get(caller, 'Agent', { namespace: 'default', name: 'armed' })
  const body = { metadata: { resourceVersion: metadata.resourceVersion }, spec: AgentSpec.parse(spec) }
  const change = resources.replace(caller, 'Agent', { namespace: 'default', name: 'armed' }, body)
  if (allowed) expect((await change).spec).toMatchObject(spec)
  else await expect(change).rejects.toMatchObject({ reason: 'Forbidden' })
})
