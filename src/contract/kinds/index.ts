// The table of the seven kinds of the service: names, schemas, columns. Code that is generic over kinds uses it.
import type { z } from 'zod'
import type { Problem } from '../../errors.ts'
import { Agent, AgentSpec, AgentStatus } from './agents/agent.ts'
import { agentProblems } from './agents/agent-problems.ts'
import {
  monitorProblems,
  RepositoryMonitor,
  RepositoryMonitorSpec,
  RepositoryMonitorStatus,
} from './monitors/repository-monitor.ts'
import { Provider, ProviderSpec, ProviderStatus, providerProblems } from './providers/provider.ts'
import type { apiVersion, ObjectMeta } from './resources/metadata.ts'
import { RepositoryScan, RepositoryScanSpec, RepositoryScanStatus, scanProblems } from './scans/repository-scan.ts'
import { Task, TaskSpec, TaskStatus } from './tasks/task.ts'
import { taskProblems } from './tasks/task-problems.ts'
import { Skill, SkillSpec, SkillStatus, skillProblems } from './tools/skill.ts'
import { Tool, ToolSpec, ToolStatus, toolProblems } from './tools/tool.ts'

export type { ObjectMeta } from './resources/metadata.ts'
export { apiVersion } from './resources/metadata.ts'

/** A column of `kubectl get` and `svc get`. */
export type PrinterColumn = { name: string; type: 'string' | 'integer' | 'boolean' | 'date'; jsonPath: string }

/** Any object of the service. */
export type Resource<Spec, Status> = {
  apiVersion: typeof apiVersion
  kind: string
  metadata: ObjectMeta
  spec: Spec
  status?: Status | undefined
}

/** The object type of each kind. */
export type ResourceOf<K extends Kind> = {
  Task: Task
  Agent: Agent
  Provider: Provider
  Tool: Tool
  Skill: Skill
  RepositoryScan: RepositoryScan
  RepositoryMonitor: RepositoryMonitor
}[K]

/** The spec of a kind. */
export type SpecOf<K extends Kind> = ResourceOf<K>['spec']
/** The status of a kind. */
export type StatusOf<K extends Kind> = NonNullable<ResourceOf<K>['status']>

/** What the service knows about a kind. */
export type KindInfo = {
  kind: string
  /** One sentence for OpenAPI and `kubectl explain`. */
  description: string
  plural: string
  singular: string
  shortNames: readonly string[]
  categories: readonly string[]
  namespaced: true
  spec: z.ZodType
  status: z.ZodType
  schema: z.ZodType
  columns: readonly PrinterColumn[]
  /** Problems of a parsed spec that concern several fields; paths are relative to the spec. */
  problems: (spec: never) => Problem[]
}

const age: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }
const phase: PrinterColumn = { name: 'Phase', type: 'string', jsonPath: '.status.phase' }
const ready: PrinterColumn = { name: 'Ready', type: 'boolean', jsonPath: '.status.ready' }
/** `kubectl get svc-ai` lists all kinds; `svc` is what Kubernetes calls its Services. */
const categories = ['svc-ai'] as const

