import { expect, it } from 'vitest'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import type { ReconcileContext } from './context.ts'
import { noteOpenChildren } from './feed.ts'

it.each([
  ['Running', ['team/parent']],
  ['Succeeded', []],
] as const)('a parent found with a child that is %s has its children looked at: %j', (phase, looked) => {
  const changedParents = new Set<string>()
  const enqueued: string[] = []
  const parent = {
    metadata: { namespace: 'team', name: 'parent' },
    status: { phase: 'Succeeded', childTasks: [{ name: 'child', phase }] },
  } as unknown as Task
  noteOpenChildren({ state: { changedParents } } as ReconcileContext, parent, (key) => enqueued.push(key))
  expect([[...changedParents], enqueued]).toEqual([looked, looked])
})
