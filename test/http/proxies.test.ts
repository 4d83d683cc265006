// The edges of both proxies: who is asked for which model, who may ask, and errors in each family's own form.
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Proxied, readError, simpleMessage, startProxied, vendorKey } from '../fixtures/proxy/proxied.ts'
import { answerJson } from '../fixtures/proxy/upstream.ts'
import { waitFor } from '../fixtures/time.ts'
import { ownerToken } from './service.ts'

let proxied: Proxied
beforeAll(async () => {
  proxied = await startProxied({ proxy: { defaults: { provider: 'chosen', model: '' } } })
  await proxied.addProvider('default', { defaultModel: 'house-model' })
  await proxied.addProvider('vendor', { defaultModel: 'vendor-model' })
  await proxied.addProvider('plain')
  await proxied.addProvider('completions', { type: 'llmo', baseURL: `${proxied.upstream.url}/v1` })
  await proxied.addProvider('cloud', {
    type: 'azure-llmo',
    azure: { deploymentName: 'deploy one', apiVersion: '2024-10-21' },
  })
})
afterAll(() => proxied.stop())
afterEach(() => proxied.upstream.reset())

const messages = '/llma/v1/messages'
const sentModel = () => JSON.parse(proxied.upstream.last().body.toString()).model

describe('a model name', () => {
  it.each([
    ['vendor/some-model', 'some-model'],
    ['vendor/family/some-model', 'family/some-model'],
    ['vendor/', 'vendor-model'],
    ['bare-model', 'bare-model'],
    ['/srv/models/bare-model', '/srv/models/bare-model'],
    [undefined, 'house-model'],
    ['', 'house-model'],
  ])('%s goes upstream as %s [LLMA-009] [LLMA-019] [LLMA-020] [LLMA-022]', async (model, sent) => {
    const answer = await proxied.ask(messages, simpleMessage(model))
    expect(answer.status).toBe(200)
    expect(sentModel()).toBe(sent)
  })

  describe('whose first part is not a provider', () => {
    const listed = 'maker/large-model'
    const namespace = 'misspelt'
    const path = `?namespace=${namespace}`
    const doors: [string, object][] = [
      [`${messages}${path}`, { max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }],
      [`${messages}/count_tokens${path}`, { messages: [{ role: 'user', content: 'hi' }] }],
      [`/llmo/v1/chat/completions${path}`, { messages: [{ role: 'user', content: 'hi' }] }],
      [`/llmo/v1/responses${path}`, { input: 'hi' }],
      [`/llmo/v1/embeddings${path}`, { input: 'hi' }],
    ]
    const calls = () => proxied.upstream.received.filter(({ method }) => method === 'POST')
    let list: object | number
    let own: string
    beforeAll(async () => {
      await proxied.create('/api/v1/secrets', { name: 'vendor', namespace, stringData: { 'api-key': vendorKey } })
      await proxied.addProvider(
        'main',
        { type: 'llmo', baseURL: `${proxied.upstream.url}/v1`, default: true },
        namespace,
      )
      await proxied.addProvider('spare', {}, namespace)
    })
    beforeEach(async () => {
      list = { data: [{ id: listed }] }
      proxied.upstream.script.answer = (request) => {
        if (request.method !== 'GET') return answerJson({})(request)
        return typeof list === 'number'
          ? answerJson({ error: { message: 'no' } }, list)(request)
          : answerJson(list)(request)
      }
      // Another generation: nothing is remembered of the list.
      const { spec, metadata } = (await proxied.service.call(`GET /api/v1/providers/main${path}`)).json()
      own = `maker/own-${metadata.generation}`
      const payload = { metadata, spec: { ...spec, defaultModel: own } }
      const changed = await proxied.service.call(`PUT /api/v1/providers/main${path}`, { payload })
      expect(changed.statusCode).toBe(200)
    })

    it.each(doors)('goes from %s to the default provider when its vendor lists the whole name', async (door, body) => {
      await proxied.ask(door, { model: listed, ...body })
      // Tokens are counted without a vendor of the other family.
      if (!door.includes('count_tokens')) expect(sentModel()).toBe(listed)
    })

    it.each(doors)('is 404 at %s, with the names there are, and costs nothing', async (door, body) => {
      for (const answered of [list, 404, 501, { data: [] }]) {
        list = answered
        const answer = await proxied.ask(door, { model: 'mian/large-model', ...body })
        const { error } = await readError(answer)
        expect(answer.status).toBe(404)
        expect(error.message).toBe(
          'model: there is no provider "mian" in namespace "misspelt"; there are "main", "spare"; did you mean "main/large-model"? A request names one as provider/model; a model that "main" does not list is named "main/mian/large-model"',
        )
        expect(error).toMatchObject(
          door.startsWith('/llma') ? { type: 'not_found_error' } : { code: 'model_not_found' },
        )
      }
      expect(calls()).toEqual([])
    })

    it('is 502 with the reason when the list cannot be had, and goes on by the list that was there', async () => {
      list = 401
      const refused = await proxied.ask(doors[2]?.[0] ?? '', { model: listed, ...doors[2]?.[1] })
      expect([refused.status, (await readError(refused)).error.message]).toEqual([
        502,
        expect.stringContaining('whether provider "main" has a model "maker/large-model" cannot be known: '),
      ])
      expect(calls()).toEqual([])
    })

    it('goes there as well when it is the default model', async () => {
      await proxied.ask(`/llmo/v1/chat/completions${path}`, { model: own, messages: [] })
      expect(sentModel()).toBe(own)
    })
  })

  it('goes to the provider of --chat-provider once there is one [LLMA-021]', async () => {
    await proxied.create('/api/v1/secrets', { name: 'chosen', stringData: { 'api-key': 'key-of-the-chosen-one' } })
    await proxied.addProvider('chosen', { secretRef: { name: 'chosen', key: 'api-key' } })
    await proxied.ask(messages, simpleMessage('bare-model'))
    expect(proxied.upstream.last().headers['x-api-key']).toBe('key-of-the-chosen-one')
    await proxied.service.call('DELETE /api/v1/providers/chosen')
    await proxied.ask(messages, simpleMessage('bare-model'))
    expect(proxied.upstream.last().headers['x-api-key']).toBe(vendorKey)
  })

  it('uses the provider as it is now: its address and key are cached only until they change', async () => {
    await proxied.create('/api/v1/secrets', { name: 'moving', stringData: { 'api-key': 'first-key-0123' } })
    await proxied.addProvider('moving', { secretRef: { name: 'moving', key: 'api-key' } })
    await proxied.ask(messages, simpleMessage('moving/m'))
    expect(proxied.upstream.last().headers['x-api-key']).toBe('first-key-0123')
    await proxied.service.call('DELETE /api/v1/secrets/moving')
    const without = await proxied.ask(messages, simpleMessage('moving/m'))
    expect(without.status).toBe(502)
    expect((await readError(without)).error.message).toContain('secret "moving"')
    await proxied.create('/api/v1/secrets', { name: 'moving', stringData: { 'api-key': 'second-key-0123' } })
    await proxied.ask(messages, simpleMessage('moving/m'))
    expect(proxied.upstream.last().headers['x-api-key']).toBe('second-key-0123')
  })

  it('must be given for a provider without a default model', async () => {
    const answer = await proxied.ask(messages, simpleMessage('plain/'))
    expect([answer.status, await readError(answer)]).toMatchObject([400, { error: { type: 'invalid_request_error' } }])
  })

  it('that no provider serves is answered in the error form of each family', async () => {
    const path = '?namespace=empty'
    const llma = await proxied.ask(`${messages}${path}`, simpleMessage('nobody/m'))
    expect(llma.status).toBe(404)
    const body = await readError(llma)
    expect(body).toMatchObject({ type: 'error', error: { type: 'not_found_error' } })
    expect(body.error.message).toContain('there is no provider "nobody"')
    const llmo = await proxied.ask(`/llmo/v1/chat/completions${path}`, simpleMessage('nobody/m'))
    expect([llmo.status, await readError(llmo)]).toMatchObject([
      404,
      { error: { param: 'model', code: 'model_not_found' } },
    ])
  })
})

