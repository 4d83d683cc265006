// Tools that follow tasks: list, inspect, wait, read, cancel.
import { z } from 'zod'
import { isTerminalPhase, taskPhases } from '../../contract/kinds/tasks/task.ts'
import { formatDuration } from '../../contract/values/duration.ts'
import { monotonicMs } from '../../lib/clock.ts'
import { defineTool } from '../registry/tool.ts'
import { failTool } from '../registry/tool-error.ts'
import { describeTask, namespace, type OrchestrationContext, taskName } from './orchestration-tool.ts'

export const listTasksTool = defineTool({
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
  async run(args, { orchestration, clock }: OrchestrationContext) {
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

export const checkTaskProgressTool = defineTool({
  name: 'check_task_progress',
  description: 'Tells the phase and the status conditions of a task, and what it asks people for.',
  parameters: z.strictObject({ name: taskName, namespace }),
  repeatable: true,
  async run(args, { orchestration }: OrchestrationContext) {
    return { success: true, data: await describeTask(orchestration, await orchestration.getTask(args)) }
  },
})

const maxWaitSeconds = 60
/** The answer must arrive before the loop gives the call up (CTOOL-020). */
const marginMs = 1000

export const waitForTaskTool = defineTool({
  name: 'wait_for_task',
  description: `Waits until a task has ended, ${maxWaitSeconds} seconds at most, and tells its state then. Call it again if the task still runs.`,
  parameters: z.strictObject({
    name: taskName,
    timeout: z.number().min(0).default(30).describe(`Seconds to wait; more than ${maxWaitSeconds} are cut to that`),
    namespace,
  }),
  // Waiting twice does no harm; the loop counts repetitions anyway.
  repeatable: true,
  async run(args, { orchestration, toolTimeoutMs, clock }: OrchestrationContext, signal) {
    const started = monotonicMs(clock)
    const waitMs = Math.max(0, Math.min(Math.min(args.timeout, maxWaitSeconds) * 1000, toolTimeoutMs - marginMs))
    const task = await orchestration.waitForTask(args, waitMs, signal)
    const elapsed = `${Math.round((monotonicMs(clock) - started) / 100) / 10}s`
    const state = await describeTask(orchestration, task)
    const isOver = isTerminalPhase(task.status?.phase)
    const message = isOver ? state.message : `still ${String(state.phase)}: ${String(state.message)}`
    return { success: true, data: { ...state, message, elapsed } }
  },
})

/** 2K characters (CTOOL-005). */
const maxOutputLength = 2048

export const fetchTaskOutputTool = defineTool({
  name: 'fetch_task_output',
  description: `Gives the result of a task, its first ${maxOutputLength} characters at most.`,
  parameters: z.strictObject({ name: taskName, namespace }),
  repeatable: true,
  async run(args, { orchestration }: OrchestrationContext) {
    const task = await orchestration.getTask(args)
    const { name } = task.metadata
    const { phase = 'Pending', message } = task.status ?? {}
    const output = await orchestration.readOutput(args, maxOutputLength)
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

export const cancelTaskTool = defineTool({
  name: 'cancel_task',
  description: 'Ends a task that runs, and removes one that only waits for its schedule.',
  parameters: z.strictObject({ name: taskName, namespace }),
  repeatable: true,
  async run(args, { orchestration }: OrchestrationContext) {
    const task = await orchestration.cancelTask(args)
    const { phase = 'Pending' } = task.status ?? {}
    const message = `Task ${task.metadata.name} is being ended; it was ${phase}`
    return { success: true, data: { name: task.metadata.name, message } }
  },
})
