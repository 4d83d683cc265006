// What the task controllers are given: ports, settings, and how they are bound together.
import type { AssignedEgress, AssignedSearch } from '../../contract/api/assignment.ts'
import { artifactLimits } from '../../contract/api/internal.ts'
import { noWorkspaces, type WorkspaceDefaults } from '../../contract/resources/task-problems.ts'
import type { Metrics } from '../../observability/metrics.ts'
import type { Clock, Ids } from '../../ports/clock.ts'
import type { ConfigMaps } from '../../ports/configmaps.ts'
import type { Egress } from '../../ports/egress.ts'
import type { TokenExchange, WorkerTokens } from '../../ports/identity.ts'
import type { Records } from '../../ports/index.ts'
import type { Resources } from '../../ports/resources.ts'
import type { Secrets } from '../../ports/secrets.ts'
import type { WorkloadLimits, Workloads } from '../../ports/workloads.ts'
import type { Spender } from '../../rules/budget.ts'
import type { ContextMode } from '../../rules/context-token.ts'
import type { PropagationSettings } from '../../rules/token-propagation.ts'
import type { Log } from '../engine/controller.ts'

export type TaskSettings = {
  /** Running tasks at a time, where what runs them sets no bound of its own; 0: no limit. */
  maxRunningTasks: number
  /** Running tasks of one namespace at a time; 0: no limit. */
  maxTasksPerNamespace: number
  /** How long a task waits for an agent, provider, secret, tool or skill that does not exist. */
  referenceWaitMs: number
  /** Base address of the worker API; asked when a task starts, since a port may be picked late. */
  workerApiUrl: () => string
  egress: AssignedEgress
  search?: AssignedSearch
  /** Turns of an ai task's tool loop. */
  maxIterations: number
  maxToolCalls: number
  toolTimeoutMs: number
  /** Files of an ai task's workspace that are kept as artifacts: how many, and how many bytes together. */
  keep: { files: number; bytes: number }
  /** For tasks and agents that set no resources. */
  defaultLimits: WorkloadLimits
  /** Command lines that agent tasks can run here. */
  agentRuntimes: string[]
  workspaces: WorkspaceDefaults
  /** References into other namespaces are refused. */
  isolateNamespaces: boolean
  /** How the constraints of context tokens bind the tasks that they asked for. */
  contextMode: ContextMode
  /** Absent: context tokens are off. */
  propagation?: PropagationSettings
  /** Tasks that are reconciled at the same time. */
  concurrency: number
}

/** Everything but the address of the worker API, which only the composition root knows. */
export const defaultTaskSettings: Omit<TaskSettings, 'workerApiUrl'> = {
  maxRunningTasks: 0,
  maxTasksPerNamespace: 0,
  referenceWaitMs: 300_000,
  egress: { allowNetworks: [], deny: [] },
  maxIterations: 50,
  maxToolCalls: 128,
  toolTimeoutMs: 60_000,
  keep: { files: 200, bytes: artifactLimits.bytes },
  defaultLimits: { cpu: 1, memoryBytes: 2 * 1024 ** 3, diskBytes: 2 * 1024 ** 3 },
  agentRuntimes: [],
  workspaces: noWorkspaces,
  isolateNamespaces: false,
  contextMode: 'off',
  concurrency: 32,
}

/** Told of what is counted. */
export type TaskObserver = Pick<Metrics, 'observeTask' | 'countTimelineEvents'>

/** Whether more may be spent. */
export type Spending = {
  /** BudgetExceeded when a budget that covers the spender is used up. */
  require(spender: Spender): void | Promise<void>
}

export type TaskControllerDeps = {
  resources: Resources
  records: Records
  secrets: Secrets
  configMaps: ConfigMaps
  workloads: Workloads
  workerTokens: WorkerTokens
  /** Absent: context tokens are not exchanged. */
  tokenExchange?: TokenExchange
  egress: Egress
  clock: Clock
  ids: Ids
  log: Log
  observer?: TaskObserver
  /** Absent: there are no budgets. */
  spending?: Spending
  settings: TaskSettings
}
