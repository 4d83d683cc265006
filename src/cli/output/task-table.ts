// The columns of task lists.
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { type Column, formatAge, formatLabels } from './output.ts'

export const taskColumns = (now: Date): Column<Task>[] => [
  { title: 'NAMESPACE', wide: true, value: (task) => task.metadata.namespace },
  { title: 'NAME', value: (task) => task.metadata.name },
  { title: 'TYPE', value: (task) => task.spec.type },
  { title: 'PHASE', value: (task) => task.status?.phase ?? 'Pending' },
  { title: 'ATTEMPTS', value: (task) => task.status?.attempts ?? 0 },
  { title: 'AGENT', wide: true, value: (task) => task.spec.agentRef?.name },
  { title: 'PROVIDER', wide: true, value: (task) => task.spec.ai?.providerRef?.name },
  { title: 'MODEL', wide: true, value: (task) => task.spec.ai?.model },
  { title: 'SCHEDULE', wide: true, value: (task) => task.spec.schedule },
  { title: 'LABELS', wide: true, value: (task) => formatLabels(task.metadata.labels) },
  { title: 'AGE', value: (task) => formatAge(task.metadata.creationTimestamp, now) },
  { title: 'MESSAGE', value: (task) => task.status?.message },
]
