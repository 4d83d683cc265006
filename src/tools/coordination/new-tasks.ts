// Tools that start tasks.
import { z } from 'zod'
import { Name } from '../../contract/kinds/resources/metadata.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { isSvcError } from '../../errors.ts'
import { dropUndefined } from '../../lib/json.ts'
import { defineTool, type ToolOutcome } from '../registry/tool.ts'
import { failTool } from '../registry/tool-error.ts'
import {
  makeTask,
  namespace,
  type OrchestrationContext,
  priority,
  schedule,
  timeout,
  title,
  toWorkspace,
  workspace,
} from './orchestration-tool.ts'

export const createAiTaskTool = defineTool({
  name: 'create_ai_task',
  description:
    'Creates a task that a language model works on with its own tools (web, code, files). It runs on its own; follow it with wait_for_task and read it with fetch_task_output.',
  parameters: z.strictObject({
    name: title,
    prompt: z.string().min(1).describe('All that the task must know; it sees nothing of this conversation'),
    agentRef: z.string().min(1).optional().describe('Agent that supplies model, prompt and tools'),
    providerRef: z.string().min(1).optional().describe('Provider to ask instead of the default one'),
    timeout,
    priority,
    sessionRef: z.string().min(1).optional().describe('Session that the task continues; created when it is missing'),
    schedule,
    namespace,
  }),
  repeatable: false,
  async run(args, context: OrchestrationContext) {
    const { prompt, agentRef, providerRef, sessionRef } = args
    const ai = { prompt, ...(providerRef === undefined ? {} : { providerRef: { name: providerRef } }) }
    const spec = dropUndefined({
      type: 'ai',
      ai,
      agentRef: agentRef && { name: agentRef },
      sessionRef: sessionRef && { name: sessionRef, create: true, append: true },
      timeout: args.timeout,
      priority: args.priority,
      schedule: args.schedule,
    })
    return makeTask(context, { namespace: args.namespace, spec })
  },
})

export const createAgentTaskTool = defineTool({
  name: 'create_agent_task',
  description: 'Creates a task for an agent with a runtime (a coding command line), usually on a repository.',
  parameters: z.strictObject({
    name: title,
    prompt: z.string().min(1).describe('All that the agent must know; it sees nothing of this conversation'),
    agentRef: z.string().min(1).describe('Agent with a runtime'),
    timeout,
    maxTurns: z.int().min(1).max(1000).optional(),
    workspace,
    schedule,
    namespace,
  }),
  repeatable: false,
  async run(args, context: OrchestrationContext) {
    const runtime = dropUndefined({ maxTurns: args.maxTurns, workspace: toWorkspace(args.workspace) })
    const spec = dropUndefined({
      type: 'agent',
      prompt: args.prompt,
      agentRef: { name: args.agentRef },
      agentRuntime: Object.keys(runtime).length === 0 ? undefined : runtime,
      timeout: args.timeout,
      schedule: args.schedule,
    })
    return makeTask(context, { namespace: args.namespace, spec })
  },
})

// Programs that only make sense inside a checked-out repository (reference 1.8).
const repositoryProgram =
  /^(go (test|build|vet|list|mod)|npm (test|run)|pnpm|yarn|make|pytest|cargo test|mvn test|gradle|git (diff|status|log))(\s|$)/
/** What precedes the program of a simple command: a shell with a script, a change of folder, variables. */
const leadIn = /^(\S*sh\s+-\w*c\s+|cd\s+\S+$|\w+=\S*\s+)*/
/** A command that fetches or creates its own repository has all it needs. */
const ownRepository = /\bgit\s+(clone|init)\b/

/** Whether the command runs a program that needs a repository; ignores the program's arguments. */
export function needsRepository(words: readonly string[]): boolean {
  const text = words.join(' ')
  if (ownRepository.test(text)) return false
  return text.split(/&&|\|\||[;|\n(){}]/).some((part) => repositoryProgram.test(part.trim().replace(leadIn, '')))
}

