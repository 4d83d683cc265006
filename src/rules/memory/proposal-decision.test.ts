import { describe, expect, it } from 'vitest'
import { proposalStatuses } from '../../contract/api/memory/memory-proposals.ts'
import { decideProposal, type ProposalStep, tagsOfDescription } from './proposal-decision.ts'

const allSteps: ProposalStep[] = ['accept', 'reject', 'reopen', 'apply', 'archive']
const moves: Record<string, Partial<Record<ProposalStep, string>>> = {
  pending: { accept: 'accepted', reject: 'rejected', archive: 'archived' },
  accepted: { apply: 'applied', archive: 'archived' },
  rejected: { reopen: 'pending', archive: 'archived' },
  archived: { archive: 'none' },
  applied: { apply: 'none' },
}
const cases = proposalStatuses.flatMap((status) => allSteps.map((step) => [status, step] as const))

describe('a step of a proposal', () => {
  it.each(cases)('of one that is %s: %s', (status, step) => {
    const decision = decideProposal({ status, type: 'memory', content: 'x' }, step)
    const wanted = moves[status]?.[step]
    if (wanted === undefined) {
      expect(decision).toMatchObject({ action: 'refuse', because: 'conflict' })
      expect(JSON.stringify(decision)).toContain(`is ${status} and cannot be`)
    } else expect(decision).toEqual(wanted === 'none' ? { action: 'none' } : { action: 'move', to: wanted })
  })

  it.each([{ type: 'skill', content: 'x' }, { type: 'memory', content: ' ' }, { type: 'memory' }])(
    'does not apply %j',
    (proposal) => {
      const decision = decideProposal({ status: 'accepted', ...proposal }, 'apply')
      expect(decision).toMatchObject({ action: 'refuse', because: 'request' })
    },
  )
})

describe('tags of a description', () => {
  it.each([
    ['Tags: a, B ,a,,', ['a', 'b']],
    ['why\n  tags:x\nTags: y', ['x']],
    ['The Tags: a', []],
    ['Tags:\na, b', []],
    [undefined, []],
    [`Tags: ${'x'.repeat(129)}, y`, ['y']],
    [`Tags: ${Array.from({ length: 100 }, (_, at) => at).join()}`, Array.from({ length: 64 }, (_, at) => String(at))],
  ])('%j', (description, tags) => {
    expect(tagsOfDescription(description)).toEqual(tags)
  })
})
