// The webhook of the code host: who may deliver, and what is answered.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { issueEvent, label, makeDelivery, makeSecret, pullEvent, signBody } from '../fixtures/codehost/deliveries.ts'
import { type Service, startService } from './service.ts'

const secret = makeSecret()
const path = 'POST /webhooks/codehost'
let service: Service

beforeAll(async () => {
  service = await startService({ usecases: { webhook: { secret, agent: 'builder', agents: { REVIEW: 'reviewer' } } } })
  for (const name of ['builder', 'reviewer']) {
    const spec = { runtime: { type: 'llma-cli' } }
    const made = await service.call('POST /api/v1/agents', { payload: { name, spec } })
    expect(made.statusCode).toBe(201)
  }
})
afterAll(() => service.stop())

type Sent = { event: string; payload: unknown; id?: string; headers?: Record<string, string> }

async function send(sent: Sent) {
  const { payload, headers, id } = makeDelivery({ ...sent, secret })
  const answer = await service.call(path, { token: null, payload, headers })
  return { id, status: answer.statusCode, body: answer.json() }
}

const post = async (payload: string | Buffer, headers: Record<string, string>) => {
  const answer = await service.call(path, { token: null, payload, headers })
  return { status: answer.statusCode, body: answer.json() }
}
const found = async (id: string) => (await service.call(`GET /api/v1/webhook/deliveries/${id}`)).json()
const countTasks = async () => (await service.ports.resources.list('Task', {})).items.length

describe('who may deliver', () => {
  const body = JSON.stringify(issueEvent('labeled', label('agent:implement')).payload)
  const headers = (signature?: string) => ({
    'content-type': 'application/json',
    'x-github-event': 'issues',
    'x-github-delivery': 'forged',
    ...(signature !== undefined && { 'x-hub-signature-256': signature }),
  })

  it('is whoever signs with the secret, and nobody else [HOOK-003]', async () => {
    const right = signBody(body, secret)
    const wrong = [
      undefined,
      '',
      'sha256=',
      right.slice(0, -1),
      right.slice(0, -2),
      `${right}00`,
      right.replace('sha256', 'sha1'),
      right.slice('sha256='.length),
      signBody(body, makeSecret()),
      signBody(`${body} `, secret),
      `sha256=${'z'.repeat(64)}`,
    ]
    const before = await countTasks()
    for (const signature of wrong) {
      const refused = await post(body, headers(signature))
      expect(refused.status).toBe(401)
      expect(refused.body.error.message).toContain('invalid webhook signature')
    }
    expect(await countTasks()).toBe(before)
    expect((await service.call('GET /api/v1/webhook/deliveries/forged')).statusCode).toBe(404)
    expect((await post(body, headers(right.toUpperCase().replace('SHA256', 'sha256')))).status).toBe(201)
  })

  it('is told of wrong signatures by one entry a minute', async () => {
    for (let count = 0; count < 5; count += 1) await post(body, headers(signBody(body, makeSecret())))
    const { items } = (await service.call('GET /api/v1/webhook/deliveries?state=refused')).json()
    expect(items.length).toBeGreaterThan(0)
    expect(items.length).toBeLessThan(4)
    expect(items[0].outcome.message).toContain('SVC_CODEHOST_WEBHOOK_SECRET')
  })

  it('is nobody with a token instead [HOOK-004]', async () => {
    const owner = await service.call(path, { payload: body, headers: headers() })
    expect(owner.statusCode).toBe(401)
    expect((await send({ ...issueEvent('labeled', label('agent:implement')) })).status).toBe(201)
  })

  it('is nobody without a secret [HOOK-005]', async () => {
    const other = await startService()
    try {
      const answer = await other.call(path, { token: null, payload: body, headers: headers(signBody(body, '')) })
      expect(answer.statusCode).toBe(503)
      expect(answer.json().error.message).toContain('SVC_CODEHOST_WEBHOOK_SECRET')
    } finally {
      await other.stop()
    }
  })

  it('is asked for less often from an address that fails too often, while signed deliveries pass', async () => {
    const other = await startService({ http: { authFailuresPerMinute: 3 }, usecases: { webhook: { secret } } })
    try {
      const forge = async () => {
        const headersNow = headers(signBody(body, makeSecret()))
        return (await other.call(path, { token: null, payload: body, headers: headersNow })).statusCode
      }
      const codes = [await forge(), await forge(), await forge(), await forge(), await forge()]
      expect(codes).toEqual([401, 401, 401, 429, 429])
      const signed = makeDelivery({ event: 'ping', payload: {}, secret })
      expect((await other.call(path, { token: null, ...signed })).statusCode).toBe(202)
    } finally {
      await other.stop()
    }
  })

  it('may send 15 MiB and no more', async () => {
    const big = (bytes: number) => {
      const frame = JSON.stringify({ zen: '' })
      return JSON.stringify({ zen: 'x'.repeat(bytes - frame.length) })
    }
    const limit = 15 * 1_048_576
    expect((await send({ event: 'ping', payload: big(limit) })).status).toBe(202)
    expect((await send({ event: 'ping', payload: big(limit + 1) })).status).toBe(413)
  })
})

