// Acting inside somebody's task by the tools of a model in chat and with context tokens: as by the routes, with the rights of the person.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { letsIn } from '../../src/contract/api/tasks/acting-doors.ts'
import { createEgress } from '../../src/egress/egress.ts'
import { contextActions } from '../../src/rules/identity/context-token.ts'
import { type Issuer, startIssuer } from '../fixtures/issuer.ts'
import { readResults, type ScriptedVendor, startVendor } from '../fixtures/llm/scripted-vendor.ts'
import { trustIssuer } from './identity-members.ts'
import { type Service, startService } from './service.ts'

const everyScope: string[] = Object.values(contextActions)
const withoutSecrets = everyScope.filter((scope) => scope !== contextActions['secret-read'])
const secrets = ['without', 'with'] as const

let service: Service
let vendor: ScriptedVendor
let issuer: Issuer
let call: { name: string; args: object }
let made = 0

async function make(kind: string, payload: object): Promise<void> {
  const { statusCode, body } = await service.call(`POST /api/v1/${kind}`, { payload })
  if (statusCode !== 201) throw new Error(body)
}

beforeAll(async () => {
  issuer = await startIssuer()
  service = await startService(trustIssuer(issuer))
  Object.assign(service.ports, { egress: createEgress() })
  vendor = await startVendor((request) => (readResults(request).length === 0 ? [{ call }] : [{ text: 'done' }]))
  await make('providers', { name: 'default', spec: { type: 'llmo', baseURL: vendor.url, defaultModel: 'm' } })
  await make('secrets', { name: 'key', stringData: { token: 'value' } })
})
afterAll(async () => {
  await service?.stop()
  await vendor?.close()
  await issuer?.stop()
})

const tool = (path: string) => ({ description: 'x', http: { url: `https://example.com/${path}` } })
/** The providers of an agent: it falls back on the last when its own, or one that that names, does not answer. */
const behind = (name: string) => `behind-${name}`

/** A task of the owner with a session, and with a skill, a tool, a prompt and providers that its agent names. */
async function makeTask(secret: (typeof secrets)[number]) {
  const name = `task-${++made}`
  await make('skills', { name, spec: { description: 'x', content: { inline: 'x' } } })
  await make('tools', { name, spec: tool('') })
  await make('configmaps', { name, data: { text: 'help' } })
  await make('providers', { name: behind(name), spec: { type: 'llma' } })
  await make('providers', {
    name,
    spec: { type: 'llma', defaultModel: 'm', fallbacks: [{ providerRef: { name: behind(name) } }] },
  })
  const systemPrompt = { configMapRef: { name, key: 'text' } }
  await make('agents', {
    name,
    spec: { systemPrompt, skills: [{ name }], tools: [{ name }], providerRef: { name } },
  })
  const env = secret === 'without' ? [] : [{ name: 'KEY', valueFrom: { secretKeyRef: { name: 'key', key: 'token' } } }]
  const spec = { type: 'ai', prompt: 'x', suspend: true, env, agentRef: { name }, sessionRef: { name, create: true } }
  await make('tasks', { metadata: { name }, spec })
  return name
}

describe('a model in chat', () => {
  const tools: Record<string, (task: string) => { name: string; args: object }> = {
    'a change of its agent': (name) => ({ name: 'update_agent', args: { name, systemPrompt: 'other' } }),
    'a task in its session': (name) => ({
      name: 'create_ai_task',
      args: { name: 'other', prompt: 'x', sessionRef: name },
    }),
  }
  const cells = Object.keys(tools).flatMap((tool) =>
    secrets.flatMap((secret) =>
      (['runner', 'editor'] as const).map((role) => ({
        tool,
        secret,
        role,
        isIn: role === 'editor' || secret === 'without',
      })),
    ),
  )

  it.each(cells)(
    '$tool, for the $role, where a task was made $secret Secret: $isIn',
    async ({ tool, secret, role, isIn }) => {
      const name = await makeTask(secret)
      const found = tools[tool]?.(name)
      if (found === undefined) throw new Error('no such tool')
      call = found
      const { token } = (
        await service.call('POST /api/v1/tokens', { payload: { name: `${role}-${made}`, role } })
      ).json()
      const headers = { accept: 'application/json' }
      const payload = { message: 'create a task and update the agent' }
      const { toolCalls } = (await service.call('POST /api/v1/chat', { payload, headers, token })).json()
      if (isIn) expect(toolCalls[0].result).not.toHaveProperty('error')
      else expect(toolCalls[0].result).toMatchObject({ errorType: 'forbidden' })
    },
  )
})

