// Config maps over REST: where they are the service's own, and where a cluster has them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SvcError } from '../../src/errors.ts'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

const post = (payload: object) => service.call('POST /api/v1/configmaps', { payload })
const put = (name: string, payload: object, headers = {}) =>
  service.call(`PUT /api/v1/configmaps/${name}`, { payload, headers })
const pathsOf = (answer: { json(): { error: { details?: { path: string }[] } } }) =>
  answer.json().error.details?.map(({ path }) => path)

describe('a config map', () => {
  it('is created, read, listed, replaced and deleted', async () => {
    const labels = { team: 'red' }
    const created = await post({ metadata: { name: 'texts', labels }, data: { 'prompt.md': 'You are a poet.' } })
    expect(created.statusCode).toBe(201)
    const object = created.json()
    expect(object).toMatchObject({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'texts', namespace: 'default', labels },
      data: { 'prompt.md': 'You are a poet.' },
    })
    const read = await service.call('GET /api/v1/configmaps/texts')
    expect(read.json()).toEqual(object)
    const list = await service.call('GET /api/v1/configmaps?labelSelector=team%3Dred')
    expect(list.json().items).toEqual([{ metadata: object.metadata, keys: ['prompt.md'] }])
    expect((await service.call('GET /api/v1/configmaps?labelSelector=team%3Dblue')).json().items).toEqual([])
    // What was read can be given back, as `svc apply` does.
    const changed = await put('texts', { ...object, data: { a: 'b' } })
    expect(changed.json()).toMatchObject({ data: { a: 'b' }, metadata: { labels } })
    expect(changed.json().data).toEqual({ a: 'b' })
    expect((await service.call('DELETE /api/v1/configmaps/texts')).statusCode).toBe(204)
    for (const line of ['GET /api/v1/configmaps/texts', 'DELETE /api/v1/configmaps/texts']) {
      expect((await service.call(line)).statusCode).toBe(404)
    }
    expect((await put('texts', { data: {} })).statusCode).toBe(404)
  })

  it('is not updated over a newer version, and not created twice', async () => {
    const { metadata } = (await post({ name: 'twice', data: { a: '1' } })).json()
    expect((await post({ name: 'twice', data: {} })).statusCode).toBe(409)
    expect((await put('twice', { metadata, data: { a: '2' } })).statusCode).toBe(200)
    expect((await put('twice', { metadata, data: { a: '3' } })).statusCode).toBe(409)
    const tag = (await service.call('GET /api/v1/configmaps/twice')).headers.etag
    expect((await put('twice', { data: { a: '4' } }, { 'if-match': 'W/"0"' })).statusCode).toBe(409)
    expect((await put('twice', { data: { a: '5' } }, { 'if-match': tag })).statusCode).toBe(200)
    expect((await service.call('GET /api/v1/configmaps/twice')).json().data).toEqual({ a: '5' })
  })

  it('has a name, text entries and a maximum size, and every problem is reported', async () => {
    expect(pathsOf(await post({ data: {} }))).toEqual(['name'])
    expect(pathsOf(await post({ name: 'NO', data: { a: 1 }, binaryData: {} }))?.toSorted()).toEqual([
      'binaryData',
      'data.a',
      'name',
    ])
    expect(pathsOf(await post({ name: 'big', data: { a: 'ä'.repeat(524_288) } }))).toEqual(['data'])
    expect((await post({ name: 'fits', data: { a: 'ä'.repeat(524_287) } })).statusCode).toBe(201)
    expect(pathsOf(await put('fits', { name: 'other', data: {} }))).toEqual(['name'])
  })

  it('can be referenced by a task and an agent', async () => {
    const spec = { systemPrompt: { configMapRef: { name: 'prompts', key: 'poet' } } }
    expect((await service.call('POST /api/v1/agents', { payload: { name: 'poet', spec } })).statusCode).toBe(201)
    const env = [{ name: 'COLOUR', valueFrom: { configMapKeyRef: { name: 'prompts', key: 'colour' } } }]
    const task = {
      name: 'named',
      spec: { type: 'ai', prompt: 'p', env, ai: { skills: [{ configMapRef: spec.systemPrompt.configMapRef }] } },
    }
    expect((await service.call('POST /api/v1/tasks', { payload: task })).statusCode).toBe(201)
  })
})

describe('a config map of a cluster', () => {
  it('is read over REST and written with kubectl', async () => {
    const refuse = () =>
      Promise.reject(new SvcError('NotConfigured', 'on a cluster config maps are written with kubectl'))
    const found = {
      namespace: 'default',
      name: 'texts',
      data: { a: 'b' },
      labels: {},
      annotations: {},
      resourceVersion: '7',
      createdAt: '2026-03-01T12:00:00Z',
    }
    const configMaps = {
      get: async () => found,
      list: async () => [found],
      onChange: () => () => {},
      create: refuse,
      replace: refuse,
      remove: refuse,
    }
    const cluster = await startService({ configMaps, usecases: { hasCluster: true } })
    expect((await cluster.call('GET /api/v1/configmaps/texts')).json()).toMatchObject({ data: { a: 'b' } })
    for (const [line, payload] of [
      ['POST /api/v1/configmaps', { name: 'texts', data: {} }],
      ['PUT /api/v1/configmaps/texts', { data: {} }],
      ['DELETE /api/v1/configmaps/texts', undefined],
    ] as const) {
      const answer = await cluster.call(line, { ...(payload && { payload }) })
      expect([answer.statusCode, answer.json().error.message]).toEqual([501, expect.stringContaining('kubectl')])
    }
    await cluster.stop()
  })
})
