// Which tasks of each agent have not ended, and when each agent was last used; derived from task events.
import { isTerminalPhase, type Task } from '../../contract/kinds/tasks/task.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ResourceReader } from '../../ports/resources/resources.ts'
import type { Source } from '../engine/controller.ts'
import { formatKey } from '../engine/key.ts'
import { createKindSource, type Observation } from '../engine/kind-source.ts'

export type Activity = {
  /** Pending and Running tasks. */
  activeTasks: number
  /** Whether it has tasks that have not ended, including scheduled ones: it must stay. */
  isNeeded: boolean
  lastUsed: Date | undefined
}

export type AgentActivity = {
  source: Source
  of(agentKey: string): Activity
  /** Whether all tasks are known, so that "none" can be trusted. */
  isComplete(): boolean
  /** The agent was deleted. */
  forget(agentKey: string): void
  clear(): void
}

/** A burst of tasks causes a single look at the agent. */
const settleMs = 1000

function agentKeyOf(task: Task): string | undefined {
  const reference = task.spec.agentRef
  return reference && formatKey({ namespace: reference.namespace ?? task.metadata.namespace, name: reference.name })
}

function lastUseOf({ metadata, status }: Task): number {
  return Date.parse(status?.completionTime ?? status?.startTime ?? metadata.creationTimestamp)
}

export function createAgentActivity(deps: { resources: ResourceReader; clock: Clock }): AgentActivity {
  const open = new Map<string, Map<string, Task['status']>>()
  const used = new Map<string, number>()
  let complete = false

  function note({ type, object }: Observation<Task>): string | undefined {
    const agent = agentKeyOf(object)
    if (agent === undefined) return undefined
    const tasks = open.get(agent) ?? new Map()
    const isOpen = type !== 'DELETED' && !isTerminalPhase(object.status?.phase)
    if (isOpen) open.set(agent, tasks.set(object.metadata.uid, object.status))
    else if (tasks.delete(object.metadata.uid) && tasks.size === 0) open.delete(agent)
    used.set(agent, Math.max(used.get(agent) ?? 0, lastUseOf(object)))
    return agent
  }

  const source = createKindSource({
    ...deps,
    kind: 'Task',
    first: [{ phase: 'Running' }, { phase: 'Pending' }, { phase: 'Scheduled' }],
    onFirst: () => {
      complete = true
    },
    resync: [],
    onObject(observation, enqueue) {
      const agent = note(observation)
      if (agent !== undefined) enqueue(agent, settleMs)
    },
  })

  return {
    source,
    of(agentKey) {
      const tasks = [...(open.get(agentKey)?.values() ?? [])]
      const last = used.get(agentKey)
      return {
        activeTasks: tasks.filter((status) => status?.phase !== 'Scheduled').length,
        isNeeded: tasks.length > 0,
        lastUsed: last === undefined ? undefined : new Date(last),
      }
    },
    isComplete: () => complete,
    forget: (agentKey) => void used.delete(agentKey),
    clear() {
      open.clear()
      used.clear()
      complete = false
    },
  }
}