describe('a namespace', () => {
  it('is named in the query, which the vendor does not see', async () => {
    await proxied.create('/api/v1/secrets', {
      name: 'vendor',
      namespace: 'other',
      stringData: { 'api-key': 'key-of-other' },
    })
    await proxied.addProvider('vendor', {}, 'other')
    await proxied.ask(`${messages}?namespace=other&beta=true`, simpleMessage('vendor/m'))
    expect(proxied.upstream.last().path).toBe('/v1/messages?beta=true')
    expect(proxied.upstream.last().headers['x-api-key']).toBe('key-of-other')
  })

  it('is the one of a bound token, and no other', async () => {
    const { token } = (
      await proxied.service.call('POST /api/v1/tokens', { payload: { name: 'bound', namespace: 'other' } })
    ).json()
    await proxied.ask(messages, simpleMessage('vendor/m'), { token })
    expect(proxied.upstream.last().headers['x-api-key']).toBe('key-of-other')
    const other = await proxied.ask(`${messages}?namespace=default`, simpleMessage('vendor/m'), { token })
    expect([other.status, await readError(other)]).toMatchObject([
      403,
      { type: 'error', error: { type: 'permission_error' } },
    ])
  })
})

describe.each([
  ['llma', messages],
  ['llmo', '/llmo/v1/chat/completions'],
])('a credential for %s', (family, path) => {
  const model = family === 'llma' ? 'vendor/m' : 'completions/m'

  it('comes in x-api-key or as a bearer token [AUTH-002] [AUTH-006]', async () => {
    expect((await proxied.ask(path, simpleMessage(model))).status).toBe(200)
    const headers = { authorization: `Bearer ${ownerToken}` }
    expect((await proxied.ask(path, simpleMessage(model), { token: null, headers })).status).toBe(200)
  })

  it('that is missing or invalid is answered in the form of the family [HTTP-005] [HTTP-006]', async () => {
    for (const token of [null, 'nobody']) {
      const answer = await proxied.ask(path, simpleMessage(model), { token })
      expect(answer.status).toBe(401)
      expect(answer.headers.get('www-authenticate')).toContain('Bearer')
      const body = await readError(answer)
      expect(body.error.type).toBe('authentication_error')
      expect(Object.keys(body)).toEqual(family === 'llma' ? ['type', 'error', 'request_id'] : ['error'])
      if (family === 'llmo') expect(Object.keys(body.error)).toEqual(['message', 'type', 'param', 'code'])
    }
    expect(proxied.upstream.received).toEqual([])
  })

  it('of a read-only token is refused, since calls cost money', async () => {
    const { token } = (
      await proxied.service.call('POST /api/v1/tokens', { payload: { name: `reader-${family}`, role: 'viewer' } })
    ).json()
    expect((await proxied.ask(path, simpleMessage(model), { token })).status).toBe(403)
  })

  it('that is revoked is refused at once', async () => {
    const made = await proxied.service.call('POST /api/v1/tokens', { payload: { name: `short-${family}` } })
    const { token, id = made.json().token?.id } = made.json()
    expect((await proxied.ask(path, simpleMessage(model), { token })).status).toBe(200)
    await proxied.service.call(`DELETE /api/v1/tokens/${id}`)
    expect((await proxied.ask(path, simpleMessage(model), { token })).status).toBe(401)
  })
})

