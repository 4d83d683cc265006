// What may become of a finding: by people, by reviews, and by what is done about it. `now` is RFC 3339.
import type {
  Dismissal,
  Finding,
  FindingDraft,
  FindingOrigin,
  FindingState,
} from '../../contract/api/scans/findings.ts'
import { confidences, severities } from '../../contract/kinds/scans/repository-scan.ts'
import { SvcError } from '../../errors.ts'
import { dropUndefined } from '../../lib/json.ts'

/** What people and the service do with a finding. */
export type FindingAction = 'dismiss' | 'reopen' | 'validate' | 'patch' | 'open a pull request for'

const unhandled: readonly FindingState[] = ['open', 'patch_pending', 'patch_ready', 'pr_open']

/** The states that each action may begin in. */
const allowed: Record<FindingAction, readonly FindingState[]> = {
  dismiss: ['open', 'patch_ready', 'fixed'],
  reopen: ['dismissed', 'fixed'],
  validate: unhandled,
  patch: ['open', 'patch_ready'],
  'open a pull request for': ['patch_ready', 'pr_open'],
}

const advice: Partial<Record<FindingState, string>> = {
  dismissed: 'reopen it first',
  fixed: 'reopen it first, if it is still there',
  patch_pending: 'wait for the patch that is being written',
  pr_open: 'close its pull request, or merge it',
  open: 'have a patch written first',
}

const waitsForReview = 'its pull request is merged; the next run that sees its file decides'

function advise({ state, prState }: Finding, action: FindingAction): string | undefined {
  if (action === 'reopen')
    return state === 'pr_open' && prState === 'merged' ? waitsForReview : 'it counts as a finding already'
  return state === 'pr_open' && prState === 'merged' ? waitsForReview : advice[state]
}

/** Conflict, which names the state, when the action may not begin in it. */
export function requireState(finding: Finding, action: FindingAction): void {
  const { id, state } = finding
  if (allowed[action].includes(state)) return
  const hint = advise(finding, action)
  throw new SvcError('Conflict', `cannot ${action} finding "${id}": it is ${state}${hint ? `; ${hint}` : ''}`)
}

const closed: readonly FindingState[] = ['dismissed', 'fixed']
const validationOrder = ['validated', 'unvalidated', 'skipped', 'pending'] as const

/**
 * Sorts candidates for a remedy in descending order: by severity, validation, confidence, then the last changed. Undefined:
 * it is none.
 */
export function rankOf(finding: Finding): string | undefined {
  const { severity, validationStatus, confidence, state, updatedAt } = finding
  if (validationStatus === 'failed' || closed.includes(state)) return undefined
  const ranks = [
    severities.length - severities.indexOf(severity),
    validationOrder.length - validationOrder.indexOf(validationStatus),
    confidences.length - confidences.indexOf(confidence),
  ]
  return `${ranks.join('')} ${updatedAt}`
}

/** A finding that was not known. */
export function newFinding(
  draft: FindingDraft,
  origin: FindingOrigin,
  identity: { id: string; namespace: string; repositoryScan: string; now: string },
): Finding {
  const { now, ...owner } = identity
  const state = { validationStatus: 'unvalidated', state: 'open', createdAt: now, updatedAt: now } as const
  return dropUndefined({ ...owner, ...origin, ...draft, ...state }) as Finding
}

/** When something was seen. `startedAt`: when its run began; undefined where the commit may be an older one. */
export type Seeing = { now: string; startedAt?: string | undefined }

/**
 * A finding that a review reports again: what it says is new, what was decided stays. One that was fixed is open again, and
 * so is one whose pull request was merged before the run began.
 */
export function seeAgain(
  known: Finding,
  draft: FindingDraft,
  origin: FindingOrigin,
  { now, startedAt }: Seeing,
): Finding {
  const seen = { ...known, ...dropUndefined(origin), ...dropUndefined(draft), updatedAt: now } as Finding
  const reason = findReturn(known, startedAt)
  return reason === undefined ? seen : { ...openAgain(seen, now, reason), validationStatus: 'unvalidated' }
}

function findReturn({ state, prState, prMergedAt }: Finding, startedAt: string | undefined): string | undefined {
  if (state === 'fixed') return 'it was seen again'
  const isMerged = state === 'pr_open' && prState === 'merged' && prMergedAt !== undefined
  if (!isMerged || startedAt === undefined || startedAt <= prMergedAt) return undefined
  return 'its pull request was merged, and it was seen again'
}

/** What the code host says became of the pull request of a finding that waits for it; others stay. */
export function settlePullRequest(
  finding: Finding,
  number: number,
  { state, now }: { state: 'merged' | 'closed'; now: string },
): Finding {
  if (finding.state !== 'pr_open' || finding.prNumber !== number || finding.prState === 'merged') return finding
  if (state === 'merged') return { ...finding, prState: state, prMergedAt: now, updatedAt: now }
  return { ...openAgain(finding, now, 'its pull request was closed without a merge'), prState: state }
}

/** A finding that a review of its file no longer reports. */
export function markFixed(finding: Finding, now: string): Finding {
  return { ...finding, state: 'fixed', fixedAt: now, updatedAt: now }
}

/** A finding whose code is gone, as it was when that was found out; one that changed meanwhile stays. */
export function closeFinding(finding: Finding, seen: Finding, now: string): Finding {
  return unhandled.includes(finding.state) && finding.scanRunID === seen.scanRunID ? markFixed(finding, now) : finding
}

/** A dismissal in force. Conflict in other states. */
export function dismiss(finding: Finding, dismissal: Dismissal): Finding {
  requireState(finding, 'dismiss')
  return { ...finding, state: 'dismissed', dismissal, updatedAt: dismissal.at }
}

/** Open again, by a person. Conflict in other states. */
export function reopen(finding: Finding, { by, now }: { by: string; now: string }): Finding {
  requireState(finding, 'reopen')
  return openAgain(finding, now, `reopened by ${by}`)
}

/** Open by itself; the reason is for people. */
export function openAgain(finding: Finding, now: string, reason: string): Finding {
  const { dismissal: _ended, fixedAt: _fixed, prState: _settled, prMergedAt: _merged, ...rest } = finding
  return { ...rest, state: 'open', reopenedAt: now, reopenReason: reason, updatedAt: now }
}
