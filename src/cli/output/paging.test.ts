import { describe, expect, it } from 'vitest'
import { pageOf, recordContext } from '../../../test/fixtures/cli/recording-context.ts'
import type { CallInput } from '../../client/client.ts'
import type { Route } from '../../contract/api/resources/route.ts'
import { listTasks } from '../../contract/api/tasks/tasks.ts'
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
  it('returns every item of all pages', async () => {
    const { items, hasMore, pages } = await list()
    expect(items).toHaveLength(1200)
    expect(new Set(items).size).toBe(1200)
    expect({ hasMore, pages }).toEqual({ hasMore: false, pages: 3 })
  })

  it('ends at the limit and says that there are more', async () => {
    const { items, hasMore, pages } = await list(700)
    expect(items).toHaveLength(700)
    expect({ hasMore, pages }).toEqual({ hasMore: true, pages: 2 })
  })
})

describe('a list of the newest', () => {
  it('is requested in that order, and no further than it is shown', async () => {
    const { context, calls } = recordContext({ answers: { 'GET /api/v1/tasks': serve } })
    const client = await context.connect({ output: 'table', settings: {} })
    const { items, hasMore } = await listNewest<number>(client, listTasks, { query: { phase: 'Failed' }, limit: 7 })
    expect({ items, hasMore }).toEqual({ items: [0, 1, 2, 3, 4, 5, 6], hasMore: true })
    expect(calls.map(({ input }) => input?.query)).toEqual([
      { phase: 'Failed', sort: '-created', limit: 7, continue: undefined },
    ])
  })
})
