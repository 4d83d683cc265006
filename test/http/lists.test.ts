// Lists: envelope, limit, continue; the same rules for every one of them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../src/contract/api/index.ts'
import type { Kind } from '../../src/contract/kinds/index.ts'
import { summarize } from '../../src/contract/schema/summary.ts'
import { readVersionContent } from '../../src/rules/agents/versions.ts'
import { keepMonitor, keepScan } from './kept-records.ts'
import { aiTask, type Service, startService } from './service.ts'

/** An agent and so many versions of it. */
async function keepAgent({ ports, call }: Service, namespace: string, count: number): Promise<void> {
  await call(`POST /api/v1/agents?namespace=${namespace}`, { payload: { name: 'n1', spec: {} } })
  const agent = await ports.resources.get('Agent', { namespace, name: 'n1' })
  if (agent === undefined) throw new Error('no agent')
  for (let number = 0; number < count; number++)
    await ports.records.agentVersions.note(agent, readVersionContent(agent, `prompt ${number}`))
}

let service: Service
beforeAll(async () => {
  service = await startService()
  for (const number of [1, 2, 3, 4, 5, 6, 7]) {
    const name = `n${number}`
    const post = (path: string, payload: object) => service.call(`POST /api/v1/${path}`, { payload })
    await post('tasks', aiTask(name))
    await post('agents', { name, spec: {} })
    await post('skills', { name, spec: { description: 'd', content: { inline: '# d' } } })
    await post('tools', { name, spec: { description: 'd', http: { url: 'https://example.com' } } })
    await post('providers', { name, spec: { type: 'llmo' } })
    await post('secrets', { name, stringData: { key: 'value' } })
    await service.ports.records.sessions.ensure({ namespace: 'default', name }, { create: true, sessionType: 'chat' })
  }
  const task = await service.ports.resources.get('Task', { namespace: 'default', name: 'n1' })
  for (let count = 0; count < 7; count++) {
    await service.ports.records.events.append({
      taskUid: task?.metadata.uid ?? '',
      attempt: 1,
      namespace: 'default',
      taskName: 'n1',
      type: 'Queued',
      message: `event ${count + 1}`,
    })
    await service.ports.records.messages.send({
      namespace: 'default',
      from: { uid: 'uid-of-one', name: 'one' },
      to: '*',
      parent: { uid: task?.metadata.uid ?? '', name: 'n1' },
      content: `message ${count + 1}`,
    })
  }
  for (const keep of [keepMonitor, keepScan, keepAgent]) {
    await keep(service, 'default', 7)
    await keep(service, 'unused', 0)
  }
})
afterAll(() => service.stop())

// A list route is one whose query knows both parameters.
const lists = routes
  .filter((route) => route.query !== undefined && 'limit' in route.query.shape && 'continue' in route.query.shape)
  .map((route) => route.path.replace(/:(id|name)/, 'n1'))
/** What a list cannot be asked without. */
const required: Record<string, string> = { '/api/v1/monitors/events': 'name=n1&' }
const read = (path: string, query: string) => service.call(`GET ${path}?${required[path] ?? ''}${query}`)
/** Lists of what a monitor, a scan or an agent keeps; others are of a namespace, or of a task. */
const isKept = (path: string) => /(repositories|agents)\/n1\/|monitors\/events/.test(path)
const idOf = (item: Record<string, { name?: string } | string | number>) =>
  // Many records of the audit log are about one name.
  ('via' in item ? item.id : item.name) ??
  item.id ??
  item.itemKey ??
  item.number ??
  (item.metadata as { name: string }).name

const kindOf = (item: object) => (item as { kind: Kind }).kind

describe('every list', () => {
  it('is tested here', () => {
    expect(lists.length).toBeGreaterThanOrEqual(9)
  })

  it.each(lists)('%s has items and metadata, never null, also when it is empty [HTTP-020]', async (path) => {
    // A task that is not there has no events, plans, messages and trace.
    const elsewhere = path.replace(/\/tasks\/n1\/(events|plan\/history|messages|trace)$/, '/tasks/n1/children')
    // A session that nobody has spoken in is there.
    const empty = path.startsWith('/api/v1/sessions/') ? 'default' : 'empty'
    const answer = await read(elsewhere, `namespace=${isKept(path) ? 'unused' : empty}`)
    expect(answer.statusCode).toBe(200)
    const body = answer.json()
    expect(body.metadata).toEqual({})
    expect(body.items.filter((item: { builtin?: boolean }) => item.builtin !== true)).toEqual([])
  })

  it.each(lists)(
    '%s returns every entry once over pages of three, and at most three at a time [HTTP-021]',
    async (path) => {
      const whole = (await read(path, 'limit=500')).json()
      const seen: unknown[] = []
      let cursor = ''
      for (let page = 0; page < 20; page++) {
        const answer = await read(path, `limit=3${cursor}`)
        expect(answer.statusCode).toBe(200)
        const { items, metadata } = answer.json()
        expect(items.length).toBeLessThanOrEqual(3)
        seen.push(...items.map(idOf))
        if (metadata.continue === undefined) break
        cursor = `&continue=${encodeURIComponent(metadata.continue)}`
      }
      expect(seen).toEqual(whole.items.map(idOf))
      expect(new Set(seen).size).toBe(seen.length)
    },
  )

  it.each(lists)(
    '%s refuses a limit below 1 or one that is not a number, and treats more than 500 as 500 [HTTP-024]',
    async (path) => {
      for (const limit of ['0', '-1', 'ten', '1.5', '', '%20']) {
        const answer = await read(path, `limit=${limit}`)
        expect([limit, answer.statusCode, answer.json().error?.details?.[0]?.path]).toEqual([limit, 400, 'limit'])
      }
      expect((await read(path, 'limit=100000')).statusCode).toBe(200)
    },
  )

  it.each(lists)('%s refuses a cursor of another list [HTTP-022]', async (path) => {
    for (const cursor of ['x', 'AAAA', Buffer.from('{"a":1}').toString('base64url'), '%00']) {
      const answer = await read(path, `continue=${cursor}`)
      expect([cursor, answer.statusCode]).toEqual([cursor, 400])
      expect(answer.json().error.reason).toBe('InvalidRequest')
    }
  })
})

