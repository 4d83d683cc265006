import { z } from 'zod'
import { formatDuration } from '../../contract/duration.ts'
import { taskPhases } from '../../contract/resources/task.ts'
import { defineTool } from '../tool.ts'
import { failTool } from '../tool-error.ts'
import { type CoordinationContext, namespace } from './coordination-tool.ts'

export const listTasks = defineTool({
  name: 'list_tasks',
  description: 'Lists tasks, newest first.',
  parameters: z.strictObject({
    status: z
      .string()
      .optional()
      .describe(`Only those of this phase: ${taskPhases.join(', ')}`),
    limit: z.int().min(1).max(100).default(20),
    namespace,
  }),
  repeatable: true,
  async run(args, { orchestration, clock }: CoordinationContext) {
    const { status, limit } = args
    const phase = taskPhases.find((known) => known.toLowerCase() === status?.toLowerCase())
    if (status !== undefined && phase === undefined) {
      return failTool('invalid_arguments', `status: must be one of ${taskPhases.join(', ')}, not "${status}"`)
    }
    const now = clock.now().getTime()
    const tasks = await orchestration.listTasks({ namespace: args.namespace, phase, limit })
    const data = tasks.map(({ metadata, spec, status: state }) => {
      const age = Math.max(0, now - Date.parse(metadata.creationTimestamp))
      return {
        name: metadata.name,
        phase: state?.phase ?? 'Pending',
        type: spec.type,
        age: formatDuration(Math.floor(age / 1000) * 1000),
      }
    })
    return { success: true, data }
  },
})
