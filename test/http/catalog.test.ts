// Agents, skills, tools, providers, secrets, sessions, usage, tokens and who calls.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Role } from '../../src/contract/api/identity/access.ts'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

const post = (path: string, payload: object, token?: string) =>
  service.call(`POST /api/v1/${path}`, { payload, ...(token === undefined ? {} : { token }) })

const makeToken = async (draft: { namespace?: string; role?: Role }) =>
  (await service.ports.tokens.create({ name: 'some', role: 'editor', serverTools: true, ...draft })).token

describe('agents, skills, tools and providers', () => {
  it.each([
    ['agents', { systemPrompt: { inline: 'a' } }, { systemPrompt: { inline: 'b' } }],
    ['skills', { description: 'a', content: { inline: '# a' } }, { description: 'b', content: { inline: '# b' } }],
    [
      'tools',
      { description: 'a', http: { url: 'https://a.example' } },
      { description: 'b', http: { url: 'https://b.example' } },
    ],
    ['providers', { type: 'llma' }, { type: 'llmo', defaultModel: 'm' }],
  ])(
    '%s are created, read, replaced and deleted [AGENT-001] [AGENT-002] [AGENT-003] [AGENT-004] [AGENT-005] [AGENT-006] [SKILL-002] [SKILL-003] [SKILL-004] [SKILL-005] [SKILL-006] [SKILL-007] [TOOL-021] [PROV-002] [PROV-008]',
    async (plural, spec, changed) => {
      const created = await post(plural, { name: 'thing', metadata: { labels: { a: 'b' } }, spec })
      expect(created.statusCode).toBe(201)
      expect(created.json()).toMatchObject({ metadata: { name: 'thing', labels: { a: 'b' } }, spec })
      expect((await service.call(`GET /api/v1/${plural}/thing`)).json().spec).toMatchObject(spec)
      const { items } = (await service.call(`GET /api/v1/${plural}`)).json()
      expect(JSON.stringify(items)).toContain('thing')
      const put = await service.call(`PUT /api/v1/${plural}/thing`, { payload: { spec: changed } })
      expect(put.statusCode).toBe(200)
      expect(put.json()).toMatchObject({ metadata: { generation: 2, labels: { a: 'b' } }, spec: changed })
      expect((await service.call(`DELETE /api/v1/${plural}/thing`)).statusCode).toBe(204)
      for (const line of [`GET /api/v1/${plural}/thing`, `DELETE /api/v1/${plural}/thing`]) {
        expect((await service.call(line)).statusCode).toBe(404)
      }
      expect((await service.call(`PUT /api/v1/${plural}/thing`, { payload: { spec: changed } })).statusCode).toBe(404)
    },
  )

  it('keep their name and namespace, and the annotations of the service', async () => {
    await post('agents', { name: 'fixed', spec: {} })
    const put = (metadata: object) =>
      service.call('PUT /api/v1/agents/fixed?namespace=default', { payload: { metadata, spec: {} } })
    expect((await put({ name: 'other' })).statusCode).toBe(400)
    expect((await put({ namespace: 'other' })).statusCode).toBe(400)
    expect((await put({ annotations: { 'svc.ai/x': 'y' } })).statusCode).toBe(400)
    expect((await put({ annotations: { mine: 'y' } })).json().metadata.annotations).toEqual({ mine: 'y' })
  })

  it('report everything that is wrong with a spec [HTTP-004]', async () => {
    const answer = await post('providers', { name: 'p', spec: { type: 'azure-llmo', extra: 1 } })
    const paths = answer.json().error.details.map((problem: { path: string }) => problem.path)
    expect(paths).toEqual(expect.arrayContaining(['spec.extra', 'spec.azure.deploymentName', 'spec.baseURL']))
  })
})

