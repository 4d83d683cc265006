import { z } from 'zod'
import { defineTool } from '../tool.ts'
import {
  type CoordinationContext,
  makeTask,
  namespace,
  omitAbsent,
  priority,
  schedule,
  timeout,
  title,
} from './coordination-tool.ts'

export const createAiTask = defineTool({
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
    sessionRef: z.string().min(1).optional().describe('Session that the task continues; made when it is missing'),
    schedule,
    namespace,
  }),
  repeatable: false,
  async run(args, { orchestration }: CoordinationContext) {
    const { prompt, agentRef, providerRef, sessionRef } = args
    const ai = { prompt, ...(providerRef === undefined ? {} : { providerRef: { name: providerRef } }) }
    const spec = omitAbsent({
      type: 'ai',
      ai,
      agentRef: agentRef && { name: agentRef },
      sessionRef: sessionRef && { name: sessionRef, create: true, append: true },
      timeout: args.timeout,
      priority: args.priority,
      schedule: args.schedule,
    })
    return makeTask(orchestration, { namespace: args.namespace, spec })
  },
})
