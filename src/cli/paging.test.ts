import { describe, expect, it } from 'vitest'
import { pageOf, recordContext } from '../../test/fixtures/cli/recording-context.ts'
import type { CallInput } from '../client/client.ts'
import type { Route } from '../contract/api/route.ts'
import { listTasks } from '../contract/api/tasks.ts'
import { listNewest, listPages } from './paging.ts'

const serve = ({ query }: CallInput<Route>) => {
  const { continue: next, limit } = query as { continue?: string; limit: number }
  const first = Number(next ?? 0)
  const items = Array.from({ length: limit }, (_, index) => first + index).filter((number) => number < 1200)
  return pageOf(items, first + limit < 1200 ? String(first + limit) : undefined)
}

async function list(limit?: number) {
  const { context, calls } = recordContext({ answers: { 'GET /api/v1/tasks': serve } })
  const client = await context.connect({ output: 'table', settings: {} })
  const listed = await listPages<number>(client, listTasks, { query: {}, ...(limit === undefined ? {} : { limit }) })
  return { ...listed, pages: calls.length }
}

describe('a list over pages', () => {
  it('has everything there is', async () => {
    const { items, hasMore, pages } = await list()
    expect(items).toHaveLength(1200)
    expect(new Set(items).size).toBe(1200)
    expect({ hasMore, pages }).toEqual({ hasMore: false, pages: 3 })
  })

  it('ends at the limit and says that there is more', async () => {
    const { items, hasMore, pages } = await list(700)
    expect(items).toHaveLength(700)
    expect({ hasMore, pages }).toEqual({ hasMore: true, pages: 2 })
  })
})

describe('a list of the newest', () => {
  const ages = [3, 1, 2, 5, 4].flatMap((second) => Array.from({ length: 300 }, (_, index) => ({ second, index })))
  const objects = ages.map(({ second, index }) => ({
    metadata: {
      name: `${second}-${index}`,
      creationTimestamp: `2030-01-01T00:00:0${second}Z`,
      uid: String(index).padStart(4, '0'),
    },
  }))
  const servePage = ({ query }: CallInput<Route>) => {
    const { continue: next = '0', limit } = query as { continue?: string; limit: number }
    const end = Number(next) + limit
    return pageOf(objects.slice(Number(next), end), end < objects.length ? String(end) : undefined)
  }
  const listSome = async (answer: unknown, limit?: number) => {
    const { context } = recordContext({ answers: { 'GET /api/v1/tasks': answer } })
    const client = await context.connect({ output: 'table', settings: {} })
    const options = { query: {}, ...(limit === undefined ? {} : { limit }) }
    return listNewest<(typeof objects)[number]>(client, listTasks, options)
  }
  const namesOf = (items: typeof objects) => items.map(({ metadata }) => metadata.name)

  it('finds them on whichever page they lie, and says that there is more', async () => {
    const { items, hasMore } = await listSome(servePage, 2)
    expect({ names: namesOf(items), hasMore }).toEqual({ names: ['5-299', '5-298'], hasMore: true })
  })

  it('has everything where no limit is given', async () => {
    const { items, hasMore } = await listSome(servePage)
    expect([items.length, hasMore, namesOf(items).at(0), namesOf(items).at(-1)]).toEqual([1500, false, '5-299', '1-0'])
  })

  it('goes by the time before the uid, and leaves what has no time ahead in its order', async () => {
    const dated = (name: string, time: string, uid: string) => ({ metadata: { name, creationTimestamp: time, uid } })
    const items = [
      dated('old', '2030-01-01T00:00:00Z', 'f'),
      { name: 'built-in-a' },
      dated('new', '2030-01-02T00:00:00Z', 'a'),
      { name: 'built-in-b' },
      { name: 'newest', createdAt: '2030-01-03T00:00:00Z' },
    ]
    const listed = await listSome(pageOf(items, undefined))
    expect(listed.items).toEqual([items[1], items[3], items[4], items[2], items[0]])
  })
})