describe('the headers', () => {
  it('have two spellings [NAME-012]', async () => {
    const { payload } = issueEvent('labeled', label('agent:implement'))
    const { headers: own, payload: body } = makeDelivery({ event: 'issues', payload, id: 'neutral-1', secret })
    const { 'x-github-event': event, 'x-github-delivery': delivery, ...rest } = own
    const neutral = { ...rest, 'x-codehost-event': event, 'x-codehost-delivery': delivery }
    expect((await post(body, neutral)).body).toMatchObject({ delivery: 'neutral-1', status: 'created' })
    expect((await post(body, own)).body.status).toBe('duplicate')
    expect((await post(body, { ...own, ...neutral })).body.status).toBe('duplicate')
    const odd = await post(body, { ...own, 'x-codehost-event': 'ping' })
    expect([odd.status, odd.body.error.message]).toEqual([400, expect.stringContaining('differ')])
  })

  it('may lack the id: then the body is the id', async () => {
    const { payload } = issueEvent('labeled', {
      ...label('agent:implement'),
      issue: { ...issueEvent('x').payload.issue, number: 71 },
    })
    const { headers, payload: body } = makeDelivery({ event: 'issues', payload, secret })
    const { 'x-github-delivery': _id, ...rest } = headers
    expect((await post(body, rest)).body).toMatchObject({
      status: 'created',
      delivery: expect.stringMatching(/^body-/),
    })
    expect((await post(body, rest)).body.status).toBe('duplicate')
  })

  it('name an event and an id of a sane form', async () => {
    const { headers, payload } = makeDelivery({ ...issueEvent('opened'), secret })
    const { 'x-github-event': _event, ...without } = headers
    expect((await post(payload, without)).status).toBe(400)
    expect((await post(payload, { ...headers, 'x-github-event': '../x' })).status).toBe(400)
    expect((await post(payload, { ...headers, 'x-github-delivery': 'a b' })).status).toBe(400)
    expect((await post(payload, { ...headers, 'x-github-delivery': 'x'.repeat(129) })).status).toBe(400)
  })
})

describe('the body', () => {
  it('may be a form, as a code host sends it by default', async () => {
    const { payload } = issueEvent('labeled', label('agent:implement'))
    const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    expect(await send({ event: 'issues', payload: body, headers })).toMatchObject({ status: 201 })
  })

  it('must be JSON with what its event always has', async () => {
    const { payload } = issueEvent('labeled', label('agent:implement'))
    const { issue: _issue, ...noIssue } = payload
    const { repository: _repository, ...noRepository } = payload
    const bad = ['', '{', '[]', 'null', noIssue, noRepository, issueEvent('labeled').payload]
    for (const wrong of bad)
      expect([wrong, (await send({ event: 'issues', payload: wrong })).status]).toEqual([wrong, 400])
    const strange = { ...payload, repository: { ...payload.repository, full_name: 'a/b/../c' } }
    expect((await send({ event: 'issues', payload: strange })).status).toBe(400)
  })
})

