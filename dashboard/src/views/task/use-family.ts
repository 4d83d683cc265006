// The family of a task: from the first task, which no other one made, down to the last; live.
import { useQueries, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { growTree, type TreeNode } from '../../../../src/client/task-tree.ts'
import { getTask } from '../../../../src/contract/api/tasks/tasks.ts'
import { parentOf } from '../../../../src/contract/kinds/tasks/family.ts'
import type { Task } from '../../../../src/contract/kinds/tasks/task.ts'
import { api } from '../../data/api.ts'
import type { ListData } from '../../data/list-changes.ts'
import { listQuery } from '../../data/lists.ts'
import { useObject } from '../../data/records.ts'
import type { SummaryOf } from '../../data/summary.ts'

export type FamilyTask = SummaryOf<'Task'>
export type FamilyPlace = TreeNode<FamilyTask>

/** Whatever a store says, a walk to the top ends. */
const deepest = 50

/** The name of the first task. Owners do not change. */
async function findRoot(task: Task): Promise<string> {
  let root = task
  for (let level = 0; level < deepest; level += 1) {
    const parent = parentOf(root)
    if (parent === undefined) return root.metadata.name
    const { namespace } = root.metadata
    root = await api().call(getTask, { params: { id: parent.name }, query: { namespace } })
  }
  return root.metadata.name
}

/** A command makes no tasks. */
const mayHaveChildren = ({ spec }: FamilyTask) => spec?.type !== 'container'

/** The children of each task that may have some; the names grow level by level. */
function useDescendants(namespace: string, root: FamilyTask | undefined) {
  const [names, setNames] = useState<string[]>([])
  const lists = useQueries({
    queries: names.map((parent) => listQuery('Task', { namespace, parent, sort: 'created' }, Number.POSITIVE_INFINITY)),
  })
  const tasks = lists.flatMap(({ data }) => ((data as ListData | undefined)?.items ?? []) as unknown as FamilyTask[])
  const parents = [...(root === undefined ? [] : [root]), ...tasks].filter(mayHaveChildren)
  const wanted = [...new Set(parents.map(({ metadata }) => metadata.name))]
  const key = wanted.join(' ')
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is the names as text
  useEffect(() => setNames(wanted), [key])
  return { tasks, isLoading: lists.some((list) => list.isLoading), error: lists.find(({ error }) => error)?.error }
}

export function useFamily(task: Task) {
  const { namespace, uid } = task.metadata
  const top = useQuery({ queryKey: ['root', uid], queryFn: () => findRoot(task) })
  const name = top.data ?? task.metadata.name
  const root = useObject('Task', getTask, { namespace, name })
  const first = root.data as FamilyTask | undefined
  const { tasks, isLoading, error } = useDescendants(namespace, top.data === undefined ? undefined : first)
  const places = first === undefined ? [] : growTree(first, tasks)
  return {
    places: places as FamilyPlace[],
    isLoading: top.isLoading || root.isLoading || (isLoading && places.length <= 1),
    error: top.error ?? root.error ?? error ?? null,
  }
}
