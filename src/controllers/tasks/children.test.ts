import { expect, it } from 'vitest'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { readLastChildTasks, updateChildTasks } from './children.ts'
import type { ReconcileContext } from './context.ts'

it('looks at changed children again until a status that tells of them was written', async () => {
  const parent = { metadata: { namespace: 'team', name: 'parent', uid: 'u' }, spec: {} } as Task
  const changedParents = new Set(['team/parent'])
  const told: unknown[] = []
  let isAway = true
  const context = {
    state: { changedParents },
    resources: { list: async () => ({ items: [] }) },
    recorder: {
      async write(task: Task, change: unknown) {
        if (isAway) throw new Error('away')
        told.push(change)
        return task
      },
    },
  } as unknown as ReconcileContext
  expect(await readLastChildTasks(context, parent)).toEqual({ childTasks: undefined })
  await expect(updateChildTasks(context, parent)).rejects.toThrow('away')
  isAway = false
  await updateChildTasks(context, parent)
  expect(told).toEqual([{ childTasks: undefined }])
  expect(changedParents.size).toBe(0)
})
