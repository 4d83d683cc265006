import { describe, expect, it } from 'vitest'
import { type Finding, type FindingState, findingStates } from '../../contract/api/security/findings.ts'
import { dismiss, type FindingAction, rankOf, reopen, requireState } from './finding-state.ts'

const finding: Finding = {
  id: 'fnd_1',
  namespace: 'default',
  repositoryScan: 'shop',
  scanRunID: 'scan_1',
  fingerprint: 'f',
  title: 't',
  summary: 's',
  severity: 'high',
  confidence: 'high',
  evidence: [],
  validationStatus: 'unvalidated',
  state: 'open',
  createdAt: '2030-01-01T00:00:00.000Z',
  updatedAt: '2030-01-01T00:00:00.000Z',
}
const now = '2030-01-02T00:00:00.000Z'

describe('the states of a finding', () => {
  const begins: [FindingAction, FindingState[]][] = [
    ['dismiss', ['open', 'patch_ready', 'fixed']],
    ['reopen', ['dismissed', 'fixed']],
    ['validate', ['open', 'patch_pending', 'patch_ready', 'pr_open']],
    ['patch', ['open', 'patch_ready']],
    ['open a pull request for', ['patch_ready', 'pr_open']],
  ]

  it.each(begins)('may %s from %j only, and a refusal names the state', (action, states) => {
    for (const state of findingStates) {
      const attempt = () => requireState({ ...finding, state }, action)
      if (states.includes(state)) expect(attempt).not.toThrow()
      else expect(attempt).toThrow(new RegExp(`cannot ${action} finding "fnd_1": it is ${state}; \\w+`))
    }
  })

  it('keep a dismissal while it lasts', () => {
    const dismissed = dismiss(finding, { reason: 'constant', by: 'ada', at: now })
    expect(dismissed).toMatchObject({ state: 'dismissed', dismissal: { by: 'ada' }, updatedAt: now })
    expect(reopen(dismissed, now)).toEqual({ ...finding, updatedAt: now })
  })

  it('rank candidates by severity, validation, confidence and time, and nothing that is settled', () => {
    const order: Partial<Finding>[] = [
      { severity: 'critical', confidence: 'low', validationStatus: 'skipped' },
      { validationStatus: 'validated', confidence: 'low' },
      { updatedAt: now },
      {},
      { confidence: 'medium' },
      { validationStatus: 'skipped' },
      { validationStatus: 'pending' },
      { severity: 'low', validationStatus: 'validated' },
    ]
    const ranks = order.map((change) => rankOf({ ...finding, ...change }) ?? '')
    expect(ranks).toEqual(ranks.toSorted().toReversed())
    for (const change of [{ state: 'fixed' }, { state: 'dismissed' }, { validationStatus: 'failed' }] as const)
      expect(rankOf({ ...finding, ...change })).toBeUndefined()
  })
})
