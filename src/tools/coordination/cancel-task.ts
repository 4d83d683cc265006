import { z } from 'zod'
import { defineTool } from '../tool.ts'
import { type CoordinationContext, namespace, taskName } from './coordination-tool.ts'

export const cancelTask = defineTool({
  name: 'cancel_task',
  description: 'Ends a task that runs, and removes one that only waits for its schedule.',
  parameters: z.strictObject({ name: taskName, namespace }),
  repeatable: true,
  async run(args, { orchestration }: CoordinationContext) {
    const task = await orchestration.cancelTask(args)
    const { phase = 'Pending' } = task.status ?? {}
    const message = `Task ${task.metadata.name} is being ended; it was ${phase}`
    return { success: true, data: { name: task.metadata.name, message } }
  },
})
