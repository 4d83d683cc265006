// Budgets: kept by owners, asked at every door, fed by every door, and known to other replicas within seconds.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createBudgetLedger } from '../../src/usecases/index.ts'
import { type Proxied, simpleMessage, startProxied } from '../fixtures/proxy/proxied.ts'
import { answerJson } from '../fixtures/proxy/upstream.ts'
import { waitFor } from '../fixtures/time.ts'
import { aiTask, type Service } from './service.ts'

let proxied: Proxied
let service: Service
beforeEach(async () => {
  proxied = await startProxied({ builtinTools: ['file_read'] })
  service = proxied.service
  const price = { currency: 'USD', inputPerMillion: 1_000_000, outputPerMillion: 1_000_000 }
  await proxied.addProvider('default', { type: 'llmo', defaultModel: 'm', price })
  proxied.upstream.script.answer = answerJson({
    id: 'c',
    object: 'chat.completion',
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
  })
})
afterEach(() => proxied.stop())

const completions = '/llmo/v1/chat/completions'

async function putBudget(name: string, spec: object, token?: string) {
  const answer = await service.call(`PUT /api/v1/budgets/${name}`, { payload: spec, ...(token && { token }) })
  return { status: answer.statusCode, body: answer.json() }
}

async function makeToken(name: string, more: object = {}): Promise<{ id: string; token: string }> {
  return (await service.call('POST /api/v1/tokens', { payload: { name, ...more } })).json()
}

const readBudgets = async () => (await service.call('GET /api/v1/budgets')).json().items

type Refusal = { error: { message: string } }

async function ask(path: string, body: object, token?: string, headers = {}): Promise<[number, string]> {
  const answer = await proxied.ask(path, body, { ...(token && { token }), headers })
  const text = await answer.text()
  return [answer.status, answer.status === 200 ? '' : (JSON.parse(text) as Refusal).error.message]
}

const chat = (payload: object = {}, token?: string) =>
  service.call('POST /api/v1/chat', {
    payload: { message: 'x', ...payload },
    headers: { accept: 'application/json' },
    ...(token && { token }),
  })

