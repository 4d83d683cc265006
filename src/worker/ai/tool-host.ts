// The tools that a run is offered: those of an agent that coordinates, messages of its family, durable memory and the code
// host, and what makes the run wait for a person.
import type { WorkAssignment } from '../../contract/api/tasks/assignment.ts'
import type { Inbox } from '../../llm/loop/loop.ts'
import type { ToolHost } from '../../llm/loop/tool-host.ts'
import type { Redactor } from '../../observability/redaction.ts'
import type { TaskCodeHost } from '../../ports/codehost/code-host.ts'
import type { TaskCoordination } from '../../ports/coordination/coordination.ts'
import type { TaskMemory } from '../../ports/memory/memories.ts'
import { codeHostTools } from '../../tools/codehost/code-host-tools.ts'
import { approveTools } from '../../tools/coordination/family/approved-host.ts'
import { createCallHost, createCoordinationHost } from '../../tools/coordination/family/call-host.ts'
import {
  coordinatorTools,
  createUpdatePlan,
  messageTools,
  writeMessages,
} from '../../tools/coordination/family/family-tools.ts'
import { createSearchTranscript, proposeMemory, recallMemory, remember } from '../../tools/memory/memory-tools.ts'
import type { ModelTool } from '../../tools/registry/tool.ts'
import type { WorkerApi } from '../api.ts'

/** The plain tools among them. */
export function openCoordination(
  { coordination }: WorkAssignment,
  { api, redact }: { api: Pick<WorkerApi, 'savePlan'>; redact: Redactor },
): ModelTool[] {
  if (coordination?.coordinates !== true) return []
  const updatePlan = createUpdatePlan(coordination, (plan) =>
    api.savePlan({ ...plan, summary: redact(plan.summary), plan_document: redact(plan.plan_document) }),
  )
  return [updatePlan]
}

/** The host with the tools of the family as well; they take precedence over tools of the same names. */
export function joinFamily(
  host: ToolHost,
  { coordination }: WorkAssignment,
  { api, redact }: { api: TaskCoordination; redact: Redactor },
): ToolHost {
  if (coordination === undefined) return host
  const { iteration, coordinates, approvalRequiredTools: tools = [] } = coordination
  const family = createCoordinationHost(coordinates ? coordinatorTools : messageTools, { coordination: api, iteration })
  const joined = joinHosts(host, family)
  return tools.length === 0 ? joined : approveTools(joined, { tools, coordination: api, iteration, redact })
}

/** Messages of the family, which reach the model between its turns. */
export function openInbox(
  { coordination }: WorkAssignment,
  api: TaskCoordination,
  redact: Redactor,
): Inbox | undefined {
  if (coordination === undefined) return undefined
  return {
    async read(after) {
      const messages = (await api.readMessages({ markRead: false })).filter(({ id }) => id > after)
      const last = messages.at(-1)
      return last && { text: redact(writeMessages(messages)), upTo: last.id }
    },
    confirm: async (upTo) => void (await api.readMessages({ markRead: true, upTo })),
  }
}

function isOffered({ coordination, loop }: WorkAssignment, { name }: { name: string }): boolean {
  return coordination?.coordinates === true || loop.tools.includes(name)
}

/** The plain tools among them. */
export function openSearch(assignment: WorkAssignment, { transcripts }: Pick<WorkerApi, 'transcripts'>): ModelTool[] {
  return [createSearchTranscript(transcripts)].filter((tool) => isOffered(assignment, tool))
}

/** The host with the tools of durable memory as well. */
export function joinMemory(host: ToolHost, assignment: WorkAssignment, memory: TaskMemory): ToolHost {
  const tools = [recallMemory, remember, proposeMemory].filter((tool) => isOffered(assignment, tool))
  const iteration = assignment.coordination?.iteration ?? 0
  return joinHosts(host, createCallHost(tools, { iteration, contextOf: ({ call }) => ({ memory, call }) }))
}

/** The host with these tools as well. */
export function joinCodeHost(host: ToolHost, assignment: WorkAssignment, codeHost: TaskCodeHost): ToolHost {
  const { codeHostTools: offered = [], coordination } = assignment
  const tools = codeHostTools.filter(({ name }) => offered.includes(name))
  if (tools.length === 0) return host
  const readHeads = new Map<string, string>()
  const iteration = coordination?.iteration ?? 0
  return joinHosts(host, createCallHost(tools, { iteration, contextOf: (call) => ({ ...call, codeHost, readHeads }) }))
}

/** Tools of the second take precedence over those of the same name. */
function joinHosts(first: ToolHost, second: ToolHost): ToolHost {
  const names = new Set(second.list().map(({ name }) => name))
  const list = [...first.list().filter(({ name }) => !names.has(name)), ...second.list()]
  return {
    list: () => list,
    call: (call, signal) => (names.has(call.name) ? second : first).call(call, signal),
  }
}
