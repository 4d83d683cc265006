// What workspaces that are actors are made of.
import type { Clock } from '../../lib/clock.ts'
import type { ActorControl } from './control.ts'
import type { Router } from './daemon.ts'
import type { MintIdentity } from './identity.ts'
import type { ActorTemplates } from './templates.ts'
import type { DaemonTokens } from './tokens.ts'

export type ActorParts = {
  control: ActorControl
  /** A part of a DNS label that no other installation of the service has. */
  installation: string
  templates: ActorTemplates
  router: Router
  tokens: DaemonTokens
  /** Absent: sessions have no identity. */
  mintIdentity?: MintIdentity | undefined
  clock: Clock
}

/** Relative to the root. */
export const identityFile = '.svc/session-identity'