describe('a request', () => {
  const send = (path: string, init: RequestInit) =>
    fetch(`${proxied.url}${path}`, { ...init, headers: { 'x-api-key': ownerToken, ...init.headers } })

  it('with another method is 405 with Allow, to an unknown path 404, in the form of the family [HTTP-005] [HTTP-006] [HTTP-018]', async () => {
    const wrong = await send(messages, { method: 'GET' })
    expect([wrong.status, wrong.headers.get('allow'), (await readError(wrong)).type]).toEqual([405, 'POST', 'error'])
    const write = await send('/llmo/v1/models', { method: 'POST' })
    expect([write.status, write.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    const unknown = await send('/llmo/v1/nothing', { method: 'POST' })
    expect([unknown.status, (await readError(unknown)).error.param]).toEqual([404, null])
    expect((await send('/llma', { method: 'GET' })).status).toBe(404)
  })

  it('that is not JSON is 415, malformed 400, too large 413', async () => {
    const headers = { 'content-type': 'text/plain' }
    expect((await send(messages, { method: 'POST', headers, body: '{}' })).status).toBe(415)
    const json = { 'content-type': 'application/json' }
    const bad = await send(messages, { method: 'POST', headers: json, body: '{"model":' })
    expect([bad.status, (await readError(bad)).error.type]).toEqual([400, 'invalid_request_error'])
    const large = await send(messages, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ a: 'x'.repeat(16_000_000) }),
    })
    expect([large.status, (await readError(large)).error.type]).toEqual([413, 'request_too_large'])
    const zipped = { ...json, 'content-encoding': 'gzip' }
    expect((await send(messages, { method: 'POST', headers: zipped, body: 'x' })).status).toBe(415)
  })

  it('that names a foreign host is refused', async () => {
    const answer = await proxied.service.call(`GET /llma/v1/models`, { headers: { host: 'evil.example' } })
    expect(answer.statusCode).toBe(403)
  })

  it("has an id, the caller's own when it is sane", async () => {
    const own = await proxied.ask(messages, simpleMessage('vendor/m'), { headers: { 'x-request-id': 'mine-1' } })
    expect(own.headers.get('x-request-id')).toBe('mine-1')
    const made = await proxied.ask(messages, simpleMessage('vendor/m'), { token: 'nobody' })
    const body = await readError(made)
    expect(body.request_id).toBe(made.headers.get('x-request-id'))
    expect(made.headers.get('request-id')).toBe(body.request_id)
  })
})

