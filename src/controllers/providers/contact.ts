// How a provider's vendor was met last, put together from calls, trials and cool-downs (PROV-011).
import type { Provider, ProviderStatus } from '../../contract/kinds/providers/provider.ts'
import type { CoolDown, ProviderContact } from '../../ports/providers/provider-state.ts'
import type { ConditionChange } from '../../rules/resources/conditions.ts'
import type { Tried } from './trials.ts'

type ErrorField = 'lastError' | 'lastErrorAt'
export type Contact = Pick<ProviderStatus, ErrorField | 'lastReached' | 'coolingDownUntil'>

export type Seen = {
  /** The provider's own calls. */
  calls: ProviderContact | undefined
  /** The last trial of the provider as it is now. */
  tried: Tried | undefined
  cooling: CoolDown | undefined
  now: Date
}

/** Without records of an earlier provider with the same name. */
export function ownCalls({ metadata }: Provider, calls: ProviderContact | undefined): ProviderContact | undefined {
  if (calls === undefined) return undefined
  const madeAt = new Date(metadata.creationTimestamp)
  const { goodAt, failed, failures } = calls
  const isOwn = failed !== undefined && failed.at >= madeAt
  return {
    ...(goodAt !== undefined && goodAt >= madeAt && { goodAt }),
    ...(isOwn && { failed }),
    failures: isOwn ? failures : 0,
  }
}

function newer(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return a > b ? a : b
}

function findReached(before: string | undefined, { calls, tried }: Seen): string | undefined {
  const answered = tried?.status === undefined ? undefined : tried.at.toISOString()
  return newer(newer(before, answered), calls?.goodAt?.toISOString())
}

/** What the trial found, unless a call was answered since. */
export function findFault({ tried, calls }: Pick<Seen, 'tried' | 'calls'>): Tried['fault'] {
  return tried !== undefined && (calls?.goodAt ?? 0) > tried.at ? undefined : tried?.fault
}

/** The calls that failed with what it has now. */
export function findFailure({ tried, calls, cooling }: Seen): ProviderContact['failed'] {
  if (calls?.failed === undefined || calls.failures === 0 || cooling !== undefined) return undefined
  return calls.failed.at < (tried?.changedAt ?? 0) ? undefined : calls.failed
}

/** What stands against it now; what is only tried has no time of its own. */
function findTrouble(seen: Seen): { message: string; at?: Date } | undefined {
  if (seen.cooling !== undefined) return { message: seen.cooling.reason }
  const failed = findFailure(seen)
  return failed === undefined ? findFault(seen) : { message: failed.reason, at: failed.at }
}

/** An error stays to be read until the vendor has answered. */
function keepError({ lastError, lastErrorAt }: ProviderStatus, { calls, tried }: Seen): Pick<Contact, ErrorField> {
  const triedAt = tried === undefined || tried.fault !== undefined ? undefined : tried.at.toISOString()
  const goodAt = newer(triedAt, calls?.goodAt?.toISOString())
  if (lastError === undefined || (goodAt !== undefined && goodAt >= (lastErrorAt ?? ''))) return {}
  return { lastError, lastErrorAt }
}

function findError(status: ProviderStatus, seen: Seen): Pick<Contact, ErrorField> {
  const trouble = findTrouble(seen)
  if (trouble === undefined) return keepError(status, seen)
  const { message, at } = trouble
  const firstSeen = message === status.lastError ? status.lastErrorAt : undefined
  return { lastError: message, lastErrorAt: at?.toISOString() ?? firstSeen ?? seen.now.toISOString() }
}

export function findContact({ status = {} }: Provider, seen: Seen): Contact {
  const reached = findReached(status.lastReached, seen)
  return {
    lastReached: reached,
    ...findError(status, seen),
    ...(seen.cooling !== undefined && { coolingDownUntil: seen.cooling.until.toISOString() }),
  }
}

/** Whether calls are answered; undefined before the first call. */
export function describeCalls(calls: ProviderContact | undefined): ConditionChange | undefined {
  if (calls?.failed !== undefined && calls.failures > 0) {
    const which = calls.failures === 1 ? 'the last call' : `the last ${calls.failures} calls`
    const message = `${which} failed: ${calls.failed.reason}`
    return { type: 'Answering', status: 'False', reason: 'CallsFail', message }
  }
  if (calls?.goodAt === undefined) return undefined
  return { type: 'Answering', status: 'True', reason: 'CallsAnswered', message: 'the last call was answered' }
}
