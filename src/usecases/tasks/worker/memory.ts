// Durable memory for running tasks: they recall, and propose what people then decide about.
import { createHash } from 'node:crypto'
import type { ProposeMemory, RecallMemory } from '../../../contract/api/memory/memory-tools.ts'
import { isSvcError } from '../../../errors.ts'
import { dropUndefined } from '../../../lib/json.ts'
import { redactText } from '../../../observability/redaction.ts'
import type { WorkerIdentity } from '../../../ports/identity/identity.ts'
import type { Memory, MemoryProposal, ProposalDraft } from '../../../ports/memory/memories.ts'
import { delegationKeys } from '../../../rules/coordination/delegation.ts'
import { identifyTask } from '../../../rules/identity/caller-identity.ts'
import { createSubjectCheck } from '../../../rules/resources/selectors.ts'
import type { UsecaseDeps } from '../../service/deps.ts'
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

/** What an operator's policy is called where a person would stand. */
const policyName = 'policy'

/** Accepts and applies the proposal, in the name of the policy; one that somebody decided about meanwhile stays as it is. */
async function applyByPolicy(
  { records, ids }: UsecaseDeps['ports'],
  { namespace, id, createdBy }: MemoryProposal,
): Promise<MemoryProposal | undefined> {
  const { memoryProposals } = records
  const key = { namespace, id }
  const reviewNote = 'the operator lets memories of this agent be applied without a review'
  try {
    const decider = { reviewer: policyName, reviewedBy: { name: policyName }, reviewNote }
    await memoryProposals.review(key, { ...decider, status: 'accepted' }).catch(ignoreConflict)
    await memoryProposals.apply(key, {
      memoryId: ids.next('mem'),
      appliedBy: policyName,
      ...(createdBy && { createdBy }),
    })
  } catch (error) {
    ignoreConflict(error)
  }
  return memoryProposals.get(key)
}

function ignoreConflict(error: unknown): void {
  if (!isSvcError(error, 'Conflict')) throw error
}

export function createWorkerMemory({ ports, settings }: UsecaseDeps): WorkerMemory {
  const { records, resources, queryVectors } = ports
  const isTrusted = createSubjectCheck(settings.applyMemoriesOf ?? [])

  /** Of the agent that the task runs, not one that the model names; and none that a model made, which has a name of its choice. */
  async function needsNoReview({ namespace, name }: { namespace: string; name: string | undefined }): Promise<boolean> {
    if (name === undefined || !isTrusted(`${namespace}/${name}`)) return false
    const agent = await resources.get('Agent', { namespace, name })
    return agent !== undefined && agent.metadata.labels?.[delegationKeys.createdByTask] === undefined
  }

  /** The same call makes one proposal. */
  async function proposeOnce(draft: ProposalDraft): Promise<MemoryProposal> {
    try {
      return await records.memoryProposals.create(draft)
    } catch (error) {
      const made = isSvcError(error, 'AlreadyExists') ? await records.memoryProposals.get(draft) : undefined
      if (made === undefined) throw error
      return made
    }
  }

  return {
    async recallForTask(identity, path, args) {
      await requireRunningTask(resources, identity, path)
      const filter = { namespace: path.namespace, ...readFilter(args), limit: args.limit }
      const query = args.query?.trim() ?? ''
      const { vector } = query === '' ? {} : ((await queryVectors?.of(path.namespace, query)) ?? {})
      if (query === '' || args.include_disabled) {
        return records.memories.list({ ...filter, query, vector, includeDisabled: args.include_disabled })
      }
      return records.memories.recall({ ...filter, query, vector, reader: identity.taskUid })
    },

    async proposeForTask(identity, path, { call, args }) {
      const task = await requireRunningTask(resources, identity, path)
      const { namespace } = path
      const { title, type, ...texts } = redactArgs(args)
      const own = task.spec.agentRef?.name
      const proposal = await proposeOnce({
        ...dropUndefined({ ...texts, agentName: args.agent_name ?? own }),
        title,
        type: type.toLowerCase(),
        id: nameProposal(identity.taskUid, call),
        namespace,
        taskName: path.taskName,
        createdBy: identifyTask(identity),
      })
      const isApplied = proposal.type === 'memory' && (await needsNoReview({ namespace, name: own }))
      return (isApplied ? await applyByPolicy(ports, proposal) : undefined) ?? proposal
    },
  }
}
