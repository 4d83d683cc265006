// Agent: a model or a command line with its prompt, tools, skills and limits.
import { z } from 'zod'
import { field, notBoth, publishedMark } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { Duration } from '../../values/duration.ts'
import { samplingFields } from '../providers/model-use.ts'
import { RateLimit, VendorType } from '../providers/provider.ts'
import { Condition, defineResource, Name, Timestamp } from '../resources/metadata.ts'
import {
  AgentRef,
  ConfigMapKeyRef,
  ModelFallback,
  ProviderRef,
  SecretRef,
  SkillRef,
  ToolName,
} from '../resources/references.ts'
import { Execution, ResourceRequirements } from '../tasks/execution.ts'
import { Network } from '../tasks/network.ts'
import { reasoningEfforts, runtimeTypes } from './runtime-types.ts'

const modelName = limitedText(256).min(1, 'must not be empty')

/** The model of an agent and its settings. */
export const AgentModel = z.strictObject({
  provider: field(VendorType.optional(), 'Vendor type to use when no Provider is named.'),
  name: field(
    modelName.optional(),
    "Name of the model, as the provider knows it. Without it: the provider's `defaultModel`. With `runtime` and without `providerRef` it may begin with the name of a Provider and a slash.",
    'large-model',
  ),
  ...samplingFields,
  fallbacks: field(
    z.array(ModelFallback).max(8, 'must be at most 8').optional(),
    'Providers to try in this order when the first one cannot be reached or is cooling down; at most 8.',
  ),
})
export type AgentModel = z.infer<typeof AgentModel>

/** A prompt, or a reference to it. */
export const SystemPrompt = z
  .strictObject({
    inline: field(z.string().optional(), 'The prompt itself.', 'You are a careful reviewer.'),
    configMapRef: field(ConfigMapKeyRef.optional(), 'Entry of a ConfigMap that holds the prompt.'),
  })
  .refine((prompt) => prompt.inline === undefined || prompt.configMapRef === undefined, {
    message: 'must have either inline or configMapRef, not both',
  })
  .meta({
    [publishedMark]: notBoth('inline', 'configMapRef'),
    'x-kubernetes-validations': [
      { rule: '!(has(self.inline) && has(self.configMapRef))', message: 'must have either inline or configMapRef' },
    ],
  })
export type SystemPrompt = z.infer<typeof SystemPrompt>

/** A tool that an agent has. */
export const ToolChoice = z.strictObject({
  name: field(ToolName, 'Name of a built-in tool or of a Tool.', 'web_fetch'),
  enabled: field(z.boolean().default(true), 'Whether the model may call it.'),
})
export type ToolChoice = z.infer<typeof ToolChoice>

/** Somebody who may answer an agent's approvals: named by what the issuer of the credential vouches for. */
export const Approver = z.strictObject({
  kind: field(
    z.enum(['token', 'tokenReview', 'oidc', 'contextToken', 'group']),
    'A caller, by the `authType` that `GET /api/v1/auth/whoami` tells of them, or a `group` of callers.',
  ),
  id: field(
    limitedText(2048).min(1, 'must not be empty'),
    'Of a caller the `uid`, with an issuer `<issuer>#<subject>`; of a group its name.',
    'https://issuer.example.com#user-4711',
  ),
})
export type Approver = z.infer<typeof Approver>

/** Whether and how an agent creates tasks for others. */
export const Coordination = z.strictObject({
  enabled: field(z.boolean().default(false), 'Whether the agent may create tasks for other agents.'),
  allowedAgents: field(
    z.array(AgentRef).max(100, 'must be at most 100').optional(),
    'Agents that it may create tasks for, at most 100, besides those that its tasks make themselves. Without it: only those.',
  ),
  maxConcurrentChildren: field(z.int().min(1).default(5), 'How many of its child tasks may run at once.', 5),
  maxDepth: field(z.int().min(1).max(10).default(3), 'How many levels of child tasks there may be.', 3),
  autonomous: field(
    z.boolean().default(false),
    'The agent works in iterations until its plan says that the goal is complete.',
  ),
  maxIterations: field(z.int().min(0).default(0), 'Iterations of an autonomous agent at most; 0 means no limit.', 10),
  approvalRequiredTools: field(
    z.array(z.string()).optional(),
    'Tools that need approval before each call; of a program that is named by `runtime.runtimeRef`, kinds or titles of its tools.',
    ['delete_agent'],
  ),
  approvers: field(
    z
      .array(Approver)
      .min(1, 'must name somebody; without it, whoever may change the task answers')
      .max(100, 'must be at most 100')
      .optional(),
    'Who may answer what its tasks ask, of those who may change the task. Without it: all of those. Never a task or a model.',
  ),
})
export type Coordination = z.infer<typeof Coordination>

