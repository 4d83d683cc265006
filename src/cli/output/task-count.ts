// How many tasks of a phase there are, for people: beyond one page nobody needs the number.
import type { Client } from '../../client/client.ts'
import { listTasks } from '../../contract/api/tasks/tasks.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'

const most = 500

/** Between 0 and 500, which stands for all that are more. `query` says where. */
export async function countTasks(
  client: Client,
  query: { phase: NonNullable<Task['status']>['phase']; namespace?: string; allNamespaces?: boolean },
): Promise<number> {
  const page = await client.call(listTasks, { query: { ...query, limit: most } })
  return page.items.length
}

/** "1 task", "500 or more tasks". */
export function describeCount(count: number): string {
  return count >= most ? `${most} or more tasks` : `${count} task${count === 1 ? '' : 's'}`
}