describe('what a delivery is answered', () => {
  it('a ping is well', async () => {
    expect(await send({ event: 'ping', payload: { zen: 'x' } })).toMatchObject({ status: 202, body: { status: 'ok' } })
  })

  it('other events and actions lead to nothing, and say so', async () => {
    const ignored = [
      [{ event: 'push', payload: {} }, 'event push leads to nothing'],
      [{ event: 'star', payload: 'no json' }, 'event star leads to nothing'],
      [issueEvent('opened'), 'nothing waits for action opened of issues'],
      [pullEvent('assigned'), 'nothing waits for action assigned of pull_request'],
      [pullEvent('synchronize'), 'no monitor waits for events of this repository and branch'],
      [issueEvent('labeled', label('bug')), 'label bug has no prefix agent:'],
      [issueEvent('labeled', label('agent:')), 'label agent: names no action after agent:'],
      [issueEvent('labeled', label('agent:review')), 'review is for pull requests, and this is an issue'],
      [issueEvent('labeled', label('agent:update-branch')), 'update-branch is for pull requests, and this is an issue'],
    ] as const
    for (const [sent, reason] of ignored) {
      const { id, status, body } = await send(sent)
      expect([status, body.status, body.reason]).toEqual([202, 'ignored', reason])
      expect(await found(id)).toMatchObject({ state: 'ignored', outcome: { message: reason } })
    }
  })

  it('an issue event about a pull request is left to its own event', async () => {
    const { payload } = issueEvent('labeled', label('agent:implement'))
    const issue = { ...payload.issue, pull_request: {} }
    const { body } = await send({ event: 'issues', payload: { ...payload, issue } })
    expect(body).toMatchObject({ status: 'ignored', reason: expect.stringContaining('without its head') })
  })

  it('a label with the prefix makes a task, once for each delivery [HOOK-001] [HOOK-002] [HOOK-007]', async () => {
    const before = await countTasks()
    const sent = { ...issueEvent('labeled', label('Agent:Implement')), id: 'once' }
    const first = await send(sent)
    expect(first).toMatchObject({
      status: 201,
      body: { status: 'created', namespace: 'default', action: 'implement', label: 'Agent:Implement' },
    })
    const again = await send(sent)
    expect(again).toMatchObject({ status: 202, body: { status: 'duplicate', taskName: first.body.taskName } })
    expect(await countTasks()).toBe(before + 1)
    expect((await send({ ...sent, id: 'another' })).body.taskName).not.toBe(first.body.taskName)
  })

  it('is stored when it is answered, with what it led to [HOOK-008]', async () => {
    const { id, body } = await send(pullEvent('labeled', label('agent:review')))
    const { taskName } = body
    expect(await service.ports.records.deliveries.get(id)).toMatchObject({
      state: 'done',
      facts: { event: 'pull_request' },
    })
    expect(await found(id)).toEqual({
      id,
      namespace: 'default',
      receivedAt: expect.any(String),
      event: 'pull_request',
      action: 'labeled',
      repository: 'octo/demo',
      number: 12,
      sender: 'octocat',
      state: 'done',
      attempts: 1,
      outcome: expect.objectContaining({ status: 'created', taskName, code: 201 }),
    })
  })

  it('is counted, without text of senders', async () => {
    await send({ event: 'strange_event', payload: {} })
    const { text } = await service.metrics.expose()
    expect(text).toMatch(/svc_webhook_deliveries_total\{event="issues",result="created"\} \d+/)
    expect(text).toMatch(/svc_webhook_deliveries_total\{event="other",result="ignored"\} \d+/)
    expect(text).not.toContain('strange_event')
  })
})
