// The audit log over HTTP: what is kept, what is never in it, and who may read it.
import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { AuditItem } from '../../src/contract/api/identity/audit.ts'
import { startIssuer, subject } from '../fixtures/issuer.ts'
import { trustIssuer } from './identity-members.ts'
import { aiTask, ownerToken, type Service, startService } from './service.ts'

let service: Service
let reader: string
let bound: string
beforeAll(async () => {
  service = await startService()
  reader = await makeToken({ name: 'reader', role: 'viewer' })
  bound = await makeToken({ name: 'bound', namespace: 'team' })
})
afterAll(() => service.stop())

async function makeToken(payload: object): Promise<string> {
  return (await service.call('POST /api/v1/tokens', { payload })).json().token
}

async function list(query = '', from = service): Promise<AuditItem[]> {
  const answer = await from.call(`GET /api/v1/audit${query}`)
  expect(answer.statusCode).toBe(200)
  return answer.json().items
}

const headers = (id: string) => ({ 'x-request-id': id })
const findBy = async (id: string, from = service) => (await list('', from)).filter((item) => item.requestId === id)

describe('the audit log', () => {
  it('says who did what, when, from where and with which outcome', async () => {
    const before = Date.now()
    await service.call('POST /api/v1/tasks', { payload: aiTask('seen'), headers: headers('made-1') })
    const [item, ...more] = await findBy('made-1')
    expect(more).toEqual([])
    expect(item).toEqual({
      id: expect.stringMatching(/^aud-/),
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      caller: { kind: 'token', id: 'owner', name: 'owner' },
      via: 'api',
      verb: 'create',
      kind: 'Task',
      namespace: 'default',
      name: 'seen',
      route: '/api/v1/tasks',
      address: '127.0.0.1',
      allowed: true,
      status: 201,
      requestId: 'made-1',
    })
    expect(Date.parse(item?.createdAt ?? '')).toBeGreaterThanOrEqual(before)
  })

  it('records refusals of every kind of caller, with what was refused', async () => {
    await service.call('DELETE /api/v1/agents/bot', { token: reader, headers: headers('no-1') })
    await service.call('GET /api/v1/tasks/secret-plan?namespace=other', { token: bound, headers: headers('no-2') })
    await service.call('GET /api/v1/secrets', { token: 'guessed-token', headers: headers('no-3') })
    const refused = { allowed: false, via: 'api' }
    expect(await findBy('no-1')).toMatchObject([
      { ...refused, caller: { name: 'reader' }, verb: 'delete', kind: 'Agent', name: 'bot', status: 403 },
    ])
    expect(await findBy('no-2')).toMatchObject([
      { ...refused, caller: { name: 'bound' }, verb: 'get', kind: 'Task', namespace: 'other', name: 'secret-plan' },
    ])
    const [guess] = await findBy('no-3')
    expect(guess).toMatchObject({ ...refused, verb: 'list', kind: 'Secret', status: 401 })
    expect(guess).not.toHaveProperty('caller')
  })

  it('records refusals of workers and of the proxies, but not their ordinary calls', async () => {
    await service.call('POST /api/v1/tasks', { payload: aiTask('busy') })
    const { token, identity } = await service.runTask('busy')
    const { taskUid } = identity
    const log = 'POST /internal/v1/logs/default/'
    const send = (task: string, id: string) => {
      const type = { 'content-type': 'application/octet-stream' }
      return service.call(`${log}${task}`, { token, payload: 'line\n', headers: { ...headers(id), ...type } })
    }
    expect((await send('busy', 'own')).statusCode).toBeLessThan(300)
    expect((await send('other', 'foreign')).statusCode).toBe(403)
    expect(await findBy('own')).toEqual([])
    expect(await findBy('foreign')).toMatchObject([
      {
        via: 'worker',
        caller: { kind: 'worker', id: taskUid, name: 'task/busy' },
        taskUid,
        kind: 'Task',
        name: 'other',
        status: 403,
      },
    ])
    const url = await service.listen()
    const headersOfCall = { authorization: `Bearer ${reader}`, 'content-type': 'application/json', ...headers('spent') }
    const body = JSON.stringify({ model: 'm', messages: [] })
    const answer = await fetch(`${url}/llma/v1/messages`, { method: 'POST', headers: headersOfCall, body })
    expect(answer.status).toBe(403)
    await answer.text()
    await expect
      .poll(() => findBy('spent'))
      .toMatchObject([{ via: 'proxy', caller: { name: 'reader' }, verb: 'use', kind: 'Provider', status: 403 }])
  })

  it('records no reads, and nothing without a credential, unless configured to', async () => {
    await service.call('GET /api/v1/tasks', { headers: headers('read-1') })
    await service.call('GET /api/v1/tasks', { token: null, headers: headers('nobody') })
    expect(await findBy('read-1')).toEqual([])
    expect(await findBy('nobody')).toEqual([])
    const all = await startService({ usecases: { audit: { level: 'all' } } })
    await all.call('GET /api/v1/tasks', { headers: headers('read-2') })
    await all.call('GET /healthz', { headers: headers('health') })
    expect(await findBy('read-2', all)).toMatchObject([{ verb: 'list', kind: 'Task', allowed: true, status: 200 }])
    expect(await findBy('health', all)).toEqual([])
    await all.stop()
  })

  it('records a call without a valid credential as refused, whatever its answer was', async () => {
    const strict = await startService({ http: { authFailuresPerMinute: 1 } })
    for (const id of ['guess-1', 'guess-2']) {
      await strict.call('GET /api/v1/secrets', { token: `${id}-token`, headers: headers(id) })
    }
    // Whoever comes from this address is held up now: the log is read where it lies.
    await strict.drain(1000)
    expect(await strict.ports.records.audit.list({ limit: 5 })).toMatchObject([
      { requestId: 'guess-2', allowed: false, status: 429 },
      { requestId: 'guess-1', allowed: false, status: 401 },
    ])
    await strict.ports.close()
  })

  it('records a write that its caller may not do anywhere as refused, whatever its body is', async () => {
    const payload = '{"name":'
    const type = { 'content-type': 'application/json' }
    await service.call('POST /api/v1/agents', { token: reader, payload, headers: { ...headers('no-4'), ...type } })
    await service.call('POST /api/v1/agents', { payload, headers: { ...headers('bad-1'), ...type } })
    expect(await findBy('no-4')).toMatchObject([{ allowed: false, status: 403, verb: 'create', kind: 'Agent' }])
    expect(await findBy('bad-1')).toMatchObject([{ allowed: true, status: 400, verb: 'create', kind: 'Agent' }])
  })

  it.each([
    ['/llma/v1/messages', 'proxy'],
    ['/api/v1/agents', 'api'],
  ])('records that a call of %s was not answered when its caller left', async (path, via) => {
    const all = await startService({ usecases: { audit: { level: 'all' } } })
    const url = await all.listen()
    const known = vi.spyOn(all.ports.authenticator, 'authenticate')
    const request = httpRequest(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ownerToken}`, 'content-type': 'application/json', ...headers('left') },
    })
    request.on('error', () => {})
    request.write('{"name":')
    await expect.poll(() => known.mock.settledResults.length).toBe(1)
    request.destroy()
    await expect.poll(() => findBy('left', all)).toMatchObject([{ via, allowed: true, status: 499 }])
    await all.stop()
  })

  it('never contains a value of a secret, a body, a query or a token', async () => {
    const marks = ['s3cret-value', 'prompt-text', 'query-text', 'bad-token-text']
    await service.call('POST /api/v1/secrets', { payload: { name: 'key', stringData: { a: marks[0] } } })
    await service.call('POST /api/v1/tasks', { payload: aiTask('quiet', { prompt: marks[1] }) })
    await service.call(`DELETE /api/v1/agents/none?x=${marks[2]}`, { token: reader })
    await service.call('DELETE /api/v1/agents/none', { token: marks[3] ?? '' })
    const text = JSON.stringify(await list('?limit=500'))
    for (const mark of [...marks, ownerToken, reader, bound]) expect(text).not.toContain(mark)
    expect(text).toContain('"kind":"Secret"')
  })

  it('can be read by the owner only, and reading it changes nothing', async () => {
    for (const token of [reader, bound]) {
      expect((await service.call('GET /api/v1/audit', { token })).statusCode).toBe(403)
      expect((await service.call('GET /api/v1/audit?namespace=team', { token })).statusCode).toBe(403)
    }
    expect((await service.call('GET /api/v1/audit', { token: null })).statusCode).toBe(401)
    for (const method of ['POST', 'PUT', 'DELETE']) {
      expect((await service.call(`${method} /api/v1/audit`, {})).statusCode).toBe(405)
    }
  })

  it('is read in pages, newest first, and by filters', async () => {
    for (let at = 0; at < 5; at += 1) await service.call(`DELETE /api/v1/skills/page-${at}`)
    const query = '?kind=Skill&verb=delete&allowed=true'
    const first = (await service.call(`GET /api/v1/audit${query}&limit=3`)).json()
    expect(first.items.map((item: AuditItem) => item.name)).toEqual(['page-4', 'page-3', 'page-2'])
    const cursor = encodeURIComponent(first.metadata.continue)
    const second = (await service.call(`GET /api/v1/audit${query}&limit=3&continue=${cursor}`)).json()
    expect(second.items.map((item: AuditItem) => item.name)).toEqual(['page-1', 'page-0'])
    expect(second.metadata).toEqual({})
    expect(await list('?until=2020-01-01T00:00:00Z')).toEqual([])
    for (const bad of ['continue=nonsense', 'limit=0', 'since=yesterday', 'allowed=maybe', 'kind=a%20b']) {
      expect((await service.call(`GET /api/v1/audit?${bad}`)).statusCode).toBe(400)
    }
  })

  it('keeps two callers with the same name apart, and filters by one of them', async () => {
    const makeNamesake = async () => (await service.call('POST /api/v1/tokens', { payload: { name: 'twin' } })).json()
    const [one, other] = [await makeNamesake(), await makeNamesake()]
    await service.call('DELETE /api/v1/skills/of-one', { token: one.token })
    await service.call('DELETE /api/v1/skills/of-other', { token: other.token })
    const [item, ...more] = await list(`?caller=${one.id}`)
    expect(more).toEqual([])
    expect(item).toMatchObject({ name: 'of-one', caller: { kind: 'token', id: one.id, name: 'twin' } })
    expect(await list('?caller=twin')).toEqual([])
  })

  it('is written in the background, and at shutdown at the latest', async () => {
    const other = await startService()
    await other.call('POST /api/v1/tasks', { payload: aiTask('last') })
    const { audit } = other.ports.records
    await other.drain(1000)
    expect(await audit.list({ limit: 5 })).toMatchObject([{ name: 'last', kind: 'Task' }])
    await other.ports.close()
  })
})

describe('a caller of an issuer', () => {
  it('is identified by its subject in the audit log and in usage, whatever name its token claims', async () => {
    const issuer = await startIssuer()
    const guarded = await startService(trustIssuer(issuer))
    const token = await issuer.sign({ preferred_username: 'owner', email: 'owner@example.com' })
    const caller = { kind: 'oidc', id: `${issuer.url}#${subject}`, name: 'owner' }
    await guarded.call('POST /api/v1/tasks', { payload: aiTask('theirs'), token })
    expect(await list(`?caller=${encodeURIComponent(caller.id)}`, guarded)).toMatchObject([{ name: 'theirs', caller }])
    expect(await list('?caller=owner', guarded)).toEqual([])
    const { token: worker, task } = await guarded.runTask('theirs', 1, 'guests')
    const counted = {
      id: 'c',
      provider: { namespace: 'guests', name: 'p' },
      model: 'm',
      inputTokens: 1,
      outputTokens: 2,
    }
    const path = `/internal/v1/usage/guests/${task.metadata.name}`
    expect((await guarded.call(`POST ${path}`, { token: worker, payload: counted })).statusCode).toBe(204)
    expect((await guarded.call('GET /api/v1/usage?groupBy=caller')).json().items).toMatchObject([
      { key: caller.id, caller },
    ])
    await guarded.stop()
    await issuer.stop()
  })
})
