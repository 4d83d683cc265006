// Conditional requests and idempotent creation.
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Authorizer } from '../../src/ports/identity/identity.ts'
import { aiTask, ownerToken, type Service, startService } from './service.ts'

async function readTable(folder: string, table: string): Promise<unknown[]> {
  const database = new Sqlite(join(folder, 'svc.db'), { readonly: true })
  const rows = database.prepare(`select * from ${table}`).all()
  database.close()
  return rows
}

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

const createAgent = (name: string) => service.call('POST /api/v1/agents', { payload: { name, spec: {} } })

describe('a read', () => {
  it('carries an ETag and may not be cached [HTTP-037] [HTTP-038]', async () => {
    await createAgent('tagged')
    for (const path of ['/api/v1/agents/tagged', '/api/v1/agents', '/api/v1/tools', '/api/v1/auth/whoami']) {
      const answer = await service.call(`GET ${path}`)
      expect(answer.headers['cache-control']).toBe('private, no-store')
      if (!path.includes('auth')) expect(answer.headers.etag).toMatch(/^W\/".+"$/)
    }
  })

  it('gets 304 with the current ETag, until the object changes [HTTP-037]', async () => {
    await createAgent('cached')
    const get = (tag: string) => service.call('GET /api/v1/agents/cached', { headers: { 'if-none-match': tag } })
    const tag = String((await get('"other"')).headers.etag)
    const fresh = await get(tag)
    expect([fresh.statusCode, fresh.body]).toEqual([304, ''])
    expect((await get(`"x", ${tag}`)).statusCode).toBe(304)
    expect((await get('*')).statusCode).toBe(304)
    await service.call('PUT /api/v1/agents/cached', { payload: { spec: { systemPrompt: { inline: 'new' } } } })
    expect((await get(tag)).statusCode).toBe(200)
  })

  it('of a list has an ETag of its contents', async () => {
    const list = () => service.call('GET /api/v1/agents?namespace=tags')
    const before = (await list()).headers.etag
    expect((await list()).headers.etag).toBe(before)
    await service.call('POST /api/v1/agents', { payload: { name: 'a', namespace: 'tags', spec: {} } })
    expect((await list()).headers.etag).not.toBe(before)
  })

  it('of a list gets 304 until one of its objects is changed, removed or created [HTTP-037]', async () => {
    const create = (name: string) =>
      service.call('POST /api/v1/agents', { payload: { name, namespace: 'pages', spec: {} } })
    await create('a')
    await create('b')
    const list = (tag = '"other"') =>
      service.call('GET /api/v1/agents?namespace=pages', { headers: { 'if-none-match': tag } })
    const tags = [String((await list()).headers.etag)]
    const isKnown = async () => (await list(tags.at(-1))).statusCode === 304
    expect(await isKnown()).toBe(true)
    const changes = [
      () =>
        service.call('PUT /api/v1/agents/a?namespace=pages', { payload: { spec: { systemPrompt: { inline: 'x' } } } }),
      () => service.setStatus('Agent', 'b', { ready: true }, 'pages'),
      () => service.call('DELETE /api/v1/agents/a?namespace=pages'),
      () => create('a'),
    ]
    for (const change of changes) {
      await change()
      expect(await isKnown()).toBe(false)
      tags.push(String((await list()).headers.etag))
      expect(await isKnown()).toBe(true)
    }
    expect(new Set(tags).size).toBe(tags.length)
  })

  it('of pages with the same objects has an ETag of its own for each limit and end', async () => {
    for (const name of ['a', 'b', 'c']) {
      await service.call('POST /api/v1/agents', { payload: { name, namespace: 'ends', spec: {} } })
    }
    const tagOf = async (query: string) =>
      (await service.call(`GET /api/v1/agents?namespace=ends${query}`)).headers.etag
    const tags = [await tagOf(''), await tagOf('&limit=3'), await tagOf('&limit=2'), await tagOf('&limit=1')]
    expect(tags[0]).toBe(tags[1])
    expect(new Set(tags).size).toBe(3)
  })

  it('is authorized before its ETag is compared [HTTP-037]', async () => {
    await createAgent('guarded')
    const tag = String((await service.call('GET /api/v1/agents/guarded')).headers.etag)
    const headers = { 'if-none-match': tag }
    expect((await service.call('GET /api/v1/agents/guarded', { headers, token: 'bad' })).statusCode).toBe(401)
    const { token } = await service.ports.tokens.create({
      name: 't',
      namespace: 'x',
      role: 'editor',
      serverTools: true,
    })
    expect((await service.call('GET /api/v1/agents/guarded?namespace=default', { headers, token })).statusCode).toBe(
      403,
    )
  })
})