type ModelList = {
  object?: string
  data: { id: string; created?: number }[]
  has_more?: boolean
  unavailable_providers?: { provider: string; message: string }[]
}

describe('the models', () => {
  const list = async (path: string) =>
    (await (await fetch(`${proxied.url}${path}`, { headers: { 'x-api-key': ownerToken } })).json()) as ModelList

  it('are listed with their providers in the form of llma [LLMA-006] [LLMA-041]', async () => {
    const { data, ...rest } = await list('/llma/v1/models')
    const ids = data.map((model) => model.id)
    expect(ids).toEqual(['default/house-model', 'house-model', 'vendor/vendor-model'])
    expect(data[0]).toMatchObject({ type: 'model', display_name: 'default/house-model' })
    expect(rest).toEqual({ has_more: false, first_id: ids[0], last_id: ids[2] })
  })

  it('are listed in the form of llmo [LLMO-004] [LLMO-009]', async () => {
    const { object, data } = await list('/llmo/v1/models')
    expect(object).toBe('list')
    expect(data[2]).toMatchObject({ id: 'vendor/vendor-model', object: 'model', owned_by: 'vendor' })
    expect(Number.isInteger(data[0]?.created)).toBe(true)
  })

  it('are what the vendors offer as well, after the configured ones, and each can be asked for', async () => {
    proxied.upstream.script.answer = (request) => {
      const isAsked = request.method === 'GET' && request.path.startsWith('/v1/models')
      answerJson(isAsked ? { data: [{ id: 'vendor-model' }, { id: 'other/model' }, { id: 7 }] } : {})(request)
    }
    const spec = { type: 'llma', baseURL: proxied.upstream.url, defaultModel: 'vendor-model' }
    await proxied.create('/api/v1/providers', { name: 'seller', namespace: 'offers', spec: { ...spec } })
    await proxied.create('/api/v1/providers', {
      name: 'seller-o',
      namespace: 'offers',
      spec: { ...spec, type: 'llmo' },
    })
    const { data } = await list('/llmo/v1/models?namespace=offers')
    expect(data.map(({ id }) => id)).toEqual([
      ...['seller/vendor-model', 'seller-o/vendor-model', 'seller/other/model', 'seller-o/other/model'],
    ])
    const asked = proxied.upstream.received.length
    const defaultQuery = { namespace: 'offers' }
    const llmo = new OpenAI({ apiKey: ownerToken, baseURL: `${proxied.url}/llmo/v1`, defaultQuery, maxRetries: 0 })
    expect(await llmo.models.retrieve('seller/other/model')).toMatchObject({
      id: 'seller/other/model',
      owned_by: 'seller',
    })
    const llma = new Anthropic({ apiKey: ownerToken, baseURL: `${proxied.url}/llma`, defaultQuery, maxRetries: 0 })
    expect(await llma.models.retrieve('seller-o/vendor-model')).toMatchObject({
      id: 'seller-o/vendor-model',
      type: 'model',
    })
    await expect(llmo.models.retrieve('seller/none')).rejects.toBeInstanceOf(OpenAI.NotFoundError)
    for (const path of ['/llma/v1/models', '/llmo/v1/models']) {
      const answer = await proxied.service.call(`GET ${path}/${'m'.repeat(5000)}`)
      expect([answer.statusCode, answer.body.length < 500]).toEqual([400, true])
    }
    await expect(llma.models.retrieve('nobody')).rejects.toBeInstanceOf(Anthropic.NotFoundError)
    // Kept for a while: the vendors were not asked again.
    expect(proxied.upstream.received.length).toBe(asked)
  })

  it('are the configured ones only while a vendor does not list its models', async () => {
    proxied.upstream.script.answer = answerJson({ error: 'no' }, 401)
    const spec = { type: 'llmo', baseURL: proxied.upstream.url, defaultModel: 'm' }
    await proxied.create('/api/v1/providers', { name: 'silent', namespace: 'silent', spec })
    const ids = (await list('/llma/v1/models?namespace=silent')).data.map(({ id }) => id)
    expect(ids).toEqual(['silent/m', 'm'])
    // Why it offers none, in the vendor's words; it is asked all the same.
    expect(await list('/llmo/v1/models?namespace=silent')).toMatchObject({
      unavailable_providers: [{ provider: 'silent', message: expect.stringMatching(/API key.*HTTP 401/) }],
    })
  })

  it('are requested from several vendors at a time, and a silent one delays nobody beyond its own deadline', async () => {
    let [open, most] = [0, 0]
    proxied.upstream.script.answer = (request) => {
      open += 1
      most = Math.max(most, open)
      request.response.once('close', () => {
        open -= 1
      })
      if (!request.path.startsWith('/silent')) answerJson({ data: [{ id: 'm' }] })(request)
    }
    const add = (name: string, namespace: string, path: string) =>
      proxied.create('/api/v1/providers', {
        name,
        namespace,
        spec: { type: 'llmo', baseURL: proxied.upstream.url + path },
      })
    const silent = Array.from({ length: 20 }, (_, index) => `silent-${index + 10}`)
    for (const name of silent) await add(name, 'crowd', '/silent')
    await add('zealous', 'crowd', '')
    await add('alone', 'calm', '')
    const listed = list('/llmo/v1/models?namespace=crowd')
    await waitFor(() => most > 1 || undefined, 'some to be asked')
    expect((await list('/llmo/v1/models?namespace=calm')).data).toMatchObject([{ id: 'alone/m' }])
    expect(open).toBeGreaterThan(1)
    const { data, unavailable_providers: unavailable = [] } = await listed
    expect(data).toMatchObject([{ id: 'zealous/m' }])
    expect(unavailable.map(({ provider }) => provider)).toEqual(silent)
    const late = `${new URL(proxied.upstream.url).host} did not answer within 5 s.`
    expect(new Set(unavailable.map(({ message }) => message))).toEqual(new Set([late]))
    expect(most).toBe(16)
  })

  it('of a namespace without providers are none', async () => {
    expect(await list('/llma/v1/models?namespace=empty')).toEqual({
      data: [],
      has_more: false,
      first_id: null,
      last_id: null,
    })
  })
})

