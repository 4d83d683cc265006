// The tools of an orchestrating model, those for custom tools and sessions among them, and the host that runs them for a loop.
import { z } from 'zod'
import { Name, RecordName } from '../../contract/kinds/resources/metadata.ts'
import { httpMethods } from '../../contract/kinds/tools/tool-http.ts'
import type { JsonObject } from '../../lib/json.ts'
import { defineTool, type ShownTool, showTool } from '../registry/tool.ts'
import { failTool } from '../registry/tool-error.ts'
import { createAgentTool, deleteAgentTool, listAgentsTool, updateAgentTool } from './agents.ts'
import { createAgentTaskTool, createAiTaskTool, createContainerTaskTool, createPrMonitorTool } from './new-tasks.ts'
import { namespace, type OrchestrationContext, type OrchestrationTool } from './orchestration-tool.ts'
import { cancelTaskTool, checkTaskProgressTool, fetchTaskOutputTool, listTasksTool, waitForTaskTool } from './tasks.ts'

const listToolsTool = defineTool({
  name: 'list_tools',
  description: 'Lists the custom tools that tasks and agents can be given.',
  parameters: z.strictObject({ namespace }),
  repeatable: true,
  async run(args, { orchestration }: OrchestrationContext) {
    const tools = await orchestration.listTools(args.namespace)
    const data = tools.map(({ metadata, spec }) => ({
      name: metadata.name,
      description: spec.description,
      builtin: false,
    }))
    return { success: true, data }
  },
})

const createToolTool = defineTool({
  name: 'create_tool',
  description: 'Creates a custom tool that calls an HTTP endpoint. It cannot name a Secret.',
  parameters: z.strictObject({
    name: Name.describe('Name of the new tool'),
    description: z.string().min(1).max(16_384).describe('What models are told about it'),
    url: z.string().min(1).describe('Address of the endpoint'),
    method: z.enum(httpMethods).default('POST'),
    parameters: z.record(z.string(), z.unknown()).optional().describe('JSON Schema of its arguments'),
    namespace,
  }),
  repeatable: false,
  async run(args, { orchestration }: OrchestrationContext) {
    const { description, url, method, parameters } = args
    const spec = { description, http: { url, method }, parameters }
    const { metadata } = await orchestration.createTool(args, spec)
    return { success: true, data: { name: metadata.name, namespace: metadata.namespace, message: 'Tool created' } }
  },
})

const deleteToolTool = defineTool({
  name: 'delete_tool',
  description: 'Deletes a custom tool.',
  parameters: z.strictObject({ name: z.string().min(1).describe('Name of the tool'), namespace }),
  repeatable: false,
  async run(args, { orchestration }: OrchestrationContext) {
    await orchestration.deleteTool(args)
    return { success: true, data: { name: args.name, message: 'Tool deleted' } }
  },
})

const deleteSessionTool = defineTool({
  name: 'delete_session',
  description: 'Deletes a session with its transcript; not the one of this conversation.',
  parameters: z.strictObject({ sessionId: RecordName, namespace }),
  repeatable: false,
  async run(args, { orchestration }: OrchestrationContext) {
    await orchestration.deleteSession({ name: args.sessionId, namespace: args.namespace })
    return { success: true, data: { sessionId: args.sessionId, message: 'Session deleted' } }
  },
})

/** Always available in chat. */
export const coreTools: readonly OrchestrationTool[] = [
  createAiTaskTool,
  createContainerTaskTool,
  createAgentTaskTool,
  checkTaskProgressTool,
  fetchTaskOutputTool,
  waitForTaskTool,
  cancelTaskTool,
  listAgentsTool,
  listToolsTool,
  listTasksTool,
]

/** Available in chat when the user's message asks for a change (CTOOL-021). */
export const managementTools: readonly OrchestrationTool[] = [
  createAgentTool,
  updateAgentTool,
  deleteAgentTool,
  createToolTool,
  deleteToolTool,
  deleteSessionTool,
  createPrMonitorTool,
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
type OrchestrationHost = {
  list(): ShownTool[]
  call(
    call: { name: string; args: JsonObject; step?: string | undefined },
    signal: AbortSignal,
  ): Promise<{ content: string; isError: boolean }>
}

/** `offered`: the tools of the list that the turn offers. */
export function createOrchestrationHost(context: OrchestrationContext, offered: ShownTool[]): OrchestrationHost {
  return {
    list: () => offered,
    async call({ name, args, step }, signal) {
      // The loop has already refused tools that are not in the list.
      const tool = toolsByName.get(name)
      const outcome = tool
        ? await tool.invoke(args, { ...context, step }, signal)
        : failTool('not_found', `there is no tool "${name}"`)
      return { content: JSON.stringify(outcome), isError: !outcome.success }
    },
  }
}
