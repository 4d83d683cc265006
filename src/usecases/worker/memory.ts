// Durable memory for running tasks: they recall, and propose what people then decide about.
import { createHash } from 'node:crypto'
import type { ProposeMemory, RecallMemory } from '../../contract/api/memory-tools.ts'
import { dropUndefined } from '../../contract/json.ts'
import { isSvcError } from '../../errors.ts'
import { redactText } from '../../observability/redaction.ts'
import type { WorkerIdentity } from '../../ports/identity.ts'
import type { Memory } from '../../ports/memories.ts'
import type { MemoryProposal } from '../../ports/memory-proposals.ts'
import { identifyTask } from '../../rules/caller-identity.ts'
import type { UsecaseDeps } from '../deps.ts'
import { requireRunningTask, type TaskPath } from './live-attempt.ts'

/** Every call throws Forbidden for a task other than the token's own, and for an attempt that is not the live one. */
export type WorkerMemory = {
  recallForTask(identity: WorkerIdentity, path: TaskPath, args: RecallMemory): Promise<Memory[]>
  proposeForTask(
    identity: WorkerIdentity,
    path: TaskPath,
    request: { call: string; args: ProposeMemory },
  ): Promise<MemoryProposal>
}

function readFilter({ tags, task_name, agent_name, source }: RecallMemory) {
  return { tags, taskName: task_name, agentName: agent_name, source }
}

/** One call has one id, whoever repeats it. */
function nameProposal(taskUid: string, call: string): string {
  return `mprop-${createHash('sha256').update(`${taskUid}\n${call}`).digest('hex').slice(0, 32)}`
}

function redactArgs({ skill_name, agent_name, ...args }: ProposeMemory) {
  const texts = Object.entries({ ...args, skillName: skill_name })
  return Object.fromEntries(
    texts.flatMap(([name, text]) => (text === undefined || text === '' ? [] : [[name, redactText(text)]])),
  ) as { title: string; type: string }
}

export function createWorkerMemory({ ports }: UsecaseDeps): WorkerMemory {
  const { records, resources } = ports
  return {
    async recallForTask(identity, path, args) {
      await requireRunningTask(resources, identity, path)
      const filter = { namespace: path.namespace, ...readFilter(args), limit: args.limit }
      const query = args.query?.trim() ?? ''
      if (query === '' || args.include_disabled) {
        return records.memories.list({ ...filter, query, includeDisabled: args.include_disabled })
      }
      return records.memories.recall({ ...filter, query, reader: identity.taskUid })
    },

    async proposeForTask(identity, path, { call, args }) {
      const task = await requireRunningTask(resources, identity, path)
      const { namespace } = path
      const id = nameProposal(identity.taskUid, call)
      const { title, type, ...texts } = redactArgs(args)
      const agentName = args.agent_name ?? task.spec.agentRef?.name
      try {
        return await records.memoryProposals.create({
          ...dropUndefined({ ...texts, agentName }),
          title,
          type: type.toLowerCase(),
          id,
          namespace,
          taskName: path.taskName,
          createdBy: identifyTask(identity),
        })
      } catch (error) {
        const made = isSvcError(error, 'AlreadyExists')
          ? await records.memoryProposals.get({ namespace, id })
          : undefined
        if (made === undefined) throw error
        return made
      }
    },
  }
}
