// The states of a memory proposal, and the memory that is made of it.
import { maxTagLength, maxTags } from '../../contract/api/memory/memories.ts'
import type { MemoryProposal, ProposalStatus } from '../../contract/api/memory/memory-proposals.ts'

export type ProposalStep = 'accept' | 'reject' | 'reopen' | 'apply' | 'archive'

export type ProposalDecision =
  | { action: 'move'; to: ProposalStatus }
  /** It is there already. */
  | { action: 'none' }
  /** `conflict`: with its state; `request`: nothing can ever be applied of it as it is. */
  | { action: 'refuse'; because: 'conflict' | 'request'; message: string }

type Steps = { past: string; to: ProposalStatus; from: readonly ProposalStatus[]; advice: string }

const steps: Record<ProposalStep, Steps> = {
  accept: { past: 'accepted', to: 'accepted', from: ['pending'], advice: 'only a pending one can be reviewed' },
  reject: { past: 'rejected', to: 'rejected', from: ['pending'], advice: 'only a pending one can be reviewed' },
  reopen: { past: 'taken up again', to: 'pending', from: ['rejected'], advice: 'only a rejected one can be' },
  apply: { past: 'applied', to: 'applied', from: ['accepted'], advice: 'it must be accepted first' },
  archive: {
    past: 'archived',
    to: 'archived',
    from: ['pending', 'accepted', 'rejected'],
    advice: 'disable its memory instead',
  },
}

/** Steps that may be asked for again. */
const repeatable: readonly ProposalStep[] = ['apply', 'archive']

function refuseContent({ type, content }: Pick<MemoryProposal, 'type' | 'content'>): string | undefined {
  if (type !== 'memory')
    return `only a proposal of type memory can be applied, and this one is of type ${type}: make that by hand, and archive the proposal`
  if ((content ?? '').trim() === '') return 'the proposal has no content to remember: propose it again with one'
  return undefined
}

/** What the step does to a proposal in its state. */
export function decideProposal(
  proposal: Pick<MemoryProposal, 'status' | 'type' | 'content'>,
  step: ProposalStep,
): ProposalDecision {
  const { status } = proposal
  const { past, to, from, advice } = steps[step]
  if (status === to && repeatable.includes(step)) return { action: 'none' }
  const useless = step === 'apply' ? refuseContent(proposal) : undefined
  if (useless !== undefined) return { action: 'refuse', because: 'request', message: useless }
  if (from.includes(status)) return { action: 'move', to }
  // Archived proposals are final: nothing more can be advised.
  const hint = status === 'archived' || status === 'rejected' ? 'propose it again' : advice
  return { action: 'refuse', because: 'conflict', message: `the proposal is ${status} and cannot be ${past}: ${hint}` }
}

/** The tags in the first line `Tags: a, b` of a description; trimmed, in lower case, each once. Those that no memory may have are left out. */
export function tagsOfDescription(description = ''): string[] {
  const line = /^[ \t]*tags:(.*)$/im.exec(description)?.[1] ?? ''
  const tags = line.split(',').map((tag) => tag.trim().toLowerCase())
  return [...new Set(tags)].filter((tag) => tag !== '' && tag.length <= maxTagLength).slice(0, maxTags)
}