describe('a context token', () => {
  const skill = { metadata: {}, spec: { description: 'x', content: { inline: 'other' } } }
  const doors: Record<string, (task: string) => [line: string, payload?: object]> = {
    'a file for it': (name) => [`PUT /api/v1/tasks/${name}/inputs/a`],
    'a change of its agent': (name) => [
      `PUT /api/v1/agents/${name}`,
      { metadata: {}, spec: { systemPrompt: { inline: 'other' }, skills: [{ name }], providerRef: { name } } },
    ],
    'a change of its skill': (name) => [`PUT /api/v1/skills/${name}`, skill],
    'a change of its provider': (name) => [`PUT /api/v1/providers/${name}`, { metadata: {}, spec: { type: 'llmo' } }],
    'a change of what its provider falls back on': (name) => [
      `PUT /api/v1/providers/${behind(name)}`,
      { metadata: {}, spec: { type: 'llmo' } },
    ],
    'a change of its tool': (name) => [`PUT /api/v1/tools/${name}`, { metadata: {}, spec: tool('other') }],
    'a task in its session': (name) => [
      'POST /api/v1/tasks',
      {
        metadata: { name: `joined-${name}` },
        spec: { type: 'ai', prompt: 'x', suspend: true, sessionRef: { name, create: true } },
      },
    ],
  }
  const cells = Object.keys(doors).flatMap((door) =>
    secrets.flatMap((secret) =>
      [true, false].map((reads) => ({ door, secret, reads, isIn: reads || secret === 'without' })),
    ),
  )

  it.each(cells)(
    '$door, which may read Secrets: $reads, where a task was made $secret Secret: $isIn',
    async ({ door, secret, reads, isIn }) => {
      const [line, payload] = doors[door]?.(await makeTask(secret)) ?? ['']
      const scope = (reads ? everyScope : withoutSecrets).join(' ')
      const identity = { 'txn-token': await issuer.signTransaction({ scope }) }
      const body =
        payload === undefined
          ? { payload: 'x', headers: { ...identity, 'content-type': 'application/octet-stream' } }
          : { payload, headers: identity }
      const { statusCode } = await service.call(line, { token: null, ...body })
      if (isIn) expect(statusCode).toBeLessThan(300)
      else expect(statusCode).toBe(403)
    },
  )

  const anotherOf: Record<string, (name: string) => [string, object]> = {
    providers: (name) => ['POST /api/v1/providers', { name, spec: { type: 'llmo' } }],
    tools: (name) => ['POST /api/v1/tools', { name, spec: tool('other') }],
  }

  it.each(Object.keys(anotherOf))('removes one of its %s, and makes no other of that name', async (kind) => {
    const name = await makeTask('with')
    const headers = { 'txn-token': await issuer.signTransaction({ scope: withoutSecrets.join(' ') }) }
    expect(letsIn('outside', 'other')).toBe(true)
    expect((await service.call(`DELETE /api/v1/${kind}/${name}`, { token: null, headers })).statusCode).toBe(204)
    const [line, payload] = anotherOf[kind]?.(name) ?? ['']
    const refused = await service.call(line, { token: null, headers, payload })
    expect(refused.statusCode).toBe(403)
    expect(refused.json().error.message).toContain(`"${name}" is used by task "${name}"`)
  })

  it('makes no provider where the task of somebody else names none', async () => {
    const namespace = 'unnamed'
    await make('secrets', { name: 'key', namespace, stringData: { token: 'value' } })
    const env = [{ name: 'KEY', valueFrom: { secretKeyRef: { name: 'key', key: 'token' } } }]
    await make('tasks', {
      metadata: { name: 'waits', namespace },
      spec: { type: 'ai', prompt: 'x', suspend: true, env },
    })
    const makeAs = async (scopes: string[]) => {
      const tctx = { namespace }
      const headers = { 'txn-token': await issuer.signTransaction({ scope: scopes.join(' '), tctx }) }
      const payload = { name: 'new', namespace, spec: { type: 'llmo' } }
      return (await service.call('POST /api/v1/providers', { token: null, headers, payload })).statusCode
    }
    expect([await makeAs(withoutSecrets), await makeAs(everyScope)]).toEqual([403, 201])
  })
})

describe('an editor of one namespace', () => {
  const parts: Record<string, object> = {
    providers: { metadata: {}, spec: { type: 'llmo' } },
    tools: { metadata: {}, spec: tool('other') },
    configmaps: { data: { text: 'other' } },
  }

  it.each(Object.keys(parts))(
    'changes none of the %s of a task elsewhere that has a Secret, and may remove it',
    async (kind) => {
      const name = await makeTask('without')
      const namespace = 'elsewhere'
      await make('secrets', { name, namespace, stringData: { token: 'value' } })
      const env = [{ name: 'KEY', valueFrom: { secretKeyRef: { name, key: 'token' } } }]
      const spec = { type: 'ai', prompt: 'x', suspend: true, env, agentRef: { name, namespace: 'default' } }
      await make('tasks', { metadata: { name, namespace }, spec })
      const payload = { name: `bound-${name}`, role: 'editor', namespace: 'default' }
      const { token } = (await service.call('POST /api/v1/tokens', { payload })).json()
      const line = `/api/v1/${kind}/${name}`
      const refused = await service.call(`PUT ${line}`, { token, payload: parts[kind] })
      expect([refused.statusCode, refused.json().error.message]).toEqual([
        403,
        expect.stringContaining('a task of another namespace'),
      ])
      expect((await service.call(`PUT ${line}`, { payload: parts[kind] })).statusCode).toBe(200)
      expect((await service.call(`DELETE ${line}`, { token })).statusCode).toBe(204)
    },
  )
})
