// What may become of a finding: by people, by reviews, and by what is done about it. `now` is RFC 3339.
import type {
  Dismissal,
  Finding,
  FindingDraft,
  FindingOrigin,
  FindingState,
} from '../../contract/api/security/findings.ts'
import { dropUndefined } from '../../contract/json.ts'
import { confidences, severities } from '../../contract/resources/repository-scan.ts'
import { SvcError } from '../../errors.ts'

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

/** Conflict, which names the state, when the action may not begin in it. */
export function requireState({ id, state }: Finding, action: FindingAction): void {
  if (allowed[action].includes(state)) return
  const hint = action === 'reopen' ? 'it counts as a finding already' : advice[state]
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
  given: { id: string; namespace: string; repositoryScan: string; now: string },
): Finding {
  const { now, ...place } = given
  const state = { validationStatus: 'unvalidated', state: 'open', createdAt: now, updatedAt: now } as const
  return dropUndefined({ ...place, ...origin, ...draft, ...state }) as Finding
}

/** A finding that a review reports again: what it says is new, what was decided stays; one that was fixed is open again. */
export function seeAgain(known: Finding, draft: FindingDraft, origin: FindingOrigin, now: string): Finding {
  const seen = { ...known, ...dropUndefined(origin), ...dropUndefined(draft), updatedAt: now } as Finding
  if (known.state !== 'fixed') return seen
  return { ...openAgain(seen, now), validationStatus: 'unvalidated', reopenedAt: now }
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

/** Open again. Conflict in other states. */
export function reopen(finding: Finding, now: string): Finding {
  requireState(finding, 'reopen')
  return openAgain(finding, now)
}

/** Open, by itself: a dismissal has run out, or a patch has failed. */
export function openAgain(finding: Finding, now: string): Finding {
  const { dismissal: _ended, fixedAt: _fixed, ...rest } = finding
  return { ...rest, state: 'open', updatedAt: now }
}
