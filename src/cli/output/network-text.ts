// The network of a task in words.
import type { TaskNetwork } from '../../contract/api/tasks/network.ts'

type Rules = NonNullable<TaskNetwork['network']>

const sources: Record<Rules['from'], string> = {
  task: 'the task itself says so',
  agent: 'its agent says so',
  namespace: 'its namespace says so',
  service: 'the service says so',
}

const above: Record<Rules['from'], string> = {
  task: 'which says so itself',
  agent: 'whose agent says so',
  namespace: 'whose namespace says so',
  service: 'as the service says',
}

function describeNarrowing({ narrowedBy }: Rules): string {
  if (narrowedBy === undefined) return ''
  const { task, from } = narrowedBy
  return task === undefined
    ? ', narrowed: a task above it is gone'
    : `, narrowed by task ${task} above it, ${above[from]}`
}

const others: Record<Rules['onUnknown'], string> = {
  refuse: 'other hosts are refused',
  ask: 'a person is asked about other hosts',
  allow: 'other hosts are allowed, and counted',
}

/** What applies, in one line, and who says so. */
export function describeNetwork({ network }: Pick<TaskNetwork, 'network'>): string {
  if (network === undefined) return 'none, it runs no programs'
  const { allow, onUnknown, from, within } = network
  if (allow.includes('open')) return `open, that of the machine or pod (${sources[from]})`
  const list = allow.length === 0 ? 'none' : allow.join(', ')
  const narrowed = within === undefined ? '' : `; of these only ${within.join(', ') || 'none'}, by its context`
  return `${list}; ${others[onUnknown]}${narrowed} (${sources[from]}${describeNarrowing(network)})`
}
