// Agent: a model or a command line with its prompt, tools, skills and limits.
import { z } from 'zod'
import type { Problem } from '../../errors.ts'
import { Duration } from '../duration.ts'
import { Execution, ResourceRequirements } from './execution.ts'
import { Condition, defineResource, Name, Timestamp } from './metadata.ts'
import { RateLimit } from './provider.ts'
import { AgentRef, ConfigMapKeyRef, ModelFallback, ProviderRef, SecretRef, SkillRef, ToolName } from './references.ts'
import { VendorType } from './vendor.ts'

/** Command lines that an agent task can run (NAME-014, NAME-015). */
export const runtimeTypes = ['llma-cli', 'llmo-cli', 'codehost-cli', 'opencode'] as const
export type RuntimeType = (typeof runtimeTypes)[number]

const modelName = z.string().min(1, 'must not be empty').max(256)

export const AgentModel = z.strictObject({
  provider: VendorType.optional(),
  name: modelName.optional(),
  temperature: z.number().min(0).max(2).optional(),
  maxTokens: z.int().min(1).optional(),
  /** Tried in order when the provider is away or cooling down (PROV-010). */
  fallbacks: z.array(ModelFallback).max(8, 'must be at most 8').optional(),
})
export type AgentModel = z.infer<typeof AgentModel>

export const SystemPrompt = z
  .strictObject({ inline: z.string().optional(), configMapRef: ConfigMapKeyRef.optional() })
  .refine((prompt) => prompt.inline === undefined || prompt.configMapRef === undefined, {
    message: 'must have either inline or configMapRef, not both',
  })
  .meta({
    'x-kubernetes-validations': [
      { rule: '!(has(self.inline) && has(self.configMapRef))', message: 'must have either inline or configMapRef' },
    ],
  })
export type SystemPrompt = z.infer<typeof SystemPrompt>

export const ToolChoice = z.strictObject({
  name: ToolName,
  enabled: z.boolean().default(true),
})
export type ToolChoice = z.infer<typeof ToolChoice>

export const Coordination = z.strictObject({
  enabled: z.boolean().default(false),
  allowedAgents: z.array(AgentRef).max(100, 'must be at most 100').optional(),
  maxConcurrentChildren: z.int().min(1).default(5),
  maxDepth: z.int().min(1).max(10).default(3),
  /** Works in iterations until its plan says that the goal is complete. */
  autonomous: z.boolean().default(false),
  /** 0: no limit. */
  maxIterations: z.int().min(0).default(0),
  approvalRequiredTools: z.array(z.string()).optional(),
})
export type Coordination = z.infer<typeof Coordination>

export const AgentRuntime = z.strictObject({
  type: z.enum(runtimeTypes).optional(),
  runtimeRef: z.strictObject({ name: Name }).optional(),
  defaultMaxTurns: z.int().min(1).max(1000).default(50),
  defaultAllowedTools: z.array(z.string()).optional(),
  defaultAllowBash: z.boolean().default(true),
  defaultReasoningEffort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).optional(),
})
export type AgentRuntime = z.infer<typeof AgentRuntime>

export const AgentSession = z.strictObject({
  /** Accepted for older definitions and read by nobody: the session store is always used. */
  persistence: z.enum(['configmap', 'pvc', 'none']).default('configmap'),
  /** How long a session is kept after the last of the agent's tasks in it. Absent or 0: as long as others. */
  ttl: Duration.optional(),
  /** The most of the newest messages that a task of the agent sees, whatever the task asks for. */
  maxMessages: z.int().min(1).default(50),
})
export type AgentSession = z.infer<typeof AgentSession>

export const AgentSpec = z
  .strictObject({
    providerRef: ProviderRef.optional(),
    model: AgentModel.optional(),
    systemPrompt: SystemPrompt.optional(),
    tools: z.array(ToolChoice).optional(),
    skills: z.array(SkillRef).max(100).optional(),
    resources: ResourceRequirements.optional(),
    execution: Execution.optional(),
    secretRef: SecretRef.optional(),
    session: AgentSession.optional(),
    /** Over all model calls of its tasks and chats, on all replicas; that of a provider holds beside it. */
    rateLimit: RateLimit.optional(),
    coordination: Coordination.optional(),
    /** Model calls of one task or chat turn at most, within what the service allows (`--max-iterations`, `--chat-max-iterations`). */
    maxIterations: z.int().min(1).max(10_000).optional(),
    runtime: AgentRuntime.optional(),
    /** Absent or 0: the agent stays. */
    ttlAfterLastTask: Duration.optional(),
  })
  .meta({
    id: 'AgentSpec',
    'x-kubernetes-validations': [
      { rule: '!(has(self.runtime) && has(self.providerRef))', message: 'runtime and providerRef exclude each other' },
    ],
  })
export type AgentSpec = z.infer<typeof AgentSpec>

function runtimeProblems(runtime: AgentRuntime, spec: AgentSpec): Problem[] {
  const problems: Problem[] = []
  if (runtime.type !== undefined && runtime.runtimeRef !== undefined) {
    problems.push({ path: 'runtime', message: 'must have either type or runtimeRef, not both' })
  }
  if (runtime.type === undefined && runtime.runtimeRef === undefined) {
    problems.push({ path: 'runtime.type', message: `is required; one of ${runtimeTypes.join(', ')}` })
  }
  if (spec.providerRef !== undefined) {
    problems.push({ path: 'providerRef', message: 'cannot be combined with runtime; remove one of the two' })
  }
  if (spec.model?.provider !== undefined) {
    problems.push({ path: 'model.provider', message: 'cannot be combined with runtime; remove one of the two' })
  }
  if (runtime.type === 'opencode' && spec.model?.name === undefined) {
    problems.push({ path: 'model.name', message: 'is required for runtime opencode' })
  }
  return problems
}

/** Problems across fields; paths are relative to the spec. */
export function agentProblems(spec: AgentSpec): Problem[] {
  const problems = spec.runtime === undefined ? [] : runtimeProblems(spec.runtime, spec)
  if (spec.execution?.workspace !== undefined) {
    problems.push({ path: 'execution.workspace', message: 'has no effect on an agent; set it on the task' })
  }
  return problems
}

export const AgentStatus = z
  .object({
    ready: z.boolean().optional(),
    activeTasks: z.int().min(0).optional(),
    lastUsed: Timestamp.optional(),
    observedGeneration: z.int().min(0).optional(),
    conditions: z.array(Condition).optional(),
  })
  .meta({ id: 'AgentStatus' })
export type AgentStatus = z.infer<typeof AgentStatus>

export const Agent = defineResource('Agent', { spec: AgentSpec, status: AgentStatus })
export type Agent = z.infer<typeof Agent>
