// The tree of a coordination run: a task, the tasks that it made, and so on, from the tasks of a namespace.
import type { ObjectMeta } from '../contract/kinds/resources/metadata.ts'
import { parentOf } from '../contract/kinds/tasks/family.ts'

type Member = {
  metadata: Pick<ObjectMeta, 'uid' | 'creationTimestamp'> & { ownerReferences?: ObjectMeta['ownerReferences'] }
}

export type TreeNode<T> = {
  task: T
  /** 1 for the root, as `aria-level` counts. */
  level: number
  /** Its place among its siblings, from 1, and how many these are. */
  position: number
  siblings: number
  /** The lines of the tree that stand before its name. */
  lead: string
}

function byAge(one: Member, other: Member): number {
  const key = ({ metadata }: Member) => `${metadata.creationTimestamp} ${metadata.uid}`
  return key(one) < key(other) ? -1 : 1
}

function groupByParent<T extends Member>(tasks: Iterable<T>): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const task of tasks) {
    const parent = parentOf(task)?.uid
    if (parent !== undefined) groups.set(parent, [...(groups.get(parent) ?? []), task])
  }
  return groups
}

/** The task first, each of its children above theirs, oldest first. */
export function growTree<T extends Member>(root: T, tasks: Iterable<T>): TreeNode<T>[] {
  const groups = groupByParent(tasks)
  const rows: TreeNode<T>[] = [{ task: root, level: 1, position: 1, siblings: 1, lead: '' }]
  const grow = (parent: T, level: number, before: string): void => {
    const children = (groups.get(parent.metadata.uid) ?? []).toSorted(byAge)
    // Whatever a store says, nothing is its own descendant.
    groups.delete(parent.metadata.uid)
    for (const [at, task] of children.entries()) {
      const isLast = at === children.length - 1
      const branch = { level, position: at + 1, siblings: children.length }
      rows.push({ task, ...branch, lead: `${before}${isLast ? '└─ ' : '├─ '}` })
      grow(task, level + 1, `${before}${isLast ? '   ' : '│  '}`)
    }
  }
  grow(root, 2, '')
  return rows
}
