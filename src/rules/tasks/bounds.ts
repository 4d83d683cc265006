// What a task may reach and where it is placed: bounds are annotations that nobody but the service can set.
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { Execution } from '../../contract/kinds/tasks/execution.ts'
import type { Task, TaskSpec } from '../../contract/kinds/tasks/task.ts'
import type { Problem } from '../../errors.ts'
import { tryParseJson } from '../../lib/json.ts'

export function choosePlacement(task: Task, agent: Agent | undefined): Omit<Execution, 'workspace' | 'isolation'> {
  const { workspace: _, isolation: _isolation, ...placement } = { ...agent?.spec.execution, ...task.spec.execution }
  return placement
}

const fields = ['runtimeClassName', 'nodeSelector', 'tolerations', 'affinity', 'queue'] as const
const advice = 'has a meaning on a cluster only, and this service runs on one machine; remove it'

/** The fields of a spec that only have a meaning on a cluster; paths are relative to the spec. */
export function findPlacement({
  execution = {},
  resources = {},
}: Pick<TaskSpec, 'execution' | 'resources'>): Problem[] {
  const placement = fields.filter((field) => execution[field] !== undefined).map((field) => `execution.${field}`)
  const extended = (['requests', 'limits'] as const).flatMap((part) =>
    Object.keys(resources[part] ?? {})
      .filter((name) => !isComputed(name))
      .map((name) => `resources.${part}[${JSON.stringify(name)}]`),
  )
  return [...placement, ...extended].map((path) => ({ path, message: advice }))
}

/** The resource names that limits cover in every mode. */
export function isComputed(name: string): boolean {
  return ['cpu', 'memory', 'ephemeral-storage'].includes(name)
}

type Marked = Pick<Task, 'metadata'>

export const networkAnnotation = 'svc.ai/network'
export const confinedAnnotation = 'svc.ai/confined'
/** Of the changes of the task before it, only those of these files: a JSON list of paths. */
export const priorPathsAnnotation = 'svc.ai/prior-paths'

/** Whether the code of the task may open connections. */
export function hasNetwork({ metadata }: Marked): boolean {
  return metadata.annotations?.[networkAnnotation] !== 'none'
}

/** Whether it has only the tools that its own spec names, and no memories. */
export function isConfined({ metadata }: Marked): boolean {
  return metadata.annotations?.[confinedAnnotation] === 'true'
}

/** Absent: all of them. */
export function priorPathsOf({ metadata }: Marked): string[] | undefined {
  const paths = metadata.annotations?.[priorPathsAnnotation]
  return paths === undefined ? undefined : (tryParseJson(paths) as string[])
}
