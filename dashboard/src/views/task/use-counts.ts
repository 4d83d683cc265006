// How much there is on the tabs of a task, which says whether a tab is there at all.
import { useEffect } from 'react'
import { getTaskNetwork } from '../../../../src/contract/api/tasks/network.ts'
import {
  listTaskArtifacts,
  listTaskInputs,
  listTaskPlans,
  type TaskDetail,
} from '../../../../src/contract/api/tasks/tasks.ts'
import { useObjectRecord } from '../../data/records.ts'
import { isOver, type TaskPlace } from './place.ts'
import { countChanges, readResult } from './result.ts'
import { type ResultOf, useResult } from './use-result.ts'

export type Counts = { files: number; changes: number | undefined; plans: number; hosts: number }

export const hasAttempt = ({ status }: TaskDetail) => (status?.attempts ?? 0) > 0

export function hasPlan({ plan, status }: TaskDetail): boolean {
  return plan !== undefined || status?.iteration !== undefined
}

/** Counts change without the task; they are read again while it runs. */
const readEveryMs = 5000

const hasPrograms = (task: TaskDetail) => task.spec.type !== 'ai' && hasAttempt(task)

/** How many hosts there are, once an attempt with programs has begun. */
function useHostCount({ task, place }: ResultOf): number {
  const isLive = hasPrograms(task) && !isOver(task)
  const { data, refetch } = useObjectRecord('Task', getTaskNetwork, place, { isEnabled: hasPrograms(task) })
  useEffect(() => {
    if (!isLive) return
    const timer = setInterval(() => void refetch(), readEveryMs)
    return () => clearInterval(timer)
  }, [isLive, refetch])
  return data?.hosts.length ?? 0
}

/** As far as it was read. */
export function useCounts(task: TaskDetail, place: TaskPlace): Counts {
  const files = useObjectRecord('Task', listTaskArtifacts, place, { isEnabled: hasAttempt(task) })
  const plans = useObjectRecord('Task', listTaskPlans, place, { query: { limit: 200 }, isEnabled: hasPlan(task) })
  const inputs = useObjectRecord('Task', listTaskInputs, place, { isEnabled: task.spec.type !== 'container' })
  const hosts = useHostCount({ task, place })
  const { text } = useResult({ task, place })
  return {
    files: (files.data?.items.length ?? 0) + (inputs.data?.items.length ?? 0),
    plans: plans.data?.items.length ?? 0,
    hosts,
    changes: text === undefined ? undefined : countChanges(readResult(text)),
  }
}