describe('a skill', () => {
  it('is a summary in lists and raw Markdown at /content [SKILL-001]', async () => {
    const spec = { description: 'd', tags: ['x'], content: { inline: '# Title\n' } }
    const createdAt = (await post('skills', { name: 'md', spec })).json().metadata.creationTimestamp
    const { items } = (await service.call('GET /api/v1/skills')).json()
    expect(items.at(-1)).toEqual({ name: 'md', namespace: 'default', description: 'd', tags: ['x'], createdAt })
    const answer = await service.call('GET /api/v1/skills/md/content')
    expect([answer.body, answer.headers['content-type']]).toEqual(['# Title\n', 'text/markdown; charset=utf-8'])
    expect((await service.call('GET /api/v1/skills/none/content')).statusCode).toBe(404)
  })
})

describe('a custom tool', () => {
  it('is read as the full resource [TOOL-003]', async () => {
    const spec = {
      description: 'tells the weather',
      http: { url: 'https://weather.example/v1', method: 'GET', authSecretRef: { name: 'weather', key: 'key' } },
    }
    const created = (await post('tools', { name: 'weather', metadata: { labels: { a: 'b' } }, spec })).json()
    const answer = await service.call('GET /api/v1/tools/weather')
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toMatchObject({ metadata: created.metadata, spec })
    const { items } = (await service.call('GET /api/v1/tools')).json()
    expect(items.at(-1)).toMatchObject({ name: 'weather', createdAt: created.metadata.creationTimestamp })
    expect(answer.json()).toEqual({ ...created, ...(answer.json().status && { status: answer.json().status }) })
    for (const line of ['GET /api/v1/tools/none-such', 'GET /api/v1/tools/weather?namespace=other']) {
      expect((await service.call(line)).statusCode).toBe(404)
    }
  })
})

describe('a built-in tool', () => {
  it('can be read by name [TOOL-002]', async () => {
    const answer = await service.call('GET /api/v1/tools/web_search')
    expect(answer.json()).toMatchObject({ name: 'web_search', builtin: true, available: true })
    expect((await service.call('GET /api/v1/tools/none_such')).statusCode).toBe(404)
  })

  it('has a reserved name: 409 to create, replace and delete', async () => {
    const spec = { description: 'd', http: { url: 'https://example.com' } }
    for (const body of [
      { name: 'web_search', spec },
      { metadata: { name: 'web_search' }, spec },
    ]) {
      const answer = await post('tools', body)
      expect([answer.statusCode, answer.json().error.message]).toEqual([409, expect.stringContaining('reserved')])
    }
    expect((await service.call('PUT /api/v1/tools/code_exec', { payload: { spec } })).statusCode).toBe(409)
    expect((await service.call('DELETE /api/v1/tools/code_exec')).statusCode).toBe(409)
  })
})

