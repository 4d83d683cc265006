import { expect, it } from 'vitest'
import type { Task } from '../contract/kinds/tasks/task.ts'
import { parentAnnotation } from '../rules/tasks/schedule.ts'
import { listAncestors } from './lineage.ts'

const nothing = { get: async () => undefined }
const make = (metadata: object) => ({ metadata: { name: 'one', namespace: 'default', ...metadata } }) as Task

it('a task that another one made has somebody above it, also where its owner was taken away', async () => {
  expect(await listAncestors(nothing, make({ annotations: { [parentAnnotation]: 'up' } }))).toEqual([undefined])
  expect(await listAncestors(nothing, make({ annotations: {} }))).toEqual([])
})
