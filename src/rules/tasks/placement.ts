// Where on a cluster an attempt may run: each field of the task, or else of its agent.
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { Execution } from '../../contract/kinds/tasks/execution.ts'
import type { Task, TaskSpec } from '../../contract/kinds/tasks/task.ts'
import type { Problem } from '../../errors.ts'

export function choosePlacement(task: Task, agent: Agent | undefined): Omit<Execution, 'workspace'> {
  const { workspace: _, ...placement } = { ...agent?.spec.execution, ...task.spec.execution }
  return placement
}

const fields = ['runtimeClassName', 'nodeSelector', 'tolerations', 'affinity'] as const
const advice = 'has a meaning on a cluster only, and this service runs on one machine; remove it'

/** The fields of a spec that only have a meaning on a cluster; paths are relative to the spec. */
export function findPlacement({
  execution = {},
  resources = {},
}: Pick<TaskSpec, 'execution' | 'resources'>): Problem[] {
  const placed = fields.filter((field) => execution[field] !== undefined).map((field) => `execution.${field}`)
  const extended = (['requests', 'limits'] as const).flatMap((part) =>
    Object.keys(resources[part] ?? {})
      .filter((name) => !isComputed(name))
      .map((name) => `resources.${part}[${JSON.stringify(name)}]`),
  )
  return [...placed, ...extended].map((path) => ({ path, message: advice }))
}

/** The resource names that limits cover in every mode. */
export function isComputed(name: string): boolean {
  return ['cpu', 'memory', 'ephemeral-storage'].includes(name)
}
