// Durable memories over REST.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pause } from '../fixtures/time.ts'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

const base = '/api/v1/memories'
const post = (payload: object) => service.call(`POST ${base}`, { payload })
const put = (id: string, payload: object) => service.call(`PUT ${base}/${id}`, { payload })
const read = async (id: string, query = '') => (await service.call(`GET ${base}/${id}${query}`)).json()
const list = async (query: string) => {
  const answer = await service.call(`GET ${base}?${query}`)
  expect(answer.statusCode).toBe(200)
  expect(answer.json().metadata).toEqual({})
  return answer.json().items.map(({ id }: { id: string }) => id)
}
const statusOf = async (line: string, payload?: object) =>
  (await service.call(line, payload === undefined ? {} : { payload })).statusCode
const pathsOf = (answer: { statusCode: number; json(): { error: { details?: { path: string }[] } } }) => [
  answer.statusCode,
  answer.json().error.details?.map(({ path }) => path),
]

describe('a memory', () => {
  it('is created with what the service fills in, and read [MEM-007] [MEM-008]', async () => {
    const created = await post({ content: 'The port is 8080.', tags: [' Staging', 'staging', 'DB', ' '] })
    expect(created.statusCode).toBe(201)
    const memory = created.json()
    expect(memory).toEqual({
      id: expect.stringMatching(/^mem-[0-9a-f-]{36}$/),
      namespace: 'default',
      source: 'manual',
      content: 'The port is 8080.',
      tags: ['staging', 'db'],
      disabled: false,
      deleted: false,
      createdBy: { kind: 'token', id: expect.any(String), name: expect.any(String) },
      createdAt: expect.any(String),
      updatedAt: memory.createdAt,
      recalledCount: 0,
    })
    expect(await read(memory.id)).toEqual(memory)
    expect(await statusOf(`GET ${base}/${memory.id}?namespace=other`)).toBe(404)
    expect(await statusOf(`GET ${base}/unknown`)).toBe(404)
  })

  it('takes an id, once in a namespace', async () => {
    expect((await post({ id: 'mem-own', content: 'x' })).json().id).toBe('mem-own')
    expect((await post({ id: 'mem-own', content: 'y' })).statusCode).toBe(409)
    expect((await post({ id: 'mem-own', content: 'y', namespace: 'other' })).json().namespace).toBe('other')
  })

  it('has content, and every problem is reported', async () => {
    for (const payload of [{}, { content: '' }, { content: ' \n' }]) {
      const answer = await post(payload)
      expect(pathsOf(answer)).toEqual([400, ['content']])
      expect(answer.json().error.message).toContain('content is required: write in it')
    }
    expect(pathsOf(await post({ content: 'x', tags: 'a', id: '/', odd: 1 }))[1]).toHaveLength(3)
    expect(pathsOf(await post({ content: 'x', tags: Array.from({ length: 10_000 }, (_, at) => `t${at}`) }))).toEqual([
      400,
      ['tags'],
    ])
    expect(pathsOf(await post({ content: 'x'.repeat(14 * 1_048_576) }))).toEqual([400, ['content']])
    expect((await post({ content: 'x'.repeat(16 * 1_048_576) })).statusCode).toBe(413)
    expect((await post({ content: 'word '.repeat(52_000) })).statusCode).toBe(201)
  })

  it('keeps NUL and lone surrogates', async () => {
    const content = 'a\0b \ud800 c'
    expect((await post({ id: 'mem-odd', content })).json().content).toBe(content)
    expect((await read('mem-odd')).content).toBe(content)
  })

  it('keeps no credential, in no text and no tag', async () => {
    const secret = `ghp_${'abcdefghijklmnopqrstuvwxyz012345'}`
    const payload = { id: 'mem-secret', content: `use ${secret}`, tags: [secret], source: secret, agentName: secret }
    const texts = [
      JSON.stringify((await post(payload)).json()),
      JSON.stringify((await put('mem-secret', payload)).json()),
    ]
    for (const text of [...texts, JSON.stringify(await read('mem-secret'))]) {
      expect(text).toContain('[REDACTED]')
      expect(text).not.toContain('ghp_')
    }
  })

  it('is changed in the fields that have a value [MEM-009]', async () => {
    const memory = (await post({ id: 'mem-change', content: 'old', agentName: 'a', tags: ['x'] })).json()
    // What was read can be given back.
    expect((await put('mem-change', memory)).json()).toMatchObject({ content: 'old', createdAt: memory.createdAt })
    expect((await put('mem-change', { content: 'new', agentName: '', taskName: 't' })).json()).toMatchObject({
      content: 'new',
      agentName: 'a',
      taskName: 't',
      tags: ['x'],
    })
    expect((await put('mem-change', { tags: [] })).json().tags).toEqual([])
    const emptied = await put('mem-change', { content: '' })
    expect(pathsOf(emptied)).toEqual([400, ['content']])
    expect((await put('mem-change', { disabled: true })).json().disabled).toBe(true)
    expect((await put('mem-change', { disabled: false })).json().disabled).toBe(true)
    expect((await put('unknown', { content: 'x' })).statusCode).toBe(404)
  })

  it('leaves lists while it is disabled, and returns [MEM-002] [MEM-003] [MEM-004]', async () => {
    await post({ id: 'mem-off', content: 'x', taskName: 'switch' })
    const off = await service.call(`POST ${base}/mem-off/disable`)
    expect([off.statusCode, off.body]).toEqual([204, ''])
    expect(await read('mem-off')).toMatchObject({ disabled: true })
    expect(await list('taskName=switch')).toEqual([])
    expect(await list('taskName=switch&includeDisabled=true')).toEqual(['mem-off'])
    expect(await statusOf(`POST ${base}/mem-off/enable`)).toBe(204)
    expect(await list('taskName=switch')).toEqual(['mem-off'])
    for (const step of ['enable', 'disable']) expect(await statusOf(`POST ${base}/unknown/${step}`)).toBe(404)
  })

  it('is kept when it is deleted, for those who ask [MEM-001] [MEM-005]', async () => {
    await post({ id: 'mem-gone', content: 'x', taskName: 'bin' })
    expect(await statusOf(`DELETE ${base}/mem-gone`)).toBe(204)
    expect(await read('mem-gone')).toMatchObject({ deleted: true, disabled: true, content: 'x' })
    expect(await list('taskName=bin')).toEqual([])
    expect(await list('taskName=bin&includeDisabled=true')).toEqual([])
    expect(await list('taskName=bin&includeDeleted=true')).toEqual(['mem-gone'])
    for (const step of ['enable', 'disable']) expect(await statusOf(`POST ${base}/mem-gone/${step}`)).toBe(404)
    expect(await statusOf(`DELETE ${base}/unknown`)).toBe(404)
  })

  it('supersedes an older one, which stays', async () => {
    await post({ id: 'mem-old', content: 'x', taskName: 'chain' })
    expect((await post({ id: 'mem-new', content: 'y', taskName: 'chain', supersedes: 'mem-old' })).statusCode).toBe(201)
    expect(await read('mem-old')).toMatchObject({ supersededBy: 'mem-new', deleted: false })
    expect(await list('taskName=chain')).toEqual(['mem-new'])
    expect(pathsOf(await post({ content: 'z', supersedes: 'none' }))).toEqual([400, ['supersedes']])
    const twice = await post({ content: 'z', supersedes: 'mem-old' })
    expect([twice.statusCode, twice.json().error.message]).toEqual([409, expect.stringContaining('mem-new')])
  })
})