describe('lists of resources', () => {
  it('are in order of names, with the number of remaining items [HTTP-025]', async () => {
    const { items, metadata } = (await service.call('GET /api/v1/agents?limit=3')).json()
    expect(items.map(idOf)).toEqual(['n1', 'n2', 'n3'])
    expect(metadata.remainingItemCount).toBe(4)
  })

  it('have pages of 100 unless told otherwise, and of 500 at most [HTTP-023] [HTTP-024]', async () => {
    const created = Array.from({ length: 501 }, (_, number) =>
      service.call('POST /api/v1/tasks', { payload: aiTask(`m${number}`, { namespace: 'many' }) }),
    )
    await Promise.all(created)
    const count = async (query: string) =>
      (await service.call(`GET /api/v1/tasks?namespace=many${query}`)).json().items.length
    expect([await count(''), await count('&limit=9999'), await count('&limit=1')]).toEqual([100, 500, 1])
  })

  it('return exactly the stored objects, as single reads do, with their length in bytes', async () => {
    const tricky = 'é 😀 "iteration":7, \u0000 \u2028 ],"metadata":{'
    for (const name of ['t1', 't2']) {
      await service.call('POST /api/v1/tasks', { payload: aiTask(name, { namespace: 'exact', prompt: tricky }) })
    }
    const { items } = await service.ports.resources.list('Task', { namespace: 'exact' })
    const page = await service.call('GET /api/v1/tasks?namespace=exact')
    expect(page.body).toBe(JSON.stringify({ items, metadata: {} }))
    const one = await service.call('GET /api/v1/tasks/t2?namespace=exact')
    expect(one.body).toBe(JSON.stringify(items[1]))
    for (const answer of [page, one]) {
      expect(answer.headers['content-length']).toBe(String(Buffer.byteLength(answer.body)))
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    }
    const cut = (await service.call('GET /api/v1/tasks?namespace=exact&limit=1')).json()
    expect(cut.items).toEqual(items.slice(0, 1))
    expect(cut.metadata).toEqual({ continue: expect.any(String), remainingItemCount: 1 })
  })

  it('have summaries of the same objects, in the same order and on the same pages', async () => {
    for (const path of ['tasks', 'agents', 'providers']) {
      const full = (await service.call(`GET /api/v1/${path}?limit=3`)).json()
      const summary = (await service.call(`GET /api/v1/${path}?limit=3&view=summary`)).json()
      expect(summary.items).toEqual(full.items.map((item: object) => summarize(kindOf(item), item)))
      expect(JSON.stringify(summary.items)).not.toContain('say hello')
      expect(summary.metadata).toEqual(full.metadata)
      const next = encodeURIComponent(full.metadata.continue)
      expect((await service.call(`GET /api/v1/${path}?view=summary&continue=${next}`)).json().items).toHaveLength(4)
    }
  })

  it('refuse a cursor from another filter [HTTP-025]', async () => {
    const first = (await service.call('GET /api/v1/tasks?limit=2')).json()
    const cursor = encodeURIComponent(first.metadata.continue)
    expect((await service.call(`GET /api/v1/tasks?limit=2&type=ai&continue=${cursor}`)).statusCode).toBe(400)
    expect((await service.call(`GET /api/v1/agents?limit=2&continue=${cursor}`)).statusCode).toBe(400)
  })
})

describe('lists of records', () => {
  it('are newest first: sessions and the timeline [HTTP-026] [SESS-006]', async () => {
    const sessions = (await service.call('GET /api/v1/sessions')).json().items.map(idOf)
    expect(sessions).toEqual(['n7', 'n6', 'n5', 'n4', 'n3', 'n2', 'n1'])
    const events = (await service.call('GET /api/v1/tasks/n1/events?limit=2')).json().items
    expect(events.map((event: { id: number }) => event.id)).toEqual([7, 6])
  })
})

describe('the list of tools', () => {
  it('has the built-in ones first and on the first page only [TOOL-020]', async () => {
    const first = (await service.call('GET /api/v1/tools?limit=6')).json()
    expect(first.items.map((tool: { builtin: boolean }) => tool.builtin)).toEqual([true, true, true, true, true, false])
    const second = (await service.call(`GET /api/v1/tools?limit=6&continue=${first.metadata.continue}`)).json()
    expect(second.items.map((tool: { name: string }) => tool.name)).toEqual(['n2', 'n3', 'n4', 'n5', 'n6', 'n7'])
  })
})