/** The agent program and its defaults. */
export const AgentRuntime = z.strictObject({
  type: field(z.enum(runtimeTypes).optional(), 'Agent program that runs tasks of type `agent`.'),
  runtimeRef: field(
    z.strictObject({ name: field(Name, 'Name of the program.', 'qwen') }).optional(),
    'Program that the owner of the service has added with the setting `--agent-program`. It speaks the Agent Client Protocol.',
  ),
  defaultMaxTurns: field(
    z.int().min(1).max(1000).default(50),
    'Turns of the agent program at most, unless the task says otherwise.',
    50,
  ),
  defaultAllowedTools: field(
    z.array(z.string()).optional(),
    'Tools that the agent program may use, unless the task says otherwise.',
    ['Read', 'Edit'],
  ),
  defaultAllowBash: field(
    z.boolean().default(true),
    'Whether the agent program may run shell commands, unless the task says otherwise.',
  ),
  defaultReasoningEffort: field(
    z.enum(reasoningEfforts).optional(),
    'How much the model reasons, unless the task says otherwise.',
  ),
  trustRepository: field(
    z.boolean().optional(),
    'Whether settings, hooks, servers, plugins, instructions and skills that lie in the repository count; they can start programs. Without it they do not.',
  ),
})
export type AgentRuntime = z.infer<typeof AgentRuntime>

/** How the sessions of an agent are kept. */
export const AgentSession = z.strictObject({
  persistence: field(
    z.enum(['configmap', 'pvc', 'none']).default('configmap'),
    'Accepted for older definitions and without effect: sessions are always kept in the session store.',
  ),
  ttl: field(
    Duration.optional(),
    "How long a session is kept after the agent's last task in it, as a duration. Without it, or 0: the setting `--session-retention`.",
    '24h',
  ),
  maxMessages: field(
    z.int().min(1).default(50),
    'How many messages of a session the agent sees, counted from the newest; a task may ask for fewer.',
    50,
  ),
})
export type AgentSession = z.infer<typeof AgentSession>

/** The spec of an agent. */
export const AgentSpec = z
  .strictObject({
    providerRef: field(
      ProviderRef.optional(),
      'Provider that answers the model calls. Without it: the Provider named `default`.',
    ),
    model: field(AgentModel.optional(), 'Model and its settings.'),
    systemPrompt: field(SystemPrompt.optional(), 'System prompt of the agent.'),
    tools: field(z.array(ToolChoice).optional(), 'Tools that the model may call.'),
    skills: field(
      z.array(SkillRef).max(100).optional(),
      'Skills, at most 100. The model is told of them by name and description and reads them with `skill_read`; a text of a ConfigMap is added to the system prompt.',
    ),
    resources: field(ResourceRequirements.optional(), 'CPU, memory and disk of its tasks, unless they say otherwise.'),
    execution: field(
      Execution.optional(),
      'Isolation of its tasks, and where they run on a cluster, unless they say otherwise.',
    ),
    network: field(
      Network.optional(),
      'What the program of `runtime` may reach in its tasks, unless they say otherwise, and the most that whatever its tasks delegate may reach. Without it: that of the namespace, then the setting `--agent-network`.',
    ),
    secretRef: field(SecretRef.optional(), 'Secret whose entries its tasks get.'),
    session: field(AgentSession.optional(), 'How sessions of the agent are kept.'),
    rateLimit: field(
      RateLimit.optional(),
      "Limit of all model calls of the agent's tasks and chats together, over all replicas. A provider's limit applies as well.",
    ),
    coordination: field(Coordination.optional(), 'Whether and how the agent creates tasks for other agents.'),
    maxIterations: field(
      z.int().min(1).max(10_000).optional(),
      'Model calls of one task or chat turn at most. The settings `--max-iterations` and `--chat-max-iterations` are the upper limits.',
      20,
    ),
    runtime: field(AgentRuntime.optional(), 'Agent program and its defaults.'),
    ttlAfterLastTask: field(
      Duration.optional(),
      'The agent is deleted this long after its last task, as a duration. Without it, or 0: it stays.',
      '1h',
    ),
  })
  .meta({
    id: 'AgentSpec',
  })
export type AgentSpec = z.infer<typeof AgentSpec>

/** The status of an agent, written by the service. */
export const AgentStatus = z
  .object({
    ready: field(z.boolean().optional(), 'Whether everything that the agent names exists.'),
    activeTasks: field(z.int().min(0).optional(), 'How many of its tasks have not ended.', 0),
    lastUsed: field(Timestamp.optional(), 'When a task last used it.'),
    observedGeneration: field(z.int().min(0).optional(), 'The `metadata.generation` that this status is about.', 1),
    conditions: field(z.array(Condition).optional(), 'Conditions in the form that Kubernetes uses.'),
  })
  .meta({ id: 'AgentStatus' })
export type AgentStatus = z.infer<typeof AgentStatus>

/** An agent as it is stored. */
export const Agent = defineResource('Agent', { spec: AgentSpec, status: AgentStatus })
export type Agent = z.infer<typeof Agent>
