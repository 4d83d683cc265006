import { z } from 'zod'
import { defineTool } from '../tool.ts'
import { failTool } from '../tool-error.ts'
import { type CoordinationContext, namespace, taskName } from './coordination-tool.ts'

/** 2K characters (CTOOL-005). */
const longestOutput = 2048

export const fetchTaskOutput = defineTool({
  name: 'fetch_task_output',
  description: `Gives the result of a task, its first ${longestOutput} characters at most.`,
  parameters: z.strictObject({ name: taskName, namespace }),
  repeatable: true,
  async run(args, { orchestration }: CoordinationContext) {
    const task = await orchestration.getTask(args)
    const { name } = task.metadata
    const { phase = 'Pending', message } = task.status ?? {}
    const output = await orchestration.readOutput(args, longestOutput)
    if (output === undefined) {
      const reason = message === undefined ? '' : `: ${message}`
      const advice = phase === 'Failed' ? 'Tell why it failed, or try another way.' : 'Call wait_for_task first.'
      return failTool('not_found', `task "${name}" has no output; it is ${phase}${reason}`, advice)
    }
    const shown = Buffer.byteLength(output.text)
    const note = shown < output.bytes ? { truncated: `the first ${shown} of ${output.bytes} bytes are shown` } : {}
    return { success: true, data: { name, phase, output: output.text, ...note } }
  },
})
