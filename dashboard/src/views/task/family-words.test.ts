import { describe, expect, it } from 'vitest'
import { growTree } from '../../../../src/client/task-tree.ts'
import { apiVersion } from '../../../../src/contract/kinds/resources/metadata.ts'
import { describeFamily, listShown, stepInTree } from './family-words.ts'
import type { FamilyTask } from './use-family.ts'

function make(name: string, parent?: string): FamilyTask {
  const owner = { apiVersion, kind: 'Task', name: parent ?? '', uid: parent ?? '', controller: true }
  const metadata = {
    name,
    namespace: 'default',
    uid: name,
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: '2030-01-01T00:00:00Z',
    ...(parent !== undefined && { ownerReferences: [owner] }),
  }
  const usage = { inputTokens: 1000, outputTokens: 50, cachedTokens: 0, llmCalls: 1, cost: 0.25, currency: 'USD' }
  return { apiVersion, kind: 'Task', metadata, status: { phase: name === 'c' ? 'Running' : 'Succeeded', usage } }
}

const root = make('a')
const places = growTree(root, [make('b', 'a'), make('c', 'a'), make('b1', 'b')])

describe('the family of a task', () => {
  it('counts what all of it has used', () => {
    expect(describeFamily(places)).toBe('4 tasks: 3 succeeded, 1 running; 4,200 tokens; 1 USD')
  })

  it('hides what is below a closed task', () => {
    const names = (closed: string[]) => listShown(places, new Set(closed)).map(({ task }) => task.metadata.name)
    expect([names([]), names(['b']), names(['a'])]).toEqual([['a', 'b', 'b1', 'c'], ['a', 'b', 'c'], ['a']])
  })

  it('is walked by the keys of a tree', () => {
    const open = new Set<string>()
    const step = (key: string, at: number) => stepInTree(key, at, places, open)
    expect([step('ArrowDown', 0), step('ArrowDown', 3), step('ArrowUp', 0), step('End', 0)]).toEqual(
      [1, 3, 0, 3].map((to) => ({ to })),
    )
    expect([step('ArrowRight', 1), step('ArrowRight', 3), step('ArrowLeft', 3)]).toEqual([
      { to: 2 },
      undefined,
      { to: 0 },
    ])
    expect(step('ArrowLeft', 1)).toEqual({ close: 'b' })
    const closed = new Set(['b'])
    expect(stepInTree('ArrowRight', 1, listShown(places, closed), closed)).toEqual({ open: 'b' })
  })
})
