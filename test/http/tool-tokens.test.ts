// Tokens for calls of tools: asked by workers with the token of their attempt, and exchanged for the task alone.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { SvcError } from '../../src/errors.ts'
import type { ExchangeRequest, TokenExchange } from '../../src/ports/identity/identity.ts'
import { contextActions } from '../../src/rules/identity/context-token.ts'
import type { UsecaseSettings } from '../../src/usecases/index.ts'
import { type Issuer, startIssuer } from '../fixtures/issuer.ts'
import { trustIssuer } from './identity-members.ts'
import { aiTask, type Service, startService } from './service.ts'

let issuer: Issuer
let service: Service
const asked: ExchangeRequest[] = []
const usecases: Partial<UsecaseSettings> = {
  propagation: { outboundScope: 'tools:call', childTtlMs: 1, toolTtlMs: 90_000 },
}
let answer: () => { token: string; expiresAt?: string }

beforeAll(async () => {
  issuer = await startIssuer()
  service = await startService({ ...trustIssuer(issuer, { mode: 'off' }), usecases })
  service.ports.tokenExchange = {
    async exchange(request) {
      asked.push(request)
      return answer()
    },
  }
})
afterAll(async () => {
  await service.stop()
  await issuer.stop()
})
beforeEach(() => {
  asked.length = 0
  answer = () => ({ token: 'opaque-1', expiresAt: '2026-03-01T12:00:00.000Z' })
})

let count = 0

/** A running task of a transaction with one tool, or of none. */
async function start(scope?: string) {
  const name = `work-${++count}`
  const payload = aiTask(name, { ai: { tools: ['lookup'] } })
  const headers = scope === undefined ? {} : { 'txn-token': await issuer.signTransaction({ scope }) }
  const made = await service.call('POST /api/v1/tasks', {
    payload,
    ...(scope === undefined ? {} : { token: null, headers }),
  })
  if (made.statusCode !== 201) throw new Error(made.body)
  return { name, token: (await service.runTask(name)).token }
}

const take = (name: string, token: string, tool = 'lookup', namespace = 'default') =>
  service.call(`POST /internal/v1/tool-tokens/${namespace}/${name}/${tool}`, { token })

describe('a token for one call of a tool', () => {
  it('is exchanged within the scope of the transaction, for that tool of that task', async () => {
    const { name, token } = await start('tools:call more')
    const given = await take(name, token)
    expect([given.statusCode, given.json()]).toEqual([
      200,
      { token: 'opaque-1', expiresAt: '2026-03-01T12:00:00.000Z' },
    ])
    expect(given.headers['cache-control']).toContain('no-store')
    const details = { operation: 'httpTool', tool: 'lookup', namespace: 'default', task: name }
    expect(asked).toEqual([{ scope: 'tools:call', ttlMs: 90_000, details }])
  })

  it('is never for more than the transaction allows', async () => {
    const { name, token } = await start('other')
    const refused = await take(name, token)
    expect([refused.statusCode, refused.json().error.message]).toEqual([
      403,
      expect.stringContaining('--context-token-outbound-scope'),
    ])
    expect(asked).toEqual([])
  })

  it('is refused for a tool that the task does not have, for another task, and without a transaction [AUTH-011]', async () => {
    const { name, token } = await start('tools:call')
    const other = await start('tools:call')
    const plain = await start()
    expect((await take(name, token, 'elsewhere')).statusCode).toBe(403)
    expect((await take(other.name, token)).statusCode).toBe(403)
    expect((await take(name, token, 'lookup', 'other')).statusCode).toBe(403)
    expect((await take(plain.name, plain.token)).statusCode).toBe(403)
    expect(asked).toEqual([])
  })

  it('is refused for a tool that the context of the task does not allow, which its agent got since, where that is enforced', async () => {
    const settings: Partial<UsecaseSettings> = { ...usecases, contextMode: 'enforce' }
    const held = await startService({ ...trustIssuer(issuer, { mode: 'enforce' }), usecases: settings })
    held.ports.tokenExchange = service.ports.tokenExchange as TokenExchange
    const put = (line: string, names: string[]) =>
      held.call(line, { payload: { name: 'bot', metadata: {}, spec: { tools: names.map((name) => ({ name })) } } })
    await put('POST /api/v1/agents', ['lookup'])
    const words = `${Object.values(contextActions).join(' ')} tools:call`
    const allowedTools = ['lookup', 'web_search', 'code_exec', 'file_read', 'web_fetch', 'file_write']
    const claims = { scope: words, tctx: { namespace: 'default', allowedTools } }
    const headers = { 'txn-token': await issuer.signTransaction(claims) }
    const payload = aiTask('held', { agentRef: { name: 'bot' } })
    expect((await held.call('POST /api/v1/tasks', { token: null, headers, payload })).statusCode).toBe(201)
    expect((await put('PUT /api/v1/agents/bot', ['lookup', 'other'])).statusCode).toBe(200)
    const { token } = await held.runTask('held')
    const takeFor = async (tool: string) =>
      (await held.call(`POST /internal/v1/tool-tokens/default/held/${tool}`, { token })).statusCode
    expect([await takeFor('lookup'), await takeFor('other')]).toEqual([200, 403])
    expect(asked).toHaveLength(1)
    await held.stop()
  })

  it('is refused once the attempt is over [TASK-045]', async () => {
    const { name, token } = await start('tools:call')
    await service.setStatus('Task', name, { phase: 'Succeeded', attempts: 1 })
    expect((await take(name, token)).statusCode).toBe(403)
    expect(asked).toEqual([])
  })

  it('is exchanged for the task’s own, where it has one', async () => {
    const { name, token } = await start('tools:call')
    const key = { namespace: 'default', name: `${name}-txn-1-0123456789` }
    const task = await service.ports.resources.get('Task', { namespace: 'default', name })
    if (task === undefined) throw new Error('gone')
    const owner = { name, uid: task.metadata.uid }
    await service.ports.secrets.create({ ...key, stringData: { token: 'task-token' }, owner })
    const annotations = { ...task.metadata.annotations, 'svc.ai/transaction-token-secret': key.name }
    await service.ports.resources.update('Task', { ...task, metadata: { ...task.metadata, annotations } })
    expect((await take(name, token)).statusCode).toBe(200)
    expect(asked[0]?.subjectToken).toBe('task-token')
  })

  it('is missing when the exchange fails, in the words of the exchange', async () => {
    answer = () => {
      throw new SvcError('UpstreamFailed', 'the transaction-token service refused the exchange (status 400)')
    }
    const { name, token } = await start('tools:call')
    const failed = await take(name, token)
    expect([failed.statusCode, failed.json().error.message]).toEqual([502, expect.stringContaining('status 400')])
  })

  it('is in no line of the log', async () => {
    expect(JSON.stringify(service.logged)).not.toContain('opaque-1')
  })
})
