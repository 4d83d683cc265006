// recall_memory, remember and propose_memory: what earlier tasks learnt, and what later ones should know.
import { ProposeMemory, RecallMemory, Remember } from '../../contract/api/memory/memory-tools.ts'
import type { Memory } from '../../ports/memory/memories.ts'
import type { TaskMemory } from '../../ports/memory/task-memory.ts'
import { foreignNotice } from '../coordination/worker/family-tools.ts'
import { defineTool } from '../registry/tool.ts'

export type MemoryContext = {
  memory: TaskMemory
  /** Names this call in the whole run. */
  call: string
}

const longestTitle = 80

function titleOf(content: string): string {
  const [line = ''] = content.trim().split('\n')
  return line.length <= longestTitle ? line : `${line.slice(0, longestTitle - 1)}…`
}

function describeTags(description: string | undefined, tags: readonly string[] | undefined): string | undefined {
  const line = tags === undefined || tags.length === 0 ? undefined : `Tags: ${tags.join(', ')}`
  const parts = [description, line].filter((part) => part !== undefined && part !== '')
  return parts.length === 0 ? undefined : parts.join('\n')
}

function show({ id, content, tags, source, agentName, taskName, disabled, updatedAt }: Memory) {
  return { id, content, tags, source, agentName, taskName, ...(disabled && { disabled }), updatedAt }
}

export const recallMemory = defineTool({
  name: 'recall_memory',
  description: 'Finds what is remembered from earlier work, the best match first.',
  parameters: RecallMemory,
  repeatable: true,
  async run(args, { memory }: MemoryContext) {
    const memories = await memory.recall(args)
    return { success: true, notice: foreignNotice, memories: memories.map(show) }
  },
})

export const remember = defineTool({
  name: 'remember',
  description:
    'Proposes a fact that later tasks should know. A person decides about it; until then nobody recalls it. Never a password.',
  parameters: Remember,
  repeatable: true,
  async run({ content, title, description, tags, agent_name }, { memory, call }: MemoryContext) {
    const proposal = await memory.propose(call, {
      type: 'memory',
      title: title ?? titleOf(content),
      content,
      description: describeTags(description, tags),
      agent_name,
    })
    return { success: true, proposal }
  },
})

export const proposeMemory = defineTool({
  name: 'propose_memory',
  description: 'Proposes a change of a skill, a policy or a workflow, or a memory. A person decides about it.',
  parameters: ProposeMemory,
  repeatable: true,
  async run(args, { memory, call }: MemoryContext) {
    return { success: true, proposal: await memory.propose(call, args) }
  },
})
