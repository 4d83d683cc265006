import { z } from 'zod'
import { defineTool } from '../tool.ts'
import { type CoordinationContext, describeState, namespace, taskName } from './coordination-tool.ts'

export const checkTaskProgress = defineTool({
  name: 'check_task_progress',
  description: 'Tells the phase and the status conditions of a task.',
  parameters: z.strictObject({ name: taskName, namespace }),
  repeatable: true,
  async run(args, { orchestration }: CoordinationContext) {
    return { success: true, data: describeState(await orchestration.getTask(args)) }
  },
})