describe('a provider', () => {
  const create = (name: string, spec: object, token?: string) => post('providers', { name, spec }, token)

  it('may have a private address only when the owner sets it, which makes exactly that address trusted [NET-004]', async () => {
    const spec = { type: 'llmo', baseURL: 'http://127.0.0.1:11434/v1' }
    const token = await makeToken({})
    const refused = await create('local', spec, token)
    expect([refused.statusCode, refused.json().error.details[0].path]).toEqual([400, 'spec.baseURL'])
    const created = await create('local', spec)
    expect(created.statusCode).toBe(201)
    expect(created.json().metadata.annotations).toEqual({ 'svc.ai/trusted-base-url': spec.baseURL })
    const put = (changed: object) => service.call('PUT /api/v1/providers/local', { payload: { spec: changed }, token })
    const kept = await put({ ...spec, defaultModel: 'm' })
    expect(kept.json().metadata.annotations).toEqual({ 'svc.ai/trusted-base-url': spec.baseURL })
    expect((await put({ ...spec, baseURL: 'http://10.0.0.1' })).statusCode).toBe(400)
    const moved = await put({ ...spec, baseURL: 'https://api.example.com' })
    expect(moved.json().metadata.annotations).toBeUndefined()
  })

  it('may have an address allowed by --allow-network, whoever sets it', async () => {
    const open = await startService({ usecases: { allowNetworks: ['10.1.0.0/16'] } })
    const { token } = await open.ports.tokens.create({ name: 't', role: 'editor', serverTools: true })
    const statusFor = async (baseURL: string, name: string) =>
      (await open.call('POST /api/v1/providers', { payload: { name, spec: { type: 'llmo', baseURL } }, token }))
        .statusCode
    expect([await statusFor('http://10.1.2.3', 'a'), await statusFor('http://10.2.2.3', 'b')]).toEqual([201, 400])
    await open.stop()
  })

  it.each([
    'http://169.254.169.254/v1',
    'http://metadata.google.internal',
    'http://127.0.0.1:8080',
    'http://localhost:8080/v1',
  ])('never has the address %s, even when the owner sets it [NET-005]', async (baseURL) => {
    expect((await create('bad', { type: 'llmo', baseURL })).statusCode).toBe(400)
  })

  it('of type demo is never the default, and only allowed where it is enabled [PROV-015]', async () => {
    expect((await create('default', { type: 'demo' })).statusCode).toBe(400)
    expect((await create('demo', { type: 'demo' })).statusCode).toBe(201)
    const strict = await startService({ usecases: { allowDemoProvider: false } })
    expect(
      (await strict.call('POST /api/v1/providers', { payload: { name: 'demo', spec: { type: 'demo' } } })).statusCode,
    ).toBe(400)
    await strict.stop()
  })

  it('keeps the neutral word for its alias [NAME-006] [NAME-009] [NAME-017]', async () => {
    for (const [given, kept] of [
      ['anthropic', 'llma'],
      ['openai', 'llmo'],
    ]) {
      expect((await create(`as-${given}`, { type: given })).json().spec.type).toBe(kept)
    }
  })
})

describe('secrets', () => {
  it('return metadata only, and never a value [SECRET-001] [SECRET-002]', async () => {
    const created = await post('secrets', {
      name: 'key',
      stringData: { 'api-key': 'very-secret' },
      allowedHosts: ['*.example.com'],
    })
    expect(created.statusCode).toBe(201)
    expect(created.json()).toMatchObject({
      name: 'key',
      namespace: 'default',
      keys: ['api-key'],
      allowedHosts: ['*.example.com'],
    })
    const list = await service.call('GET /api/v1/secrets')
    expect(list.json().items).toMatchObject([{ name: 'key', namespace: 'default', type: 'Opaque' }])
    expect(created.body + list.body + service.logged.join('')).not.toContain('very-secret')
    expect((await post('secrets', { name: 'key', stringData: { a: 'b' } })).statusCode).toBe(409)
    expect((await service.call('DELETE /api/v1/secrets/key')).statusCode).toBe(204)
    expect((await service.call('DELETE /api/v1/secrets/key')).statusCode).toBe(404)
  })

  it('can be referenced only by callers who may read them, and not across namespaces [SECRET-004]', async () => {
    const token = await makeToken({ namespace: 'team' })
    const own = { name: 'own', type: 'ai', prompt: 'p', secretRef: { name: 's' } }
    expect((await post('tasks', own, token)).statusCode).toBe(201)
    const foreign = await post(
      'tasks',
      { ...own, name: 'foreign', secretRef: { name: 's', namespace: 'default' } },
      token,
    )
    expect(foreign.statusCode).toBe(403)
    const agent = { name: 'foreign', type: 'ai', prompt: 'p', agentRef: { name: 'a', namespace: 'default' } }
    expect((await post('tasks', agent, token)).statusCode).toBe(403)
  })
})