describe('budgets', () => {
  it('are created, shown with what is spent, replaced and removed, by owners only', async () => {
    expect(await putBudget('all', { maxTokens: 100 })).toMatchObject({
      status: 200,
      body: {
        name: 'all',
        spec: { scope: {}, period: 'month', maxTokens: 100, currency: 'USD' },
        spent: { tokens: 0, cost: 0, unpricedCalls: 0, since: expect.stringMatching(/^\d{4}-\d\d-01T00:00:00/) },
        usedUp: false,
      },
    })
    await ask(completions, simpleMessage('m'))
    expect(await readBudgets()).toMatchObject([{ name: 'all', spent: { tokens: 10, cost: 10 } }])
    expect((await putBudget('all', { maxTokens: 10 })).body).toMatchObject({ spent: { tokens: 10 }, usedUp: true })
    const { token } = await makeToken('editor')
    expect((await putBudget('all', { maxTokens: 1000 }, token)).status).toBe(403)
    expect((await service.call('DELETE /api/v1/budgets/all')).statusCode).toBe(204)
    expect((await service.call('DELETE /api/v1/budgets/all')).statusCode).toBe(404)
    expect(await readBudgets()).toEqual([])
    for (const wrong of [
      {},
      { maxTokens: 1, scope: { agent: 'a' } },
      { maxTokens: 1, scope: { token: 'a', caller: 'b' } },
    ])
      expect((await putBudget('wrong', wrong)).status).toBe(400)
  })

  it('refuse every kind of call with a reason once they are used up', async () => {
    await ask(completions, simpleMessage('m'))
    await putBudget('team', { scope: { namespace: 'default' }, period: 'day', maxTokens: 10 })
    // What was used before there was a budget is known once it is in a record.
    await waitFor(async () => (await readBudgets())[0].usedUp, 'the budget to be used up')
    const reason = /the budget "team" of 10 tokens a day for namespace "default" is used up; it resets at \d{4}-/
    const loop = { 'x-svc-tools': 'enabled' }
    for (const refused of [
      await ask(completions, simpleMessage('m')),
      await ask(completions, simpleMessage('m', { stream: true }), undefined, loop),
      await ask('/llmo/v1/embeddings', { model: 'm', input: 'x' }),
      await ask('/llmo/v1/responses', { model: 'm', input: 'x' }),
      await ask('/llma/v1/messages', simpleMessage('m')),
    ]) {
      expect(refused).toEqual([403, expect.stringMatching(reason)])
    }
    const turn = await chat({ sessionId: 'unmade' })
    expect([turn.statusCode, turn.json().error]).toMatchObject([
      403,
      { reason: 'BudgetExceeded', message: expect.stringMatching(reason) },
    ])
    expect((await service.call('GET /api/v1/sessions/unmade')).statusCode).toBe(404)
    const task = await service.call('POST /api/v1/tasks', { payload: aiTask('poem') })
    expect([task.statusCode, task.json().error.reason]).toEqual([403, 'BudgetExceeded'])
    const command = { name: 'plain', type: 'container', command: ['true'] }
    expect((await service.call('POST /api/v1/tasks', { payload: command })).statusCode).toBe(201)
    expect(proxied.upstream.received).toHaveLength(1)
  })

  it('for a token count its chats, requests and tasks, and limit no other token', async () => {
    const [spender, other] = [await makeToken('same'), await makeToken('same')]
    await putBudget('one', { scope: { token: spender.id }, maxTokens: 30 })
    expect((await ask(completions, simpleMessage('m'), spender.token))[0]).toBe(200)
    expect((await chat({}, spender.token)).statusCode).toBe(200)
    await service.call('POST /api/v1/tasks', { payload: aiTask('poem'), token: spender.token })
    const { identity, token } = await service.runTask('poem')
    const submit = (id: string) =>
      service.call(`POST /internal/v1/usage/default/${identity.taskName}`, {
        token,
        payload: {
          id,
          provider: { namespace: 'default', name: 'default' },
          model: 'm',
          inputTokens: 5,
          outputTokens: 0,
          estimatedOutputTokens: 5,
        },
      })
    const answer = await submit('1-1')
    // It is recorded all the same, and the worker is told that it was the last one.
    expect([answer.statusCode, answer.json().error.reason]).toEqual([403, 'BudgetExceeded'])
    expect((await ask(completions, simpleMessage('m'), spender.token))[0]).toBe(403)
    expect((await ask(completions, simpleMessage('m'), other.token))[0]).toBe(200)
    expect(await readBudgets()).toMatchObject([{ name: 'one', spent: { tokens: 30, cost: 30 }, usedUp: true }])
  })

  it('for an agent apply to its chats, and for a caller to everybody with that id', async () => {
    await service.call('POST /api/v1/agents', { payload: { name: 'poet', spec: {} } })
    await putBudget('poets', { scope: { namespace: 'default', agent: 'poet' }, maxTokens: 10 })
    expect((await chat({ agentRef: 'poet' })).statusCode).toBe(200)
    expect((await chat({ agentRef: 'poet' })).statusCode).toBe(403)
    expect((await chat()).statusCode).toBe(200)
    await putBudget('owners', { scope: { caller: 'owner' }, maxCost: 20 })
    const refused = await chat()
    expect([refused.statusCode, refused.json().error.message]).toEqual([
      403,
      expect.stringContaining('20 USD a month for caller "owner"'),
    ])
  })

  it('in money count calls priced in their currency, and report how many had no price', async () => {
    await proxied.addProvider('free', { type: 'llmo', defaultModel: 'm' })
    await putBudget('money', { maxCost: 10 })
    await putBudget('euros', { maxCost: 10, currency: 'EUR' })
    await ask(completions, simpleMessage('free/m'))
    await ask(completions, simpleMessage('free/m'))
    expect(await readBudgets()).toMatchObject([
      { name: 'euros', spent: { cost: 0, unpricedCalls: 2 }, usedUp: false },
      { name: 'money', spent: { cost: 0, unpricedCalls: 2 }, usedUp: false },
    ])
    await ask(completions, simpleMessage('default/m'))
    expect((await ask(completions, simpleMessage('free/m')))[0]).toBe(403)
    expect((await readBudgets())[0]).toMatchObject({ name: 'euros', usedUp: false })
  })

  it('end a chat between two calls of one turn, keeping what was said so far', async () => {
    await putBudget('small', { maxTokens: 10 })
    const call = { id: 't1', type: 'function', function: { name: 'list_agents', arguments: '{}' } }
    proxied.upstream.script.answer = answerJson({
      id: 'c',
      object: 'chat.completion',
      model: 'm',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'let me see', tool_calls: [call] },
          finish_reason: 'tool_calls',
        },
      ],
      usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
    })
    const turn = await chat({ sessionId: 's' })
    expect([turn.statusCode, turn.json().error.message]).toEqual([403, expect.stringContaining('the budget "small"')])
    expect(proxied.upstream.received).toHaveLength(1)
    const { transcript } = (await service.call('GET /api/v1/sessions/s')).json()
    expect(transcript).toContain('let me see')
  })

  it('include what another replica has used within seconds, without a read for each request', async () => {
    const other = createBudgetLedger(service.ports)
    const spender = { namespace: 'default' }
    await putBudget('shared', { scope: { namespace: 'default' }, maxTokens: 20 })
    await other.require(spender)
    let reads = 0
    const { usage } = service.ports.records
    const { spent } = usage
    usage.spent = (...args) => {
      reads += 1
      return spent(...args)
    }
    const before = reads
    for (let count = 0; count < 100; count += 1) expect(other.require(spender)).toBeUndefined()
    expect(reads).toBe(before)
    await ask(completions, simpleMessage('m'))
    await ask(completions, simpleMessage('m'))
    const isRefused = () => {
      try {
        return other.require(spender) !== undefined
      } catch {
        return true
      }
    }
    await waitFor(isRefused, 'the other replica to know')
    other.close()
  })
})
