// What may be stored, whoever asks by REST: what a resource names, and the labels and annotations of the service's own.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Kind, kinds } from '../../src/contract/kinds/index.ts'
import { parseOrThrow } from '../../src/contract/schema/validation.ts'
import type { Caller } from '../../src/ports/identity/identity.ts'
import { aiTask, ownerToken, type Service, startService } from './service.ts'

let service: Service
let bound: string
beforeAll(async () => {
  service = await startService()
  const payload = { name: 'bound', namespace: 'default' }
  bound = (await service.call('POST /api/v1/tokens', { payload })).json().token
})
afterAll(() => service.stop())

const far = { name: 'x', namespace: 'other' }

const crossing: [kind: Kind, field: string, spec: object][] = [
  ['Task', 'spec.agentRef', { type: 'ai', prompt: 'x', agentRef: far }],
  ['Task', 'spec.ai.providerRef', { type: 'ai', prompt: 'x', ai: { providerRef: far } }],
  ['Task', 'spec.secretRef', { type: 'ai', prompt: 'x', secretRef: far }],
  ['Agent', 'spec.providerRef', { providerRef: far }],
  [
    'Agent',
    'spec.model.fallbacks[1].providerRef',
    { model: { fallbacks: [{ providerRef: { name: 'near' } }, { providerRef: far }] } },
  ],
  ['Agent', 'spec.coordination.allowedAgents[0]', { coordination: { allowedAgents: [far] } }],
  ['Provider', 'spec.fallbacks[0].providerRef', { type: 'llma', fallbacks: [{ providerRef: far }] }],
]

function create(at: Service, caller: Caller, kind: Kind, given: object) {
  const spec = parseOrThrow(kinds[kind].spec, given, kind) as never
  return at.usecases.resources.create(caller, kind, { namespace: 'default', metadata: { name: 'crossing' }, spec })
}

describe('a reference into another namespace', () => {
  it.each(crossing)('of %s as %s needs the right to read it there', async (kind, _field, spec) => {
    const token = await service.ports.authenticator.authenticate({ token: bound, source: 'bearer' })
    await expect(create(service, token, kind, spec)).rejects.toMatchObject({
      reason: 'Forbidden',
      message: expect.stringContaining('"other"'),
    })
  })
})

describe('where namespaces are kept apart', () => {
  let apart: Service
  beforeAll(async () => {
    apart = await startService({ usecases: { isolateNamespaces: true } })
  })
  afterAll(() => apart.stop())

  it.each(crossing)('in %s as %s, a reference into another namespace is refused', async (kind, field, spec) => {
    const owner = await apart.ports.authenticator.authenticate({ token: ownerToken, source: 'bearer' })
    await expect(create(apart, owner, kind, spec)).rejects.toMatchObject({
      reason: 'Forbidden',
      message: expect.stringContaining(`${field} names namespace "other"`),
    })
  })

  it('the own one may be named in full', async () => {
    const spec = { model: { fallbacks: [{ providerRef: { name: 'x', namespace: 'default' } }] } }
    expect((await apart.call('POST /api/v1/agents', { payload: { name: 'near', spec } })).statusCode).toBe(201)
  })
})

describe('labels and annotations that belong to the service', () => {
  const keys = [
    ['labels', 'svc.ai/parent-task'],
    ['labels', 'svc.ai/scheduled-run'],
    ['labels', 'svc.ai/coordinator'],
    ['labels', 'svc.ai/created-by'],
    ['annotations', 'svc.ai/parent-task-name'],
    ['annotations', 'svc.ai/transaction-token-secret'],
  ] as const

  it.each(keys)('can be set by nobody else: %s %s', async (part, key) => {
    const metadata = { [part]: { [key]: 'forged' } }
    const made = await service.call('POST /api/v1/tasks', { payload: { ...aiTask('forged'), metadata } })
    expect([made.statusCode, made.body]).toEqual([400, expect.stringContaining(key)])
    await service.call('POST /api/v1/agents', { payload: { name: 'plain', spec: {} } })
    const changed = await service.call('PUT /api/v1/agents/plain', { payload: { metadata, spec: {} } })
    expect([changed.statusCode, changed.body]).toEqual([400, expect.stringContaining(key)])
  })

  it('are kept when others are replaced', async () => {
    const owner = await service.ports.authenticator.authenticate({ token: bound, source: 'bearer' })
    const marks = { 'svc.ai/created-by': 'orchestrator' }
    const key = { namespace: 'default', name: 'marked' }
    await service.usecases.resources.create(owner, 'Agent', { ...key, metadata: { name: key.name }, spec: {}, marks })
    const payload = { metadata: { labels: { team: 'a' } }, spec: {} }
    const changed = await service.call('PUT /api/v1/agents/marked', { payload })
    expect(changed.json().metadata.labels).toEqual({ team: 'a', ...marks })
  })
})