export const createContainerTaskTool = defineTool({
  name: 'create_container_task',
  description:
    'Creates a task that runs a command: in the container image that is named, else as a sandboxed process. Give image or command.',
  parameters: z
    .strictObject({
      name: title,
      image: z.string().min(1).optional().describe('Container image'),
      command: z.array(z.string()).optional().describe('Program and arguments; ["sh", "-c", "..."] for shell text'),
      args: z.array(z.string()).optional(),
      workspace,
      prior_task: z.string().min(1).optional().describe('Task whose workspace this one continues'),
      timeout,
      priority,
      schedule,
      namespace,
    })
    .refine(({ image, command }) => image !== undefined || (command?.length ?? 0) > 0, {
      path: ['command'],
      message: 'is required where no image is given',
    }),
  repeatable: false,
  async run(args, context: OrchestrationContext) {
    const words = [...(args.command ?? []), ...(args.args ?? [])]
    if (args.workspace === undefined && args.prior_task === undefined && needsRepository(words)) {
      return failTool('missing_workspace', 'the command needs a repository, but the task has none to work in')
    }
    const spec = dropUndefined({
      type: 'container',
      image: args.image,
      command: args.command,
      args: args.args,
      workspace: toWorkspace(args.workspace),
      priorTaskRef: args.prior_task && { name: args.prior_task },
      timeout: args.timeout,
      priority: args.priority,
      schedule: args.schedule,
    })
    return makeTask(context, { namespace: args.namespace, spec })
  },
})

const monitorParameters = z.strictObject({
  name: Name,
  repo_url: z.string().min(1).describe('Root address of the repository, without a credential'),
  schedule: z.string().min(1).describe('Cron expression'),
  agent_ref: z.string().min(1).describe('AI agent that reviews; it coordinates and is not autonomous'),
  provider_ref: z.string().min(1).optional().describe('Provider to ask instead of the default one'),
  gitSecretRef: z.string().min(1).optional().describe('Secret with the token of the code host'),
  per_page: z
    .int()
    .default(30)
    .transform((size) => Math.min(100, Math.max(1, size)))
    .describe('Pull requests that are listed at once, 1 to 100'),
  review_event: z
    .string()
    .default('COMMENT')
    .transform((word) => word.toUpperCase())
    .pipe(z.enum(['COMMENT', 'APPROVE', 'REQUEST_CHANGES'], 'must be COMMENT, APPROVE or REQUEST_CHANGES'))
    .describe('COMMENT, APPROVE or REQUEST_CHANGES: the usual verdict'),
  prompt: z.string().optional().describe('What to look for besides'),
  namespace,
})

export const createPrMonitorTool = defineTool({
  name: 'create_pr_monitor',
  description:
    'Sets up the repeated review of the pull requests of a repository: a scheduled task that reviews each head once.',
  parameters: monitorParameters,
  repeatable: false,
  async run(args, { orchestration, step }: OrchestrationContext) {
    try {
      return describeMonitor(args.name, await orchestration.createPrMonitor({ ...readMonitor(args), step }))
    } catch (error) {
      if (isSvcError(error, 'TooManyRequests')) return failTool('limit_reached', error.message)
      throw error
    }
  },
})

function readMonitor({
  repo_url,
  agent_ref,
  provider_ref,
  gitSecretRef,
  per_page,
  review_event,
  ...rest
}: z.output<typeof monitorParameters>) {
  return {
    ...rest,
    repoUrl: repo_url,
    agent: agent_ref,
    provider: provider_ref,
    secret: gitSecretRef,
    perPage: per_page,
    event: review_event,
  }
}

function describeMonitor(monitor: string, { metadata, spec }: Task): ToolOutcome {
  const { name, namespace } = metadata
  const { schedule = '' } = spec
  const message = `Pull requests are reviewed on the schedule "${schedule}", by runs of the task ${name}`
  return { success: true, data: { name, monitor_name: monitor, namespace, schedule, message } }
}
