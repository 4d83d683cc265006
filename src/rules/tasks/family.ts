// Which tasks belong to which.
import { parentOf, type TaskIdentity } from '../../contract/kinds/tasks/family.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'

export { parentOf } from '../../contract/kinds/tasks/family.ts'

export function isChildOf(child: Task, parent: TaskIdentity): boolean {
  return parentOf(child)?.uid === parent.uid
}