describe('the list of memories', () => {
  const origin = { sessionName: 's-1', agentName: 'a-1', taskName: 't-1', parentTask: 'p-1', source: 'x-1' }
  beforeAll(async () => {
    await post({
      id: 'whole',
      namespace: 'team',
      content: 'connections are closed at night',
      tags: ['a', 'b'],
      ...origin,
    })
    // The order is by time, in milliseconds.
    await pause(2)
    await post({ id: 'other', namespace: 'team', content: 'nothing of the sort', tags: ['b'] })
  })

  it('is of one namespace [MEM-006] [MEM-010]', async () => {
    expect(await list('namespace=team')).toEqual(['other', 'whole'])
    expect(await list('namespace=nobodys')).toEqual([])
  })

  it('is searched by query and q [MEM-011]', async () => {
    for (const name of ['query', 'q']) {
      expect(await list(`namespace=team&${name}=connection`)).toEqual(['whole'])
      expect(await list(`namespace=team&${name}=!!!`)).toEqual([])
    }
    expect(await list('namespace=team&q=sort&query=sort')).toEqual(['other'])
    expect(await list('namespace=team&q=')).toHaveLength(2)
    expect(pathsOf(await service.call(`GET ${base}?q=a&query=b`))).toEqual([400, ['q']])
  })

  it.each([
    'sessionName=s-1',
    'agentName=a-1',
    'taskName=t-1',
    'parentTask=p-1',
    'source=x-1',
    'tags=A,%20b',
    'ids=whole,unknown',
  ])('is filtered by %s [MEM-012] [MEM-013] [MEM-014] [MEM-015] [MEM-016] [MEM-017] [MEM-018]', async (query) => {
    expect(await list(`namespace=team&${query}`)).toEqual(['whole'])
  })

  it('has at most `limit` memories [MEM-019]', async () => {
    expect(await list('namespace=team&limit=1')).toEqual(['other'])
    expect(await list('namespace=team&limit=100000')).toHaveLength(2)
    for (const limit of ['0', '-1', 'x']) expect(await statusOf(`GET ${base}?limit=${limit}`)).toBe(400)
    for (let at = 0; at < 51; at += 1) await post({ namespace: 'many', content: `fact ${at}` })
    expect(await list('namespace=many')).toHaveLength(50)
    expect(await list('namespace=many&q=fact')).toHaveLength(50)
    expect(await list('namespace=many&limit=60')).toHaveLength(51)
  })

  it.each(['"', 'a" OR *', 'NEAR(', '-', '\0', '%F0%9F', '^', 'x:y', "';--", '(a AND'])(
    'takes the query %j as text',
    async (query) => {
      const answer = await service.call(
        `GET ${base}?namespace=team&q=${query.startsWith('%') ? query : encodeURIComponent(query)}`,
      )
      expect([200, 400]).toContain(answer.statusCode)
    },
  )

  it('does not count as recall', async () => {
    await list('namespace=team&q=connection')
    expect(await read('whole', '?namespace=team')).toMatchObject({ recalledCount: 0 })
  })
})
