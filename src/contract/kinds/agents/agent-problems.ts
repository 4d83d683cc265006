// Problems of an agent that show without using it: rules across the fields of its spec.
import type { Problem } from '../../../errors.ts'
import type { AgentRuntime, AgentSpec } from './agent.ts'
import { runtimeTypes } from './runtime-types.ts'

/** A field that would have no effect on an agent with a runtime. The definition for clusters says the same. */
export type UnusedField = {
  /** Dotted, in the spec. */
  path: string
  /** The sort of runtime that it concerns; absent: every one. */
  of?: 'llmo-cli' | 'runtimeRef'
  /** The value that it concerns; absent: any, but for a list that is empty (`isList`). */
  value?: boolean
  isList?: true
  /** Why, and what to do. */
  advice: string
}

const noSampling = 'has no effect with runtime: its program sets this by itself; remove it'

export const unusedWithRuntime: readonly UnusedField[] = [
  {
    path: 'tools',
    isList: true,
    advice: 'have no effect with runtime: its program has tools of its own; use runtime.defaultAllowedTools',
  },
  {
    path: 'model.fallbacks',
    isList: true,
    advice: 'have no effect with runtime: its program gets a token for one model; remove them',
  },
  { path: 'model.provider', advice: 'has no effect with runtime; name a Provider in providerRef' },
  { path: 'model.temperature', advice: noSampling },
  { path: 'model.maxTokens', advice: noSampling },
  { path: 'maxIterations', advice: 'has no effect with runtime; use runtime.defaultMaxTurns' },
  { path: 'rateLimit', advice: 'has no effect with runtime; set rateLimit of its provider' },
  {
    path: 'coordination.enabled',
    value: true,
    advice: 'has no effect with runtime: its program has tools of its own; remove it',
  },
  {
    path: 'runtime.defaultAllowedTools',
    of: 'llmo-cli',
    advice: 'cannot be kept by runtime llmo-cli; remove it, or choose another runtime',
  },
  {
    path: 'runtime.defaultAllowBash',
    of: 'llmo-cli',
    value: false,
    advice: 'cannot be false for runtime llmo-cli, which does everything by its shell; choose another runtime',
  },
  {
    path: 'runtime.defaultReasoningEffort',
    of: 'runtimeRef',
    advice: 'has no effect with runtimeRef; the owner of the service can set it in the command of the program',
  },
]

function isSet(spec: AgentSpec, { path, of, value, isList }: UnusedField): boolean {
  const { type, runtimeRef } = spec.runtime ?? {}
  if (of !== undefined && of !== (runtimeRef === undefined ? type : 'runtimeRef')) return false
  const found = path
    .split('.')
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], spec)
  if (isList === true) return Array.isArray(found) && found.length > 0
  return value === undefined ? found !== undefined : found === value
}

function runtimeProblems(runtime: AgentRuntime, spec: AgentSpec): Problem[] {
  const problems: Problem[] = []
  if (runtime.type !== undefined && runtime.runtimeRef !== undefined) {
    problems.push({ path: 'runtime', message: 'must have either type or runtimeRef, not both' })
  }
  if (runtime.type === undefined && runtime.runtimeRef === undefined) {
    problems.push({ path: 'runtime.type', message: `is required; one of ${runtimeTypes.join(', ')}` })
  }
  if (runtime.type === 'opencode' && spec.model?.name === undefined) {
    problems.push({ path: 'model.name', message: 'is required for runtime opencode' })
  }
  const unused = unusedWithRuntime.filter((field) => isSet(spec, field))
  return [...problems, ...unused.map(({ path, advice }) => ({ path, message: advice }))]
}

/** Other programs ask nobody. */
export const unaskedApproval =
  'has no effect without coordination.enabled, or a program that is named by runtime.runtimeRef; set one of them'

/** Problems across fields; paths are relative to the spec. */
export function agentProblems(spec: AgentSpec): Problem[] {
  const problems = spec.runtime === undefined ? [] : runtimeProblems(spec.runtime, spec)
  const { enabled = false, approvalRequiredTools = [] } = spec.coordination ?? {}
  if (approvalRequiredTools.length > 0 && !enabled && spec.runtime?.runtimeRef === undefined) {
    const path = 'coordination.approvalRequiredTools'
    problems.push({ path, message: unaskedApproval })
  }
  if (spec.coordination?.autonomous === true && !spec.coordination.enabled) {
    problems.push({ path: 'coordination.autonomous', message: 'has no effect without coordination.enabled; set both' })
  }
  if (spec.execution?.workspace !== undefined) {
    problems.push({ path: 'execution.workspace', message: 'has no effect on an agent; set it on the task' })
  }
  return problems
}