describe('sessions', () => {
  it('are read with their transcript, of which a limit keeps the newest messages, and can be deleted [SESS-007] [SESS-008] [SESS-015]', async () => {
    const key = { namespace: 'default', name: 'talk' }
    const { sessions } = service.ports.records
    await sessions.ensure(key, { create: true, sessionType: 'task' })
    await sessions.append(key, [
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'two' },
      { role: 'user', content: 'three' },
    ])
    const read = async (query = '') => (await service.call(`GET /api/v1/sessions/talk${query}`)).json()
    const whole = await read()
    expect(whole).toMatchObject({ id: 'talk', name: 'talk', sessionType: 'task', messageCount: 3 })
    const lines = whole.transcript.split('\n').map((line: string) => JSON.parse(line))
    expect(lines.map((line: { content: string }) => line.content)).toEqual(['one', 'two', 'three'])
    expect(lines[0]).toEqual({ role: 'user', content: 'one', ts: expect.any(String) })
    expect((await read('?maxMessages=1')).transcript).toContain('three')
    expect((await service.call('GET /api/v1/sessions/none')).statusCode).toBe(404)
    const renamed = await service.call('PUT /api/v1/sessions/talk', { payload: { title: '  Counting  ' } })
    expect([renamed.statusCode, renamed.json()]).toMatchObject([200, { name: 'talk', title: 'Counting' }])
    expect((await read()).title).toBe('Counting')
    expect((await service.call('PUT /api/v1/sessions/talk', { payload: { title: ' ' } })).statusCode).toBe(400)
    expect((await service.call('PUT /api/v1/sessions/none', { payload: { title: 'x' } })).statusCode).toBe(404)
    expect((await service.call('GET /api/v1/sessions?sessionType=chat')).json().items).toEqual([])
    expect((await service.call('GET /api/v1/sessions?sessionType=task')).json().items).toHaveLength(1)
    await sessions.lock(key, 'a-task')
    expect((await service.call('DELETE /api/v1/sessions/talk')).statusCode).toBe(409)
    await sessions.unlock(key, 'a-task')
    expect((await service.call('DELETE /api/v1/sessions/talk')).statusCode).toBe(204)
    expect((await service.call('DELETE /api/v1/sessions/talk')).statusCode).toBe(204)
    expect((await service.call('GET /api/v1/sessions/talk')).statusCode).toBe(404)
  })
})

describe('usage', () => {
  it('is summed per task, session, agent, caller and namespace [USAGE-002]', async () => {
    const common = { provider: 'p', model: 'm', cachedTokens: 1, demo: false, createdAt: '2026-01-02T00:00:00.000Z' }
    await service.ports.records.usage.record([
      {
        ...common,
        id: 'a',
        namespace: 'one',
        taskUid: 'u1',
        taskName: 't1',
        caller: { kind: 'token', id: 'tok-1', name: 'ann' },
        session: 's',
        agent: 'g',
        inputTokens: 10,
        outputTokens: 5,
        cost: 2,
        currency: 'EUR',
      },
      {
        ...common,
        id: 'b',
        namespace: 'two',
        taskUid: 'u2',
        taskName: 't2',
        caller: { kind: 'token', id: 'tok-1', name: 'ann' },
        inputTokens: 1,
        outputTokens: 1,
      },
    ])
    const sum = async (query: string, token?: string) =>
      (await service.call(`GET /api/v1/usage?${query}`, token === undefined ? {} : { token })).json().items
    expect(await sum('groupBy=task&namespace=one')).toEqual([
      { key: 'one/t1', inputTokens: 10, outputTokens: 5, cachedTokens: 1, llmCalls: 1, cost: 2, currency: 'EUR' },
    ])
    for (const [groupBy, key] of [
      ['session', 'one/s'],
      ['agent', 'one/g'],
      ['caller', 'tok-1'],
      ['namespace', 'one'],
    ]) {
      expect((await sum(`groupBy=${groupBy}&namespace=one`))[0].key).toBe(key)
    }
    expect((await sum('groupBy=caller'))[0].caller).toEqual({ kind: 'token', id: 'tok-1', name: 'ann' })
    const all = await sum('groupBy=namespace')
    expect(all.map((item: { key: string }) => item.key)).toEqual(['one', 'two'])
    const bound = await makeToken({ namespace: 'two' })
    expect((await sum('groupBy=namespace', bound)).map((item: { key: string }) => item.key)).toEqual(['two'])
    expect(await sum('since=2026-01-03T00:00:00Z')).toEqual([])
    expect((await service.call('GET /api/v1/usage?groupBy=mood')).statusCode).toBe(400)
  })
})

