// The tools of an orchestrating model, and the host that runs them for a loop.
import type { JsonObject } from '../../lib/json.ts'
import { type ShownTool, showTool } from '../registry/tool.ts'
import { failTool } from '../registry/tool-error.ts'
import { createAgent, deleteAgent, listAgents, updateAgent } from './agents.ts'
import { createTool, deleteSession, deleteTool, listTools } from './catalog.ts'
import { createAgentTask, createAiTask, createContainerTask, createPrMonitor } from './new-tasks.ts'
import type { CoordinationContext, CoordinationTool } from './orchestration-tool.ts'
import { cancelTask, checkTaskProgress, fetchTaskOutput, listTasks, waitForTask } from './tasks.ts'

/** Always available in chat. */
export const coreTools: readonly CoordinationTool[] = [
  createAiTask,
  createContainerTask,
  createAgentTask,
  checkTaskProgress,
  fetchTaskOutput,
  waitForTask,
  cancelTask,
  listAgents,
  listTools,
  listTasks,
]

/** Available in chat when the user's message asks for a change (CTOOL-021). */
export const managementTools: readonly CoordinationTool[] = [
  createAgent,
  updateAgent,
  deleteAgent,
  createTool,
  deleteTool,
  deleteSession,
  createPrMonitor,
]

const allTools = [...coreTools, ...managementTools]

// Created once: most turns offer one of the two lists.
const shownCore = coreTools.map(showTool)
const shownAll = allTools.map(showTool)
const toolsByName = new Map(allTools.map((tool) => [tool.name, tool]))

/** What a turn can offer; `manages`: the user's message asks for a change. */
export function listOrchestrationTools({ manages }: { manages: boolean }): ShownTool[] {
  return manages ? shownAll : shownCore
}

/** Structurally the ToolHost of the loop. */
type CoordinationHost = {
  list(): ShownTool[]
  call(call: { name: string; args: JsonObject }, signal: AbortSignal): Promise<{ content: string; isError: boolean }>
}

/** `offered`: the tools of the list that the turn offers. */
export function createCoordinationHost(context: CoordinationContext, offered: ShownTool[]): CoordinationHost {
  return {
    list: () => offered,
    async call({ name, args }, signal) {
      // The loop has already refused tools that are not in the list.
      const tool = toolsByName.get(name)
      const outcome = tool
        ? await tool.invoke(args, context, signal)
        : failTool('not_found', `there is no tool "${name}"`)
      return { content: JSON.stringify(outcome), isError: !outcome.success }
    },
  }
}
