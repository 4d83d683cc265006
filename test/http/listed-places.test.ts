// Where lists look: in one namespace or in all that the caller may list; and in which order they are.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Access } from '../../src/contract/api/identity/access.ts'
import { routes } from '../../src/contract/api/index.ts'
import type { Authorizer } from '../../src/ports/identity/identity.ts'
import { aiTask, type Service, startService } from './service.ts'

const namespaces = ['default', 'one', 'two']
/** Namespaces that the place where resources live lets anybody list; `everywhere`: all of them at once. */
let listable: string[]
const asked: Access[] = []
const authorizer: Authorizer = {
  async authorize(_caller, access) {
    asked.push(access)
    if (access.verb !== 'list') return { allowed: true }
    return listable.includes(access.namespace ?? 'everywhere')
      ? { allowed: true }
      : { allowed: false, reason: `not in ${access.namespace ?? 'all namespaces'}` }
  },
}

/** Asked of no code host and no reviewer: only its place is looked for. */
const monitor = { repoURL: 'https://github.com/acme/widgets', agents: { reviewer: { name: 'a' } } }

let service: Service
let bound: string
beforeAll(async () => {
  service = await startService({ identity: { authorizer } })
  listable = ['everywhere', ...namespaces]
  for (const namespace of namespaces) {
    const post = async (path: string, payload: object) => {
      const answer = await service.call(`POST /api/v1/${path}`, { payload: { namespace, ...payload } })
      expect(answer.statusCode).toBe(201)
    }
    for (const letter of ['b', 'a']) {
      const name = `${letter}-${namespace}`
      await post('tasks', aiTask(name))
      await post('agents', { name, spec: {} })
      await post('skills', { name, spec: { description: 'd', content: { inline: '# d' } } })
      await post('tools', { name, spec: { description: 'd', http: { url: 'https://example.com' } } })
      await post('providers', { name, spec: { type: 'llmo' } })
      const scan = { repoURL: 'https://github.com/a/b', analysisAgentRef: { name: 'a' } }
      await post('security/repositories', { name, spec: scan })
      await service.ports.resources.create('RepositoryMonitor', {
        metadata: { namespace, name },
        spec: monitor,
      } as never)
      await post('secrets', { name, stringData: { key: 'value' } })
      await post('configmaps', { name, data: {} })
      await service.ports.records.sessions.ensure({ namespace, name }, { create: true, sessionType: 'chat' })
    }
  }
  bound = (await service.ports.tokens.create({ name: 'bound', namespace: 'one', role: 'editor', serverTools: true }))
    .token
})
afterAll(() => service.stop())

// Pages of a list: a search has none, see transcripts.test.ts.
const lists = routes
  .filter(({ query }) => query !== undefined && 'allNamespaces' in query.shape && 'continue' in query.shape)
  .map((route) => route.path)
const sorted = routes
  .filter((route) => route.query !== undefined && 'sort' in route.query.shape && !route.path.includes(':'))
  .map((route) => route.path)

type Item = { builtin?: boolean; name?: string; metadata?: { name: string } }
const namesIn = (items: Item[]) =>
  items.filter((item) => item.builtin !== true).map((item) => item.metadata?.name ?? item.name)

/** Names on all pages of the list. */
async function read(path: string, query = '', token?: string): Promise<unknown[]> {
  const names: unknown[] = []
  let next = ''
  do {
    const answer = await service.call(`GET ${path}?limit=3${query}${next}`, token === undefined ? {} : { token })
    expect([path, answer.statusCode]).toEqual([path, 200])
    const { items, metadata } = answer.json()
    names.push(...namesIn(items))
    next = metadata.continue === undefined ? '' : `&continue=${encodeURIComponent(metadata.continue)}`
  } while (next !== '')
  return names
}
const all = ['a', 'b'].flatMap((letter) => namespaces.map((namespace) => `${letter}-${namespace}`))