export const kinds = {
  Task: {
    kind: 'Task',
    description: 'One piece of work: a model with tools, a container or an agent.',
    plural: 'tasks',
    singular: 'task',
    shortNames: ['st'],
    categories,
    namespaced: true,
    spec: TaskSpec,
    status: TaskStatus,
    schema: Task,
    columns: [
      { name: 'Type', type: 'string', jsonPath: '.spec.type' },
      phase,
      { name: 'Reason', type: 'string', jsonPath: '.status.queuedReason' },
      { name: 'Agent', type: 'string', jsonPath: '.spec.agentRef.name' },
      { name: 'Attempts', type: 'integer', jsonPath: '.status.attempts' },
      age,
    ],
    problems: taskProblems as (spec: TaskSpec) => Problem[],
  },
  Agent: {
    kind: 'Agent',
    description: 'A model or a command line with its prompt, tools, skills and limits.',
    plural: 'agents',
    singular: 'agent',
    shortNames: ['ag'],
    categories,
    namespaced: true,
    spec: AgentSpec,
    status: AgentStatus,
    schema: Agent,
    columns: [
      { name: 'Provider', type: 'string', jsonPath: '.spec.providerRef.name' },
      { name: 'Model', type: 'string', jsonPath: '.spec.model.name' },
      { name: 'Runtime', type: 'string', jsonPath: '.spec.runtime.type' },
      ready,
      { name: 'Active', type: 'integer', jsonPath: '.status.activeTasks' },
      age,
    ],
    problems: agentProblems,
  },
  Provider: {
    kind: 'Provider',
    description: "An LLM vendor's endpoint, its credential, limits and price.",
    plural: 'providers',
    singular: 'provider',
    shortNames: ['prov'],
    categories,
    namespaced: true,
    spec: ProviderSpec,
    status: ProviderStatus,
    schema: Provider,
    columns: [
      { name: 'Type', type: 'string', jsonPath: '.spec.type' },
      { name: 'Model', type: 'string', jsonPath: '.spec.defaultModel' },
      ready,
      age,
    ],
    problems: providerProblems,
  },
  Tool: {
    kind: 'Tool',
    description: 'A custom tool for models, behind HTTP or an MCP server.',
    plural: 'tools',
    singular: 'tool',
    shortNames: [],
    categories,
    namespaced: true,
    spec: ToolSpec,
    status: ToolStatus,
    schema: Tool,
    columns: [
      { name: 'Available', type: 'boolean', jsonPath: '.status.available' },
      { name: 'Endpoint', type: 'string', jsonPath: '.status.endpoint' },
      age,
    ],
    problems: toolProblems,
  },
  Skill: {
    kind: 'Skill',
    description: 'Knowledge for agents, in Markdown with files beside it.',
    plural: 'skills',
    singular: 'skill',
    shortNames: ['sk'],
    categories,
    namespaced: true,
    spec: SkillSpec,
    status: SkillStatus,
    schema: Skill,
    columns: [{ name: 'Version', type: 'string', jsonPath: '.spec.version' }, phase, age],
    problems: skillProblems,
  },
  RepositoryScan: {
    kind: 'RepositoryScan',
    description: 'A repository that is reviewed for security findings.',
    plural: 'repositoryscans',
    singular: 'repositoryscan',
    shortNames: ['rscan'],
    categories,
    namespaced: true,
    spec: RepositoryScanSpec,
    status: RepositoryScanStatus,
    schema: RepositoryScan,
    columns: [
      { name: 'Repository', type: 'string', jsonPath: '.spec.repoURL' },
      phase,
      { name: 'Findings', type: 'integer', jsonPath: '.status.findingCounts.total' },
      { name: 'Last Scan', type: 'date', jsonPath: '.status.lastScanAt' },
      age,
    ],
    problems: scanProblems,
  },
  RepositoryMonitor: {
    kind: 'RepositoryMonitor',
    description: 'A repository whose pull requests are reviewed as they come.',
    plural: 'repositorymonitors',
    singular: 'repositorymonitor',
    shortNames: ['rmon'],
    categories,
    namespaced: true,
    spec: RepositoryMonitorSpec,
    status: RepositoryMonitorStatus,
    schema: RepositoryMonitor,
    columns: [
      { name: 'Repository', type: 'string', jsonPath: '.spec.repoURL' },
      phase,
      { name: 'Open PRs', type: 'integer', jsonPath: '.status.openPullRequests' },
      { name: 'Last Run', type: 'date', jsonPath: '.status.lastRunTime' },
      age,
    ],
    problems: monitorProblems,
  },
} as const satisfies Record<string, KindInfo>

/** The kinds of the service. */
export type Kind = keyof typeof kinds

/** Every kind, in the order of the table. */
export const kindNames = Object.keys(kinds) as Kind[]

/** Whether a word is a kind of the service. */
export function isKind(word: string): word is Kind {
  return Object.hasOwn(kinds, word)
}
