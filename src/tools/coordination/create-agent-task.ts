import { z } from 'zod'
import { defineTool } from '../tool.ts'
import {
  type CoordinationContext,
  makeTask,
  namespace,
  omitAbsent,
  schedule,
  timeout,
  title,
  toWorkspace,
  workspace,
} from './coordination-tool.ts'

export const createAgentTask = defineTool({
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
  async run(args, { orchestration }: CoordinationContext) {
    const runtime = omitAbsent({ maxTurns: args.maxTurns, workspace: toWorkspace(args.workspace) })
    const spec = omitAbsent({
      type: 'agent',
      prompt: args.prompt,
      agentRef: { name: args.agentRef },
      agentRuntime: Object.keys(runtime).length === 0 ? undefined : runtime,
      timeout: args.timeout,
      schedule: args.schedule,
    })
    return makeTask(orchestration, { namespace: args.namespace, spec })
  },
})
