// The family of a run: the tools of an agent that coordinates, messages, and what makes the run wait for a person.
import type { WorkAssignment } from '../../contract/api/tasks/assignment.ts'
import type { Inbox } from '../../llm/loop/loop.ts'
import type { ToolHost } from '../../llm/loop/tool-host.ts'
import type { Redactor } from '../../observability/redaction.ts'
import type { Coordination } from '../../ports/coordination/coordination.ts'
import { approveTools } from '../../tools/coordination/worker/approved-host.ts'
import { createCoordinationHost } from '../../tools/coordination/worker/coordination-tool.ts'
import { coordinatorTools, messageTools, writeMessages } from '../../tools/coordination/worker/family-tools.ts'
import { createUpdatePlan } from '../../tools/coordination/worker/update-plan.ts'
import type { Tool } from '../../tools/registry/tool.ts'
import { joinHosts } from '../agent/join-hosts.ts'
import type { WorkerApi } from '../api.ts'

/** The plain tools among them. */
export function openCoordination(
  { coordination }: WorkAssignment,
  { api, redact }: { api: Pick<WorkerApi, 'savePlan'>; redact: Redactor },
): Tool[] {
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
  { api, redact }: { api: Coordination; redact: Redactor },
): ToolHost {
  if (coordination === undefined) return host
  const { iteration, coordinates, approvalRequiredTools: tools = [] } = coordination
  const family = createCoordinationHost(coordinates ? coordinatorTools : messageTools, { coordination: api, iteration })
  const joined = joinHosts(host, family)
  return tools.length === 0 ? joined : approveTools(joined, { tools, coordination: api, iteration, redact })
}

/** Messages of the family, which reach the model between its turns. */
export function openInbox({ coordination }: WorkAssignment, api: Coordination, redact: Redactor): Inbox | undefined {
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
