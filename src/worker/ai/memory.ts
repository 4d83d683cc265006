// What a run may look up that earlier runs left, and propose for later ones: for agents that coordinate, and wherever a
// tool is named.
import type { WorkAssignment } from '../../contract/api/tasks/assignment.ts'
import type { ToolHost } from '../../llm/loop/tool-host.ts'
import type { TaskMemory } from '../../ports/memory/task-memory.ts'
import { createCallHost } from '../../tools/coordination/worker/coordination-tool.ts'
import { proposeMemory, recallMemory, remember } from '../../tools/memory/memory-tools.ts'
import { createSearchTranscript } from '../../tools/memory/search-transcript.ts'
import type { Tool } from '../../tools/registry/tool.ts'
import { joinHosts } from '../agent/join-hosts.ts'
import type { WorkerApi } from '../api.ts'

function isOffered({ coordination, loop }: WorkAssignment, { name }: { name: string }): boolean {
  return coordination?.coordinates === true || loop.tools.includes(name)
}

/** The plain tools among them. */
export function openSearch(assignment: WorkAssignment, { transcripts }: Pick<WorkerApi, 'transcripts'>): Tool[] {
  return [createSearchTranscript(transcripts)].filter((tool) => isOffered(assignment, tool))
}

/** The host with the tools of durable memory as well. */
export function joinMemory(host: ToolHost, assignment: WorkAssignment, memory: TaskMemory): ToolHost {
  const tools = [recallMemory, remember, proposeMemory].filter((tool) => isOffered(assignment, tool))
  const iteration = assignment.coordination?.iteration ?? 0
  return joinHosts(host, createCallHost(tools, { iteration, contextOf: ({ call }) => ({ memory, call }) }))
}
