// What the use cases are made from.
import type { BuiltinTool } from '../contract/api/tools.ts'
import type { Ports } from '../ports/index.ts'
import type { ResourceKey } from '../ports/resources.ts'
import type { ContextMode } from '../rules/context-token.ts'
import type { PropagationSettings } from '../rules/token-propagation.ts'
import type { BudgetLedger } from './budgets/ledger.ts'
import type { ChatSettings } from './chat/settings.ts'
import type { HealthNotes } from './providers/health.ts'

export type UsecaseSettings = {
  /** Whether providers of type `demo` may exist: embedded mode, listening on loopback (PROV-015). */
  allowDemoProvider: boolean
  /** Whether what runs has nodes and classes to be placed by; without, fields that place it are refused. */
  hasCluster?: boolean
  /** `host:port` of the service itself; never a provider's address (NET-005). */
  ownAddresses(): readonly string[]
  /** `--allow-network`: private networks that providers of anybody may lie in. */
  allowNetworks: readonly string[]
  /** `--enforce-namespace-isolation`: what a resource names lies in its own namespace. Absent: anywhere. */
  isolateNamespaces?: boolean
  /** The Secret that stands for the service's own environment: only the owner may name it, lest its keys be sent elsewhere. */
  ownerSecret?: ResourceKey
  /** What running tasks are held to of the context that asked for them; absent: nothing. */
  contextMode?: ContextMode
  /** Absent: context tokens are off. */
  propagation?: PropagationSettings
  /** What the audit log keeps beside writes and refusals; and who is told when it cannot be written. */
  audit?: { level: 'writes' | 'all'; report?: (message: string, error?: unknown) => void }
  /** Limits of chat; absent ones are the defaults. */
  chat?: Partial<ChatSettings>
  /** Key of the hashes that idempotency keys are stored as (HTTP-035); at least 16 bytes. */
  idempotencyKey: Uint8Array
}

/** The built-in tools as GET /tools shows them, each with whether it can run here. */
export interface BuiltinTools {
  list(): Promise<BuiltinTool[]>
  /** Every reserved name, also of tools that are hidden. */
  names: readonly string[]
}

export type UsecaseDeps = {
  ports: Ports
  settings: UsecaseSettings
  builtinTools: BuiltinTools
  /** Asked before anything is spent, and told what was. */
  ledger: BudgetLedger
  /** Told how calls of providers end; absent: nobody is. */
  health?: HealthNotes
}
