// What the status of a claim says: the Ready condition of its sandbox, or why there is none (SandboxClaim and Sandbox
// controllers of agent-sandbox).
import type { WorkspaceFailure, WorkspaceState } from '../../ports/workspaces/execution-workspaces.ts'
import type { Condition } from '../jobs/objects.ts'
import type { SandboxClaim } from './objects.ts'

/** Reasons that stay until somebody changes the template. */
const lasting: Record<string, WorkspaceFailure> = {
  InvalidMetadata: 'TemplateIncompatible',
  EnvVarsInjectionRejected: 'TemplateIncompatible',
  VolumeClaimTemplatesError: 'TemplateIncompatible',
}

/** Its sandbox, or what ran in it, has ended; or nobody can tell any more which pod it is. */
const ended = new Set(['ClaimExpired', 'SandboxExpired', 'PodFailed', 'PodSucceeded', 'MultiplePods'])

const suspended = 'SandboxSuspended'

export function readyConditionOf({ status }: SandboxClaim): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready')
}

/** Name of the sandbox that can be used now. */
export function findReadySandbox(claim: SandboxClaim): string | undefined {
  return readyConditionOf(claim)?.status === 'True' ? claim.status?.sandbox?.name : undefined
}

export function isSuspendedClaim(claim: SandboxClaim): boolean {
  return readyConditionOf(claim)?.reason === suspended
}

function describe({ reason, message }: Condition): string {
  return [reason, message].filter((part) => part !== undefined && part !== '').join(': ')
}

export function judgeClaim(claim: SandboxClaim | undefined): WorkspaceState {
  if (claim === undefined) return { phase: 'Absent' }
  if (claim.metadata.deletionTimestamp !== undefined) return { phase: 'Pending', message: 'it is being deleted' }
  const ready = readyConditionOf(claim)
  if (ready === undefined) return { phase: 'Pending', message: 'agent-sandbox has not looked at its claim yet' }
  if (findReadySandbox(claim) !== undefined) return { phase: 'Ready' }
  const { reason = '' } = ready
  if (reason === suspended) return { phase: 'Suspended' }
  const failure = ended.has(reason) ? 'WorkspaceLost' : lasting[reason]
  if (failure === undefined) return { phase: 'Pending', message: describe(ready) }
  return { phase: 'Failed', reason: failure, message: `agent-sandbox says of its claim: ${describe(ready)}` }
}
