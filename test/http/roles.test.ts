// What roles may do with Secrets and with what names one; the matrix of routes and roles is in permission-matrix.test.ts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Role } from '../../src/contract/api/identity/access.ts'
import { type Service, startService } from './service.ts'

let service: Service
const tokens = {} as Record<Role, string>

beforeAll(async () => {
  service = await startService()
  for (const role of ['viewer', 'runner', 'editor'] as const)
    tokens[role] = (await service.ports.tokens.create({ name: role, role, serverTools: true })).token
  const open = { name: 'open', stringData: { key: 'value' } }
  await service.call('POST /api/v1/secrets', { payload: open })
  await service.call('POST /api/v1/secrets', {
    payload: { ...open, name: 'narrow', allowedHosts: ['*.vendor.example', 'api.example:8443'] },
  })
  await service.call('POST /api/v1/agents', { payload: { name: 'keeper', spec: { secretRef: { name: 'open' } } } })
  await service.call('POST /api/v1/agents', { payload: { name: 'plain', spec: {} } })
})
afterAll(() => service.stop())

async function ask(role: Role, line: string, payload?: object) {
  const answer = await service.call(line, { token: tokens[role], ...(payload && { payload }) })
  const body = answer.body === '' ? {} : answer.json()
  return { status: answer.statusCode, message: String(body.error?.message ?? '') }
}

const reference = { name: 'open', key: 'key' }
const inRepository = (gitRepo: string, name: string) => ({
  type: 'container',
  command: ['true'],
  workspace: { gitRepo, gitSecretRef: { name } },
})
const naming: [string, object][] = [
  ['tasks', { type: 'container', command: ['true'], env: [{ name: 'KEY', valueFrom: { secretKeyRef: reference } }] }],
  ['tasks', inRepository('https://git.example/a/b', 'open')],
  ['agents', { secretRef: { name: 'open' } }],
  ['agents', { secretRef: { name: 'open' }, runtime: { type: 'llma-cli' } }],
]

describe('naming a Secret', () => {
  it.each(naming)('in %s needs the role editor: %j [SECRET-004]', async (kind, spec) => {
    const at = naming.findIndex((one) => one[1] === spec)
    const body = (name: string) => ({ metadata: { name: `${name}-${at}` }, spec })
    expect((await ask('viewer', `POST /api/v1/${kind}`, body('by-viewer'))).status).toBe(403)
    const refused = await ask('runner', `POST /api/v1/${kind}`, body('by-runner'))
    expect([refused.status, refused.message]).toEqual([403, expect.stringContaining('role editor')])
    expect((await ask('editor', `POST /api/v1/${kind}`, body('by-editor'))).status).toBe(201)
  })

  it('makes an agent an editor’s: a runner can neither change it, remove the Secret from it, nor delete it', async () => {
    for (const spec of [{ secretRef: { name: 'open' } }, {}]) {
      const refused = await ask('runner', 'PUT /api/v1/agents/keeper', { spec })
      expect([refused.status, refused.message]).toEqual([403, expect.stringContaining('role editor')])
    }
    expect((await ask('runner', 'DELETE /api/v1/agents/keeper')).status).toBe(403)
    expect((await ask('runner', 'PUT /api/v1/agents/plain', { spec: { model: { name: 'm' } } })).status).toBe(200)
    expect((await ask('runner', 'PUT /api/v1/agents/plain', { spec: { secretRef: { name: 'open' } } })).status).toBe(
      403,
    )
    const task = { name: 'uses-it', type: 'ai', prompt: 'hi', agentRef: { name: 'keeper' } }
    expect((await ask('runner', 'POST /api/v1/tasks', task)).status).toBe(201)
    expect((await ask('editor', 'DELETE /api/v1/agents/keeper')).status).toBe(204)
  })
})

describe('a Secret that says where it may be sent', () => {
  const provider = (baseURL?: string) => ({
    type: 'llmo',
    defaultModel: 'm',
    secretRef: { name: 'narrow', key: 'key' },
    ...(baseURL && { baseURL }),
  })
  const tool = (url: string) => ({ description: 'd', http: { url, authSecretRef: { name: 'narrow', key: 'key' } } })
  const make = (kind: string, name: string, spec: object) =>
    ask('editor', `POST /api/v1/${kind}`, { metadata: { name }, spec })

  it('can be named by an object that sends it to such a host', async () => {
    expect((await make('providers', 'there', provider('https://api.vendor.example/v1'))).status).toBe(201)
    expect((await make('providers', 'own', provider())).status).toBe(201)
    expect((await make('tools', 'there', tool('https://api.example:8443/x'))).status).toBe(201)
    expect((await make('tasks', 'there', inRepository('https://git.vendor.example/a/b', 'narrow'))).status).toBe(201)
    expect((await make('tasks', 'short', inRepository('git@git.vendor.example:a/b', 'narrow'))).status).toBe(201)
  })

  it.each([
    ['providers', provider('https://vendor.example.evil.example/v1')],
    ['tools', tool('https://api.example/x')],
    ['tools', tool('https://elsewhere.example/x')],
    ['agents', { secretRef: { name: 'narrow' } }],
    ['tasks', inRepository('https://elsewhere.example/a/b', 'narrow')],
    ['tasks', { type: 'container', command: ['env'], secretRef: { name: 'narrow' } }],
  ])('cannot be named in %s by an object that sends it elsewhere: %j', async (kind, spec) => {
    const refused = await make(kind, 'elsewhere', spec)
    expect([refused.status, refused.message]).toEqual([403, expect.stringContaining('svc.ai/allowed-hosts')])
  })

  it('is not sent elsewhere by changing the address', async () => {
    const moved = await ask('editor', 'PUT /api/v1/tools/there', { spec: tool('https://elsewhere.example/x') })
    expect(moved.status).toBe(403)
  })
})
