// What the use cases need.
import type { StepReport } from '../../contract/api/tasks/steps.ts'
import type { BuiltinTool } from '../../contract/api/tools/tools.ts'
import type { WorkspaceDefaults } from '../../contract/kinds/tasks/task-problems.ts'
import type { ReviewMarkerSettings } from '../../lookup/service-secrets.ts'
import type { Ports } from '../../ports/index.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import type { ContextMode } from '../../rules/identity/context-token.ts'
import type { PropagationSettings } from '../../rules/identity/token-propagation.ts'
import type { StepSubject } from '../../rules/tasks/step-spans.ts'
import type { NetworkSettings } from '../../rules/workspaces/network.ts'
import type { BudgetLedger } from '../budgets/ledger.ts'
import type { ChatSettings } from '../chat/settings.ts'
import type { WebhookSettings } from '../codehost/deliveries/settings.ts'
import type { HealthNotes, HealthOptions } from '../providers/health.ts'

export type UsecaseSettings = {
  /** Whether providers of type `demo` may exist: embedded mode, listening on loopback (PROV-015). */
  allowDemoProvider: boolean
  /** Whether workloads can be placed on nodes; without that, placement fields are refused. */
  hasCluster?: boolean
  /** `host:port` of the service itself; never a provider's address (NET-005). */
  ownAddresses(): readonly string[]
  /** Whether MCP servers can run in actors (MCP-014). */
  hasActors?: boolean
  /** `--allow-network`: private networks that anybody's providers may be in. */
  allowNetworks: readonly string[]
  /** `--enforce-namespace-isolation`: resources may refer only to their own namespace. Absent: to any. */
  isolateNamespaces?: boolean
  /**
   * The Secret that represents the service's own environment. Only the owner may name it, or others could send its keys
   * elsewhere.
   */
  ownerSecret?: ResourceKey
  /** How running tasks are bound to their context; absent: not at all. */
  contextMode?: ContextMode
  /** Absent: context tokens are off. */
  propagation?: PropagationSettings
  /** What the audit log keeps besides writes and refusals, and where it reports that it cannot be written. */
  audit?: { level: 'writes' | 'all'; report?: (message: string, error?: unknown) => void }
  /** Where alerts are sent, and what they are signed with; absent: nowhere. */
  alertWebhook?: { url: string; secret?: string } | undefined
  /** The webhook of the code host; without a secret it is off. */
  webhook?: Partial<Omit<WebhookSettings, 'hosts'>>
  /** `--apply-memories-of`: `namespace/agent` of those whose proposals of memories no person decides about. Absent: none. */
  applyMemoriesOf?: readonly string[]
  /** Which network programs have; absent: `defaultNetworkSettings`. */
  network?: NetworkSettings
  /** Execution workspaces of agent tasks; absent: there are none. */
  workspaces?: WorkspaceDefaults
  /** From what the list of workspaces computes their ends and costs. */
  workspaceList?: { retentionMs: number; hourlyCost: number }
  /** Limits of chat; absent ones have their defaults. */
  chat?: Partial<ChatSettings>
  /** Called for each word of a vendor that is not known. */
  onUnknown?: HealthOptions['onUnknown']
  /** Called for each answer that could not be stored as its caller wanted. */
  onUnstored?: (answer: { namespace: string; id: string; reason: string }) => void
  /** Called with steps once they are stored; the one who traces them. */
  onSteps?: (subject: StepSubject, attempt: number, steps: readonly StepReport[]) => void
  /** Absent: reviews cannot be marked, and so are not posted. */
  reviewMarkers?: ReviewMarkerSettings
  /** Key for hashing stored idempotency keys (HTTP-035); at least 16 bytes. */
  idempotencyKey: Uint8Array
}

/** The built-in tools as GET /tools shows them, each with whether it can run here. */
export interface BuiltinTools {
  list(): Promise<BuiltinTool[]>
  /** Every reserved name, including hidden tools. */
  names: readonly string[]
}

export type UsecaseDeps = {
  ports: Ports
  settings: UsecaseSettings
  builtinTools: BuiltinTools
  /** Checks budgets before a call, and counts its usage afterwards. */
  ledger: BudgetLedger
  /** Notes how each provider call ends; may be absent. */
  health?: HealthNotes
}