describe('addresses', () => {
  it.each([
    ['/llma/v1/messages', 'vendor/m', '/v1/messages'],
    ['/llma/v1/messages/count_tokens', 'vendor/m', '/v1/messages/count_tokens'],
    ['/llmo/v1/chat/completions', 'completions/m', '/v1/chat/completions'],
    ['/llmo/v1/embeddings', 'completions/m', '/v1/embeddings'],
    ['/llmo/v1/responses', 'completions/m', '/v1/responses'],
    [
      '/llmo/v1/chat/completions',
      'cloud/m',
      '/openai/deployments/deploy%20one/chat/completions?api-version=2024-10-21',
    ],
    ['/llmo/v1/embeddings', 'cloud/m', '/openai/deployments/deploy%20one/embeddings?api-version=2024-10-21'],
    ['/llmo/v1/responses', 'cloud/m', '/openai/responses?api-version=2024-10-21'],
  ])('%s for %s is %s [LLMA-040] [LLMO-007] [LLMO-008] [VER-002]', async (path, model, sent) => {
    const answer = await proxied.ask(path, { model, input: 'x', unknown_field: [1] })
    expect(answer.status).toBe(200)
    expect(proxied.upstream.last().path).toBe(sent)
    expect(JSON.parse(proxied.upstream.last().body.toString())).toEqual({ model: 'm', input: 'x', unknown_field: [1] })
  })

  it('carry the credential that their provider wants', async () => {
    await proxied.ask('/llmo/v1/embeddings', { model: 'completions/m' })
    expect(proxied.upstream.last().headers.authorization).toBe(`Bearer ${vendorKey}`)
    await proxied.ask('/llmo/v1/embeddings', { model: 'cloud/m' })
    expect(proxied.upstream.last().headers).toMatchObject({ 'api-key': vendorKey })
    expect(proxied.upstream.last().headers.authorization).toBeUndefined()
  })

  it('are of the vendor kind, with the key that is named and the default model [PROV-003] [PROV-004] [PROV-005] [PROV-006]', async () => {
    const [first, second] = ['made-up-first-key-01', 'made-up-second-key-02']
    await proxied.create('/api/v1/secrets', { name: 'two-keys', stringData: { first, second } })
    const spec = { baseURL: `${proxied.upstream.url}/v1`, defaultModel: 'usual' }
    await proxied.addProvider('of-llmo', { ...spec, type: 'llmo', secretRef: { name: 'two-keys', key: 'second' } })
    await proxied.ask('/llmo/v1/chat/completions', { model: 'of-llmo/', messages: [] })
    expect(proxied.upstream.last()).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${second}` },
    })
    expect(JSON.parse(proxied.upstream.last().body.toString())).toMatchObject({ model: 'usual' })
    const address = { baseURL: proxied.upstream.url, defaultModel: 'other' }
    await proxied.addProvider('of-llma', { ...address, type: 'llma', secretRef: { name: 'two-keys', key: 'first' } })
    await proxied.ask(messages, simpleMessage('of-llma/'))
    expect(proxied.upstream.last()).toMatchObject({ path: '/v1/messages', headers: { 'x-api-key': first } })
    expect(JSON.parse(proxied.upstream.last().body.toString())).toMatchObject({ model: 'other' })
  })

  it('that the other family does not have are refused with the reason', async () => {
    const answer = await proxied.ask('/llmo/v1/embeddings', { model: 'vendor/m', input: 'hi' })
    expect([answer.status, (await readError(answer)).error.message]).toEqual([
      400,
      expect.stringContaining('another family'),
    ])
  })
})

describe('limits of a caller', () => {
  it('answer 429 with Retry-After beyond the concurrent requests, and beyond those of a minute', async () => {
    const limited = await startProxied({
      proxy: { defaults: { provider: '', model: '' }, callers: { maxConcurrent: 1, requestsPerMinute: 2 } },
    })
    try {
      await limited.addProvider('vendor')
      limited.upstream.script.answer = () => {}
      const held = limited.ask(messages, simpleMessage('vendor/m'))
      await waitFor(() => limited.upstream.received.length === 1, 'the first request')
      const second = await limited.ask(messages, simpleMessage('vendor/m'))
      expect([second.status, (await readError(second)).error.type]).toEqual([429, 'rate_limit_error'])
      expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0)
      limited.upstream.last().response.end('{}')
      await held
      expect((await limited.ask(`${messages}?namespace=empty`, { model: 'unknown/m' })).status).toBe(404)
      const third = await limited.ask(messages, simpleMessage('vendor/m'))
      expect([third.status, (await readError(third)).error.message]).toEqual([
        429,
        expect.stringContaining('per minute'),
      ])
    } finally {
      await limited.stop()
    }
  })

  it('of a provider are applied [PROV-009]', async () => {
    await proxied.addProvider('scarce', { rateLimit: { requestsPerMinute: 1 } })
    expect((await proxied.ask(messages, simpleMessage('scarce/m'))).status).toBe(200)
    const second = await proxied.ask(messages, simpleMessage('scarce/m'))
    expect([second.status, Number(second.headers.get('retry-after')) > 0]).toEqual([429, true])
    expect(proxied.upstream.received).toHaveLength(1)
  })
})