describe('a list', () => {
  it('is tested here', () => {
    expect(lists.length).toBeGreaterThanOrEqual(8)
    expect(sorted.length).toBeGreaterThanOrEqual(7)
  })

  it.each(lists)(
    '%s covers the namespace that is named, else the caller’s own, and all namespaces when asked',
    async (path) => {
      listable = ['everywhere', ...namespaces]
      expect((await read(path, '&namespace=one')).toSorted()).toEqual(['a-one', 'b-one'])
      expect((await read(path)).toSorted()).toEqual(['a-default', 'b-default'])
      expect((await read(path, '&allNamespaces=true')).toSorted()).toEqual(all)
      expect((await read(path, '&allNamespaces=false')).toSorted()).toEqual(['a-default', 'b-default'])
      const both = await service.call(`GET ${path}?allNamespaces=true&namespace=one`)
      expect([both.statusCode, both.json().error.details[0].path]).toEqual([400, 'allNamespaces'])
    },
  )

  it.each(lists)('%s of all namespaces covers what a bound token may see, and no more', async (path) => {
    listable = ['everywhere', ...namespaces]
    expect((await read(path, '&allNamespaces=true', bound)).toSorted()).toEqual(['a-one', 'b-one'])
    expect((await service.call(`GET ${path}?namespace=two`, { token: bound })).statusCode).toBe(403)
  })

  it.each(lists)('%s of all namespaces leaves out those that the caller may not list', async (path) => {
    listable = ['default', 'two']
    asked.length = 0
    const names = await read(path, '&allNamespaces=true')
    expect(names.toSorted()).toEqual(['a-default', 'a-two', 'b-default', 'b-two'])
    expect(asked.every((access) => access.entry === true)).toBe(true)
    const first = (await service.call(`GET ${path}?limit=2&allNamespaces=true`)).json().metadata.continue ?? ''
    expect(Buffer.from(first, 'base64url').toString()).not.toContain('one')
    listable = []
    expect(await read(path, '&allNamespaces=true')).toEqual([])
    expect((await service.call(`GET ${path}?namespace=one`)).statusCode).toBe(403)
  })

  it('leaves out on its next page a namespace that may no longer be listed', async () => {
    listable = ['default', 'one', 'two']
    const first = (await service.call('GET /api/v1/tasks?limit=1&allNamespaces=true')).json()
    expect(namesIn(first.items)).toEqual(['a-default'])
    listable = ['default', 'two']
    const next = encodeURIComponent(first.metadata.continue)
    const rest = (await service.call(`GET /api/v1/tasks?allNamespaces=true&continue=${next}`)).json()
    expect(namesIn(rest.items)).toEqual(['b-default', 'a-two', 'b-two'])
  })

  it('of the children of a task covers one namespace', async () => {
    const answer = await service.call('GET /api/v1/tasks?allNamespaces=true&parent=a-one')
    expect([answer.statusCode, answer.json().error.details[0].path]).toEqual([400, 'parent'])
  })
})

describe('the order of a list', () => {
  it.each(sorted)('of %s is by name, or by creation, oldest or newest first', async (path) => {
    listable = ['everywhere', ...namespaces]
    // Times of creation are whole seconds; in SQLite what is made in one second is in the order it was made in.
    const byTime = ['a', 'b'].flatMap((letter) => namespaces.map((namespace) => `${letter}-${namespace}`))
    expect(await read(path, '&namespace=one')).toEqual(['a-one', 'b-one'])
    expect(await read(path, '&namespace=one&sort=name')).toEqual(['a-one', 'b-one'])
    const oldest = await read(path, '&allNamespaces=true&sort=created')
    expect(oldest.toSorted()).toEqual(byTime.toSorted())
    expect(await read(path, '&allNamespaces=true&sort=-created')).toEqual(oldest.toReversed())
    for (const sort of ['', 'age', '-name', 'CREATED']) {
      const answer = await service.call(`GET ${path}?sort=${sort}`)
      expect([sort, answer.statusCode, answer.json().error?.details?.[0]?.path]).toEqual([sort, 400, 'sort'])
    }
  })

  it('by creation is the order in which the objects were stored', async () => {
    listable = ['everywhere', ...namespaces]
    const made = namespaces.flatMap((namespace) => [`b-${namespace}`, `a-${namespace}`])
    for (const path of ['/api/v1/tasks', '/api/v1/agents', '/api/v1/providers', '/api/v1/skills', '/api/v1/tools']) {
      expect(await read(path, '&allNamespaces=true&sort=created')).toEqual(made)
    }
  })
})
