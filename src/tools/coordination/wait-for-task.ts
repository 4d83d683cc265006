import { z } from 'zod'
import { isTerminalPhase } from '../../contract/resources/task.ts'
import { defineTool } from '../tool.ts'
import { type CoordinationContext, describeState, namespace, taskName } from './coordination-tool.ts'

const longestWait = 60
/** The answer must be there before the loop gives the call up (CTOOL-020). */
const marginMs = 1000

export const waitForTask = defineTool({
  name: 'wait_for_task',
  description: `Waits until a task has ended, ${longestWait} seconds at most, and tells how it stands then. Call it again for one that still runs.`,
  parameters: z.strictObject({
    name: taskName,
    timeout: z.number().min(0).default(30).describe(`Seconds to wait; more than ${longestWait} are cut to that`),
    namespace,
  }),
  // Waiting twice does no harm; the loop counts repetitions all the same.
  repeatable: true,
  async run(args, { orchestration, toolTimeoutMs, clock }: CoordinationContext, signal) {
    const started = clock.now().getTime()
    const patience = Math.max(0, Math.min(Math.min(args.timeout, longestWait) * 1000, toolTimeoutMs - marginMs))
    const task = await orchestration.waitForTask(args, patience, signal)
    const elapsed = `${Math.round((clock.now().getTime() - started) / 100) / 10}s`
    const state = describeState(task)
    const isOver = isTerminalPhase(task.status?.phase)
    const message = isOver ? state.message : `still ${String(state.phase)}: ${String(state.message)}`
    return { success: true, data: { ...state, message, elapsed } }
  },
})
