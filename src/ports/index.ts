// Everything the composition root binds, in one type: both modes return the same Ports.

import type { WorkspaceProvider } from '../contract/resources/execution.ts'
import type { Approvals } from './approvals.ts'
import type { Artifacts } from './artifacts.ts'
import type { Audit } from './audit.ts'
import type { Budgets } from './budgets.ts'
import type { Checkpoints } from './checkpoints.ts'
import type { Clock, Ids } from './clock.ts'
import type { CodeHosts } from './code-host.ts'
import type { ConfigMaps } from './configmaps.ts'
import type { Deliveries } from './deliveries.ts'
import type { Egress } from './egress.ts'
import type { Events } from './events.ts'
import type { ExecutionWorkspaces } from './execution-workspaces.ts'
import type { Findings } from './findings.ts'
import type { IdempotencyKeys } from './idempotency.ts'
import type {
  AgentTokens,
  Authenticator,
  Authorizer,
  SignInLinks,
  TokenExchange,
  Tokens,
  WorkerTokens,
} from './identity.ts'
import type { Leadership } from './leadership.ts'
import type { Logs } from './logs.ts'
import type { Memories } from './memories.ts'
import type { MemoryProposals } from './memory-proposals.ts'
import type { MemoryVectors, QueryVectors } from './memory-vectors.ts'
import type { Messages } from './messages.ts'
import type { MonitorRecords } from './monitor-records.ts'
import type { Outlines } from './outlines.ts'
import type { Parkings } from './parkings.ts'
import type { Plans } from './plans.ts'
import type { Probes } from './probes.ts'
import type { ProviderHealth } from './provider-health.ts'
import type { RateLimits } from './rate-limits.ts'
import type { RecordChanges } from './record-changes.ts'
import type { RepositoryFolders } from './repository-folders.ts'
import type { Resources } from './resources.ts'
import type { Results } from './results.ts'
import type { Sandbox } from './sandbox.ts'
import type { ScanImports } from './scan-imports.ts'
import type { Scans } from './scans.ts'
import type { Scratch } from './scratch.ts'
import type { Secrets } from './secrets.ts'
import type { Sessions } from './sessions.ts'
import type { SourceTrees } from './source-trees.ts'
import type { ToolActors } from './tool-actors.ts'
import type { Transcripts } from './transcript-search.ts'
import type { Usage } from './usage.ts'
import type { Workloads } from './workloads.ts'
import type { WorkspaceRecords } from './workspace-records.ts'

/** The stores of records. `plans` is absent with `--plan-store none`. */
export type Records = {
  results: Results
  artifacts: Artifacts
  /** Files that tasks are given before they start, stored under attempt 0. */
  inputs: Artifacts
  logs: Logs
  sessions: Sessions
  transcripts: Transcripts
  plans?: Plans
  memories: Memories
  memoryVectors: MemoryVectors
  memoryProposals: MemoryProposals
  messages: Messages
  monitors: MonitorRecords
  usage: Usage
  events: Events
  idempotency: IdempotencyKeys
  checkpoints: Checkpoints
  parkings: Parkings
  approvals: Approvals
  rateLimits: RateLimits
  providerHealth: ProviderHealth
  audit: Audit
  budgets: Budgets
  scans: Scans
  findings: Findings
  scanImports: ScanImports
  deliveries: Deliveries
  workspaces: WorkspaceRecords
  /** Tells of changes in the others. */
  changes: RecordChanges
}

/** The health of one dependency, for readyz: `check` rejects when it cannot be reached. */
export type HealthCheck = { name: string; check(signal: AbortSignal): Promise<void> }

export type Ports = {
  resources: Resources
  records: Records
  secrets: Secrets
  configMaps: ConfigMaps
  workloads: Workloads
  sandbox: Sandbox
  scratch: Scratch
  authenticator: Authenticator
  /** Absent: only the rules of the service decide. */
  authorizer?: Authorizer
  tokens: Tokens
  signInLinks: SignInLinks
  /** Absent: context tokens are not exchanged. */
  tokenExchange?: TokenExchange
  workerTokens: WorkerTokens
  /** Absent: agents cannot use the proxies. */
  agentTokens?: AgentTokens
  leadership: Leadership
  egress: Egress
  /** Absent: skills cannot be read from repositories. */
  repositoryFolders?: RepositoryFolders
  /** Absent: repositories cannot be scanned. */
  sourceTrees?: SourceTrees
  outlines?: Outlines
  /** Absent: parked tasks cannot wait for anything outside. */
  probes?: Probes
  codeHosts: CodeHosts
  /** Where agent tasks run that ask for a workspace; those that are enabled. */
  executionWorkspaces?: Partial<Record<WorkspaceProvider, ExecutionWorkspaces>>
  /** Absent: MCP servers cannot run in actors. */
  toolActors?: ToolActors
  /** Absent: memories are searched by words alone. */
  queryVectors?: QueryVectors
  clock: Clock
  ids: Ids
  health: HealthCheck[]
  /** Stops and releases everything, in order. */
  close(): Promise<void>
}