describe('a write with a precondition', () => {
  it('gets 409 when If-Match is outdated, and succeeds when it is current [HTTP-039]', async () => {
    const tag = String((await createAgent('matched')).headers.etag)
    const put = (ifMatch: string, inline: string) =>
      service.call('PUT /api/v1/agents/matched', {
        payload: { spec: { systemPrompt: { inline } } },
        headers: { 'if-match': ifMatch },
      })
    expect((await put(tag, 'one')).statusCode).toBe(200)
    const stale = await put(tag, 'two')
    expect([stale.statusCode, stale.json().error.reason]).toEqual([409, 'Conflict'])
    expect((await put('*', 'three')).statusCode).toBe(200)
    const remove = (ifMatch: string) =>
      service.call('DELETE /api/v1/agents/matched', { headers: { 'if-match': ifMatch } })
    expect((await remove(tag)).statusCode).toBe(409)
    const now = (await service.call('GET /api/v1/agents/matched')).json().metadata.resourceVersion
    expect((await remove(`"${now}"`)).statusCode).toBe(204)
  })

  it('gets 409 when metadata.resourceVersion is outdated; an object from GET can be PUT [HTTP-016] [HTTP-039]', async () => {
    await createAgent('round-trip')
    const read = (await service.call('GET /api/v1/agents/round-trip')).json()
    const put = (payload: object) => service.call('PUT /api/v1/agents/round-trip', { payload })
    expect((await put({ ...read, spec: { systemPrompt: { inline: 'x' } } })).statusCode).toBe(200)
    expect((await put({ ...read, spec: {} })).statusCode).toBe(409)
    const other = { ...read, metadata: { ...read.metadata, resourceVersion: undefined, uid: 'another' } }
    expect((await put(other)).statusCode).toBe(409)
  })

  it('succeeds for one of two writers with the same version [HTTP-039]', async () => {
    const read = (await createAgent('contended')).json()
    const put = (inline: string) =>
      service.call('PUT /api/v1/agents/contended', { payload: { ...read, spec: { systemPrompt: { inline } } } })
    const statuses = await Promise.all(['a', 'b', 'c', 'd'].map(put))
    expect(statuses.map((answer) => answer.statusCode).sort()).toEqual([200, 409, 409, 409])
  })

  it('is optional: writers without one all succeed, and the last one counts', async () => {
    await createAgent('crowded')
    const put = (inline: string) =>
      service.call('PUT /api/v1/agents/crowded', { payload: { spec: { systemPrompt: { inline } } } })
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map(put))
    expect(answers.map((answer) => answer.statusCode)).toEqual([200, 200, 200, 200])
  })
})

