// Acting inside somebody's task by the tools of a model in chat and with context tokens: as by the routes, with the rights of the person.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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

/** A task of the owner with a session, and with a skill that its agent names. */
async function makeTask(secret: (typeof secrets)[number]) {
  const name = `task-${++made}`
  await make('skills', { name, spec: { description: 'x', content: { inline: 'x' } } })
  await make('agents', { name, spec: { systemPrompt: { inline: 'help' }, skills: [{ name }] } })
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
      { metadata: {}, spec: { systemPrompt: { inline: 'other' }, skills: [{ name }] } },
    ],
    'a change of its skill': (name) => [`PUT /api/v1/skills/${name}`, skill],
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
})
