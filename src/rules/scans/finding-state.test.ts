import { describe, expect, it } from 'vitest'
import { type Finding, type FindingState, findingStates } from '../../contract/api/scans/findings.ts'
import {
  dismiss,
  type FindingAction,
  rankOf,
  reopen,
  requireState,
  seeAgain,
  settlePullRequest,
} from './finding-state.ts'

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
    expect(reopen(dismissed, { by: 'bo', now })).toEqual({
      ...finding,
      updatedAt: now,
      reopenedAt: now,
      reopenReason: 'reopened by bo',
    })
  })

  const offered: Finding = { ...finding, state: 'pr_open', prNumber: 7, prURL: 'u', prState: 'open' }

  it('are open again with the reason when their pull request is closed without a merge', () => {
    const closed = settlePullRequest(offered, 7, { state: 'closed', now })
    expect(closed).toMatchObject({ state: 'open', prNumber: 7, prState: 'closed', reopenedAt: now })
    expect(closed.reopenReason).toBe('its pull request was closed without a merge')
    expect(settlePullRequest(offered, 8, { state: 'closed', now })).toEqual(offered)
    const fixed = { ...offered, state: 'fixed' } as const
    expect(settlePullRequest(fixed, 7, { state: 'closed', now })).toEqual(fixed)
    expect(() => requireState(closed, 'patch')).not.toThrow()
  })

  it('wait for a review once their pull request is merged, and are open again only by a later one that sees them', () => {
    const merged = settlePullRequest(offered, 7, { state: 'merged', now })
    expect(merged).toMatchObject({ state: 'pr_open', prState: 'merged', prMergedAt: now })
    expect(settlePullRequest(merged, 7, { state: 'closed', now })).toEqual(merged)
    expect(() => requireState(merged, 'dismiss')).toThrow(/it is pr_open; its pull request is merged/)
    const { fingerprint, title, summary, severity, confidence, evidence } = finding
    const draft = { fingerprint, title, summary, severity, confidence, evidence, line: 9 }
    const origin = { scanRunID: 'scan_2' }
    const later = '2030-01-03T00:00:00.000Z'
    for (const startedAt of [undefined, finding.createdAt, now])
      expect(seeAgain(merged, draft, origin, { now: later, startedAt }).state).toBe('pr_open')
    expect(seeAgain(merged, draft, origin, { now: later, startedAt: later })).toMatchObject({
      state: 'open',
      reopenReason: 'its pull request was merged, and it was seen again',
      validationStatus: 'unvalidated',
    })
    expect(seeAgain(offered, draft, origin, { now: later, startedAt: later }).state).toBe('pr_open')
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
