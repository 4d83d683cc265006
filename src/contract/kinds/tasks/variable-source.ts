// Sources of variables besides Secrets and config maps: the task itself and its limits, named as in a pod.
import type { Problem } from '../../../errors.ts'
import { tryParseQuantity } from '../../values/quantity.ts'
import type { ObjectMeta } from '../resources/metadata.ts'
import type { EnvVar } from './execution.ts'

type Named = { metadata: ObjectMeta }

const fields: Record<string, (task: Named) => string> = {
  'metadata.name': (task) => task.metadata.name,
  'metadata.namespace': (task) => task.metadata.namespace,
  'metadata.uid': (task) => task.metadata.uid,
}
const maps = { labels: 'labels', annotations: 'annotations' } as const
const mapPattern = /^metadata\.(labels|annotations)\['([^']+)'\]$/

/** The field of the task that `valueFrom.fieldRef` names; empty when it is absent. */
export function readTaskField(task: Named, path: string): string {
  const [, map, key = ''] = mapPattern.exec(path) ?? []
  if (map === undefined) return fields[path]?.(task) ?? ''
  return task.metadata[maps[map as keyof typeof maps]]?.[key] ?? ''
}

type Amounts = { cpu?: number; memoryBytes?: number }
type Limits = Amounts & { requests?: Amounts }

const amounts: Record<string, (limits: Limits) => number | undefined> = {
  'limits.cpu': ({ cpu }) => cpu,
  'limits.memory': ({ memoryBytes }) => memoryBytes,
  'requests.cpu': ({ cpu, requests }) => requests?.cpu ?? cpu,
  'requests.memory': ({ memoryBytes, requests }) => requests?.memoryBytes ?? memoryBytes,
}

/** The limit that `valueFrom.resourceFieldRef` names, in units of its divisor, rounded up; 0 without a limit. */
export function readAmount(
  limits: Limits,
  { resource, divisor }: { resource: string; divisor?: string | number | undefined },
): string {
  const unit = tryParseQuantity(String(divisor ?? '1')) || 1
  // 1.1 / 0.1 is a little more than 11.
  return String(Math.ceil((amounts[resource]?.(limits) ?? 0) / unit - 1e-9))
}

function findSourceProblems({ valueFrom = {} }: EnvVar): Problem[] {
  const { fieldRef, resourceFieldRef } = valueFrom
  const problems: Problem[] = []
  const add = (path: string, message: string) => problems.push({ path: `valueFrom.${path}`, message })
  if (fieldRef !== undefined && !Object.hasOwn(fields, fieldRef.fieldPath) && !mapPattern.test(fieldRef.fieldPath)) {
    const known = `${Object.keys(fields).join(', ')}, metadata.labels['key'] or metadata.annotations['key']`
    add('fieldRef.fieldPath', `is not a field of a task; use ${known}`)
  }
  if ((fieldRef?.apiVersion ?? 'v1') !== 'v1') add('fieldRef.apiVersion', 'must be v1')
  if (resourceFieldRef !== undefined && !Object.hasOwn(amounts, resourceFieldRef.resource)) {
    add('resourceFieldRef.resource', `must be one of ${Object.keys(amounts).join(', ')}`)
  }
  if (resourceFieldRef?.containerName !== undefined) {
    add('resourceFieldRef.containerName', 'has no meaning: a task has one container; remove it')
  }
  const sources = Object.keys(valueFrom).length
  if (sources > 1) problems.push({ path: 'valueFrom', message: 'must have one source, not several' })
  return problems
}

/** Problems of variables whose source does not exist; paths are relative to the spec. */
export function variableProblems(env: readonly EnvVar[] = []): Problem[] {
  return env.flatMap((variable, index) =>
    findSourceProblems(variable).map(({ path, message }) => ({ path: `env[${index}].${path}`, message })),
  )
}
