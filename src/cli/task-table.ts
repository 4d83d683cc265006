// How tasks are listed.
import type { Task } from '../contract/resources/task.ts'
import { type Column, formatAge } from './output.ts'

export const taskColumns = (now: Date): Column<Task>[] => [
  { title: 'NAME', value: (task) => task.metadata.name },
  { title: 'TYPE', value: (task) => task.spec.type },
  { title: 'PHASE', value: (task) => task.status?.phase ?? 'Pending' },
  { title: 'ATTEMPTS', value: (task) => task.status?.attempts ?? 0 },
  { title: 'AGE', value: (task) => formatAge(task.metadata.creationTimestamp, now) },
  { title: 'MESSAGE', value: (task) => task.status?.message },
]
