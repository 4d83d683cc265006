import { describe, expect, it } from 'vitest'
import * as tasks from '../src/contract/api/tasks/tasks.ts'
import { writeContractModule } from './contract-routes.ts'

async function load(module: object): Promise<Record<string, unknown>> {
  const text = writeContractModule({ ...module })
  return (await import(`data:text/javascript,${encodeURIComponent(text)}`)) as Record<string, unknown>
}

describe('what a browser gets of the contract', () => {
  it('is where each route is, whether it answers JSON and which right it asks for, and no schema', async () => {
    const loaded = await load(tasks)
    expect(loaded.getTask).toEqual({
      method: 'GET',
      path: '/api/v1/tasks/:id',
      responses: { 200: { schema: {} } },
      verb: { verb: 'get', kind: 'Task' },
    })
    expect(loaded.deleteTask).toEqual({
      method: 'DELETE',
      path: '/api/v1/tasks/:id',
      responses: {},
      verb: { verb: 'delete', kind: 'Task' },
    })
    expect(loaded).not.toHaveProperty('TaskListQuery')
  })

  it('is every list of words and number besides, and no function', async () => {
    const given = { words: ['a', 'b'], count: 3, table: { a: [1] }, made: () => 1, when: new Date() }
    expect({ ...(await load(given)) }).toEqual({ words: ['a', 'b'], count: 3, table: { a: [1] } })
  })
})
