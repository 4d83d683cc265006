// Which tasks belong to which.
import { parentOf, type TaskIdentity } from '../contract/family.ts'
import type { Task } from '../contract/resources/task.ts'

export { parentOf } from '../contract/family.ts'

export function isChildOf(child: Task, parent: TaskIdentity): boolean {
  return parentOf(child)?.uid === parent.uid
}
