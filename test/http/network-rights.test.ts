// Whoever gives a task or an agent a wider network than its namespace has needs the right to do so.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Role } from '../../src/contract/api/identity/access.ts'
import { type Service, startService } from './service.ts'

let service: Service
const tokens = {} as Record<Role, string>
beforeAll(async () => {
  const network = {
    agents: ['packages'],
    commands: ['open'],
    onUnknown: 'refuse' as const,
    namespaces: { tight: { allow: ['codehost'], onUnknown: 'refuse' as const } },
    allowsOpen: false,
    independent: [],
    ports: [443],
  }
  service = await startService({ usecases: { network } })
  for (const role of ['runner', 'editor'] as const)
    tokens[role] = (await service.ports.tokens.create({ name: role, role, serverTools: true })).token
})
afterAll(() => service.stop())

let count = 0
async function create(role: Role, kind: 'tasks' | 'agents', namespace: string, spec: object) {
  const payload = { metadata: { name: `n-${count++}`, namespace }, spec }
  const answer = await service.call(`POST /api/v1/${kind}?namespace=${namespace}`, { token: tokens[role], payload })
  return { status: answer.statusCode, message: String(answer.json().error?.message ?? '') }
}
const command = (...allow: string[]) => ({ type: 'container', command: ['true'], network: { allow } })
const program = (...allow: string[]) => ({ runtime: { type: 'llma-cli' }, network: { allow } })

describe('a network', () => {
  it.each<['tasks' | 'agents', object]>([
    ['tasks', command('codehost', 'example.com')],
    ['agents', program('packages')],
    ['agents', { ...program('codehost'), network: { allow: ['codehost'], onUnknown: 'allow' } }],
  ])('that is wider than that of the namespace is made by an editor: %s %j', async (kind, spec) => {
    const refused = await create('runner', kind, 'tight', spec)
    expect([refused.status, refused.message]).toEqual([
      403,
      expect.stringContaining('the network of "tight" does not have'),
    ])
    expect((await create('editor', kind, 'tight', spec)).status).toBe(201)
  })

  it.each<['tasks' | 'agents', string, object]>([
    ['tasks', 'tight', command('none')],
    ['tasks', 'tight', command('github.com')],
    ['agents', 'tight', { ...program('codehost'), network: { allow: ['codehost'], onUnknown: 'ask' } }],
    ['tasks', 'default', command('anything.example')],
    ['tasks', 'default', command('open')],
    ['agents', 'default', program('pypi.org')],
  ])('that is no wider is made by whoever may make the %s: %s %j', async (kind, namespace, spec) => {
    expect(await create('runner', kind, namespace, spec)).toMatchObject({ status: 201 })
  })

  it('is open for nobody where the operator does not allow it', async () => {
    const refused = await create('editor', 'agents', 'default', program('open'))
    expect([refused.status, refused.message]).toEqual([403, expect.stringContaining('--allow-open-network')])
  })

  it('is asked about again only where it changes', async () => {
    const spec = { ...program('packages'), systemPrompt: { inline: 'one' } }
    const named = { metadata: { name: 'wide', namespace: 'tight' }, spec }
    const at = '/api/v1/agents/wide?namespace=tight'
    const call = (line: string, role: Role, payload: object) => service.call(line, { token: tokens[role], payload })
    expect((await call('POST /api/v1/agents?namespace=tight', 'editor', named)).statusCode).toBe(201)
    const reworded = { spec: { ...spec, systemPrompt: { inline: 'two' } } }
    expect((await call(`PUT ${at}`, 'runner', reworded)).statusCode).toBe(200)
    const widened = { spec: { ...reworded.spec, network: { allow: ['packages', 'example.com'] } } }
    expect((await call(`PUT ${at}`, 'runner', widened)).statusCode).toBe(403)
  })
})