describe('a creation with an Idempotency-Key', () => {
  const post = (key: string, payload: object, token = ownerToken) =>
    service.call('POST /api/v1/tasks', { payload, headers: { 'idempotency-key': key }, token })

  it('creates the object once; repeated, it returns the object as it is now [HTTP-033]', async () => {
    const first = await post('key-1', aiTask('once'))
    expect([first.statusCode, first.headers['idempotency-replayed']]).toEqual([201, undefined])
    await service.setStatus('Task', 'once', { phase: 'Running', attempts: 1 })
    const again = await post('key-1', aiTask('once'))
    expect([again.statusCode, again.headers['idempotency-replayed']]).toEqual([201, 'true'])
    expect(again.json().metadata.uid).toBe(first.json().metadata.uid)
    expect(again.json().status.phase).toBe('Running')
  })

  it('gets 409 with another body, and may be used again in another namespace or by another caller [HTTP-034]', async () => {
    await post('key-2', aiTask('original'))
    const other = await post('key-2', aiTask('different'))
    expect([other.statusCode, other.json().error.reason]).toEqual([409, 'Conflict'])
    expect((await post('key-2', aiTask('different', { namespace: 'elsewhere' }))).statusCode).toBe(201)
    const { token } = await service.ports.tokens.create({ name: 'someone', role: 'editor', serverTools: true })
    expect((await post('key-2', aiTask('someones'), token)).statusCode).toBe(201)
  })

  it('creates the object once for concurrent requests; the others get a conflict or its outcome [HTTP-033]', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => post('key-3', aiTask('raced'))))
    const created = answers.filter((answer) => answer.statusCode === 201)
    expect(created.length).toBeGreaterThanOrEqual(1)
    expect(new Set(created.map((answer) => answer.json().metadata.uid)).size).toBe(1)
    for (const answer of answers.filter((entry) => entry.statusCode !== 201)) {
      expect([answer.statusCode, answer.json().error.message]).toEqual([409, expect.stringContaining('in progress')])
    }
  })

  it('can be repeated with the same key when the creation failed', async () => {
    const payload = { name: 'p', spec: { type: 'llmo', baseURL: 'http://169.254.169.254' } }
    const headers = { 'idempotency-key': 'key-4' }
    expect((await service.call('POST /api/v1/providers', { payload, headers })).statusCode).toBe(400)
    const good = { name: 'p', spec: { type: 'llmo' } }
    expect((await service.call('POST /api/v1/providers', { payload: good, headers })).statusCode).toBe(201)
  })

  it('says that the object it created is gone', async () => {
    const headers = { 'idempotency-key': 'key-5' }
    const create = () => service.call('POST /api/v1/agents', { payload: { name: 'fleeting', spec: {} }, headers })
    await create()
    await service.call('DELETE /api/v1/agents/fleeting')
    const again = await create()
    expect([again.statusCode, again.json().error.message]).toEqual([409, expect.stringContaining('no longer exists')])
  })

  it('gets 409 when the object was deleted and created again under its name', async () => {
    const create = (key: string) =>
      service.call('POST /api/v1/agents', {
        payload: { name: 'replaced', spec: {} },
        headers: { 'idempotency-key': key },
      })
    const first = await create('key-7')
    await service.call('DELETE /api/v1/agents/replaced')
    const second = await create('key-8')
    const again = await create('key-7')
    expect([again.statusCode, again.json().error.message]).toEqual([409, expect.stringContaining('created again')])
    const other = await create('key-8')
    expect([other.statusCode, other.json().metadata.uid]).toEqual([201, second.json().metadata.uid])
    expect(second.json().metadata.uid).not.toBe(first.json().metadata.uid)
  })

  it('stores neither the key nor the body [HTTP-035]', async () => {
    const payload = { name: 'unseen', spec: { systemPrompt: { inline: 'a-body-to-look-for' } } }
    const headers = { 'idempotency-key': 'a-key-to-look-for' }
    await service.call('POST /api/v1/agents', { payload, headers })
    const claims = await readTable(service.folder, 'idempotency_keys')
    expect(claims.length).toBeGreaterThan(0)
    expect(JSON.stringify(claims)).not.toMatch(/to-look-for/)
    expect(JSON.stringify(claims)).toContain('unseen')
  })

  it('has no effect for secrets and tokens [HTTP-036]', async () => {
    const headers = { 'idempotency-key': 'key-6' }
    const secret = () =>
      service.call('POST /api/v1/secrets', { payload: { name: 's', stringData: { k: 'v' } }, headers })
    expect([(await secret()).statusCode, (await secret()).statusCode]).toEqual([201, 409])
    const token = async () =>
      (await service.call('POST /api/v1/tokens', { payload: { name: 't' }, headers })).json().token
    expect(await token()).not.toBe(await token())
  })

  it('must have a valid key', async () => {
    expect((await post('a b', aiTask('x'))).statusCode).toBe(400)
    expect((await post('x'.repeat(256), aiTask('x'))).statusCode).toBe(400)
  })
})

describe('a repeated creation', () => {
  const refused = new Set<string>()
  let guarded: Service
  beforeAll(async () => {
    const authorize: Authorizer['authorize'] = async (_caller, { verb, kind, name }) =>
      refused.has(`${verb} ${kind} ${name}`) ? { allowed: false, reason: 'not any more' } : { allowed: true }
    guarded = await startService({ identity: { authorizer: { authorize } } })
  })
  afterAll(() => guarded.stop())
  afterEach(() => refused.clear())

  const post = (path: string, payload: object) =>
    guarded.call(`POST ${path}`, { payload, headers: { 'idempotency-key': `key-of-${path}` } })

  it('is refused once the caller may no longer create the object', async () => {
    const payload = { name: 'bot', spec: {} }
    expect((await post('/api/v1/agents', payload)).statusCode).toBe(201)
    refused.add('create Agent bot')
    expect((await post('/api/v1/agents', payload)).statusCode).toBe(403)
    refused.clear()
    expect((await post('/api/v1/agents', payload)).headers['idempotency-replayed']).toBe('true')
  })

  it('is refused once the caller may no longer read the secret that the object names', async () => {
    const payload = { name: 'vendor', spec: { type: 'llmo', secretRef: { name: 'key' } } }
    expect((await post('/api/v1/providers', payload)).statusCode).toBe(201)
    refused.add('get Secret key')
    expect((await post('/api/v1/providers', payload)).statusCode).toBe(403)
  })

  it('of a retry needs the right on the old task and on the new one', async () => {
    await guarded.call('POST /api/v1/tasks', { payload: aiTask('work') })
    await guarded.setStatus('Task', 'work', { phase: 'Failed', attempts: 1 })
    const path = '/api/v1/tasks/work/retry'
    const first = await post(path, {})
    expect([first.statusCode, first.json().metadata.name]).toEqual([201, 'work-retry-1'])
    for (const access of ['get Task work', 'create Task work-retry-1']) {
      refused.add(access)
      expect((await post(path, {})).statusCode, access).toBe(403)
      refused.clear()
    }
    expect((await post(path, {})).json().metadata.uid).toBe(first.json().metadata.uid)
  })
})
