// Everything the composition root binds, in one type: both modes return the same Ports.
import type { WorkspaceProvider } from '../contract/kinds/tasks/execution.ts'
import type { Clock, Ids } from '../lib/clock.ts'
import type { Alerts } from './budgets/alerts.ts'
import type { Budgets, Usage } from './budgets/usage.ts'
import type { Sessions, Transcripts } from './chat/sessions.ts'
import type { StoredResponses } from './chat/stored-responses.ts'
import type { CodeHosts } from './codehost/code-host.ts'
import type { Deliveries } from './codehost/deliveries.ts'
import type { RepositoryFolders } from './codehost/repository-folders.ts'
import type { Messages } from './coordination/coordination.ts'
import type { Audit } from './identity/audit.ts'
import type {
  AgentTokens,
  Authenticator,
  Authorizer,
  SignInLinks,
  TokenExchange,
  Tokens,
  WorkerTokens,
} from './identity/identity.ts'
import type { Memories, MemoryProposals } from './memory/memories.ts'
import type { MemoryVectors, QueryVectors } from './memory/vectors.ts'
import type { MonitorRecords } from './monitors/monitors.ts'
import type { ProviderHealth, RateLimits } from './providers/provider-state.ts'
import type { ConfigMaps } from './resources/configmaps.ts'
import type { PolicyEntries } from './resources/policy-entries.ts'
import type { AgentVersions, IdempotencyKeys, RecordChanges } from './resources/records.ts'
import type { Resources } from './resources/resources.ts'
import type { Secrets } from './resources/secrets.ts'
import type { Findings } from './scans/findings.ts'
import type { ScanImports, Scans } from './scans/scans.ts'
import type { Outlines, SourceTrees } from './scans/source-trees.ts'
import type { Egress } from './service/egress.ts'
import type { Leadership } from './service/leadership.ts'
import type { Events } from './tasks/events.ts'
import type { NetworkRecords } from './tasks/network-records.ts'
import type { Artifacts, AttemptEnds, Checkpoints, Logs, Plans, Results } from './tasks/outputs.ts'
import type { Approvals, Parkings, Probes } from './tasks/parking.ts'
import type { Runners } from './tasks/runners.ts'
import type { Steps } from './tasks/steps.ts'
import type { Workloads } from './tasks/workloads.ts'
import type { ToolActors } from './tools/tools.ts'
import type { ExecutionWorkspaces } from './workspaces/execution-workspaces.ts'
import type { Sandbox, Scratch } from './workspaces/sandbox.ts'
import type { WorkspaceRecords } from './workspaces/workspace-records.ts'

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
  steps: Steps
  network: NetworkRecords
  ends: AttemptEnds
  approvals: Approvals
  rateLimits: RateLimits
  providerHealth: ProviderHealth
  audit: Audit
  budgets: Budgets
  scans: Scans
  findings: Findings
  scanImports: ScanImports
  deliveries: Deliveries
  alerts: Alerts
  storedResponses: StoredResponses
  agentVersions: AgentVersions
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
  /** Absent: the service accepts no runners. */
  runners?: Runners
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
  /** Absent: no admission policy needs to know of tasks in other namespaces. */
  policyEntries?: PolicyEntries
  /** Absent: memories are searched by words alone. */
  queryVectors?: QueryVectors
  clock: Clock
  ids: Ids
  health: HealthCheck[]
  /** Stops and releases everything, in order. */
  close(): Promise<void>
}