describe('tokens', () => {
  it('are made, listed and revoked by the owner alone; the text is shown once', async () => {
    const created = await post('tokens', { name: 'ci', namespace: 'team', role: 'viewer', expires: '30d' })
    expect(created.statusCode).toBe(201)
    const { id, token } = created.json()
    const list = await service.call('GET /api/v1/tokens')
    expect(list.json().items[0]).toMatchObject({ id, name: 'ci', namespace: 'team', role: 'viewer' })
    expect(list.body).not.toContain(token)
    const other = await makeToken({})
    expect((await post('tokens', { name: 'mine' }, other)).statusCode).toBe(403)
    expect((await service.call('GET /api/v1/tokens', { token: other })).statusCode).toBe(403)
    expect((await service.call('GET /api/v1/auth/validate', { token })).statusCode).toBe(200)
    expect((await service.call(`DELETE /api/v1/tokens/${id}`)).statusCode).toBe(204)
    expect((await service.call('GET /api/v1/auth/validate', { token })).statusCode).toBe(401)
    expect((await service.call(`DELETE /api/v1/tokens/${id}`)).statusCode).toBe(404)
  })

  it('with a read-only role may not write, and those bound to a namespace stay in it [HTTP-008]', async () => {
    const reader = await makeToken({ role: 'viewer' })
    expect((await service.call('GET /api/v1/agents', { token: reader })).statusCode).toBe(200)
    for (const [path, payload] of [
      ['tasks', { bad: 'body' }],
      ['secrets', { name: 's', stringData: { a: 'b' } }],
    ] as const) {
      expect((await post(path, payload, reader)).statusCode).toBe(403)
    }
    const bound = await makeToken({ namespace: 'team' })
    const created = await post('agents', { name: 'ours', spec: {} }, bound)
    expect(created.json().metadata.namespace).toBe('team')
    for (const line of ['GET /api/v1/agents?namespace=default', 'DELETE /api/v1/agents/x?namespace=default']) {
      const answer = await service.call(line, { token: bound })
      expect([answer.statusCode, answer.json().error.reason]).toEqual([403, 'Forbidden'])
    }
    expect((await post('agents', { name: 'x', namespace: 'default', spec: {} }, bound)).statusCode).toBe(403)
  })
})

describe('the caller', () => {
  it('can ask who it is [AUTH-001]', async () => {
    expect((await service.call('GET /api/v1/auth/validate')).json()).toEqual({ authenticated: true })
    expect((await service.call('GET /api/v1/auth/whoami')).json()).toMatchObject({
      authenticated: true,
      authType: 'token',
      username: 'owner',
      role: 'owner',
    })
  })

  it('may authenticate with x-api-key, but not when Authorization is malformed', async () => {
    const token = await makeToken({})
    const key = { 'x-api-key': token }
    expect((await service.call('GET /api/v1/auth/validate', { token: null, headers: key })).statusCode).toBe(200)
    const answer = await service.call('GET /api/v1/auth/validate', {
      token: null,
      headers: { ...key, authorization: 'Basic abc' },
    })
    expect([answer.statusCode, answer.json().error.message]).toEqual([401, 'invalid authorization header format'])
    const empty = await service.call('GET /api/v1/auth/validate', {
      token: null,
      headers: { authorization: 'Bearer ' },
    })
    expect(empty.json().error.message).toBe('missing authorization header')
  })
})
