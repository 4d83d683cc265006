// What the task controllers need: ports, settings, and how they are wired.
import type { AssignedEgress, AssignedSearch } from '../../contract/api/tasks/assignment.ts'
import { artifactLimits } from '../../contract/api/tasks/internal.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { noWorkspaces } from '../../contract/kinds/tasks/task-problems.ts'
import type { Clock, Ids } from '../../lib/clock.ts'
import type { Metrics } from '../../observability/metrics.ts'
import type { CodeHosts } from '../../ports/codehost/code-host.ts'
import type { AgentTokens, TokenExchange, WorkerTokens } from '../../ports/identity/identity.ts'
import type { Records } from '../../ports/index.ts'
import type { QueryVectors } from '../../ports/memory/memory-vectors.ts'
import type { ConfigMaps } from '../../ports/resources/configmaps.ts'
import type { Resources } from '../../ports/resources/resources.ts'
import type { Secrets } from '../../ports/resources/secrets.ts'
import type { Egress } from '../../ports/service/egress.ts'
import type { Probes } from '../../ports/tasks/probes.ts'
import type { WorkloadLimits, Workloads } from '../../ports/tasks/workloads.ts'
import type { ToolActors } from '../../ports/tools/tool-actors.ts'
import type { AgentPrograms } from '../../rules/agents/agent-programs.ts'
import type { Spender } from '../../rules/budgets/budget.ts'
import type { TaskBound } from '../../rules/budgets/task-budget.ts'
import type { ContextMode } from '../../rules/identity/context-token.ts'
import type { PropagationSettings } from '../../rules/identity/token-propagation.ts'
import type { WorkspaceSettings } from '../../rules/workspaces/execution-workspace.ts'
import type { Log } from '../engine/controller.ts'

export type TaskSettings = {
  /** Concurrent tasks, where the workloads set no limit of their own; 0: no limit. */
  maxRunningTasks: number
  /** Concurrent tasks of one namespace; 0: no limit. */
  maxTasksPerNamespace: number
  /** How long a task waits for an agent, provider, secret, tool or skill that does not exist. */
  referenceWaitMs: number
  /** Base address of the worker API; read when a task starts, because the port may be chosen late. */
  workerApiUrl: () => string
  egress: AssignedEgress
  search?: AssignedSearch
  /** The most turns of an ai task's tool loop. */
  maxIterations: number
  maxToolCalls: number
  toolTimeoutMs: number
  /** Limits on the workspace files of an ai task that are kept as artifacts: number and total bytes. */
  keep: { files: number; bytes: number }
  /** For tasks and agents that set no resources. */
  defaultLimits: WorkloadLimits
  /** Of the workspace of a task in a git repository that sets none. */
  checkoutLimits: Required<Pick<WorkloadLimits, 'diskBytes' | 'diskFiles'>>
  /** Agent programs that agent tasks can run here. */
  agentPrograms: AgentPrograms
  /** Where a worker looks the programs up, as in the variable PATH. */
  agentPath: string
  /** Tokens in and out that the agent program of one attempt may use. */
  agentTokens: number
  workspaces: WorkspaceSettings
  /** True when references into other namespaces are refused. */
  isolateNamespaces: boolean
  /** How strictly the constraints of context tokens apply to the tasks created with them. */
  contextMode: ContextMode
  /** Absent: context tokens are off. */
  propagation?: PropagationSettings
  /** Concurrent reconciles of tasks. */
  concurrency: number
}

/** Everything except the address of the worker API, which only the composition root knows. */
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
  checkoutLimits: { diskBytes: 10 * 1024 ** 3, diskFiles: 1024 ** 2 },
  agentPrograms: {},
  agentPath: '/usr/local/bin:/usr/bin:/bin',
  agentTokens: 50_000_000,
  workspaces: { ...noWorkspaces, providers: {} },
  isolateNamespaces: false,
  contextMode: 'off',
  concurrency: 32,
}

/** Receives what is counted. */
export type TaskObserver = Pick<Metrics, 'observeTask' | 'countTimelineEvents'>

/** Checks whether more may be spent. */
export type Spending = {
  /** BudgetExceeded when a budget that covers the spender is used up. */
  require(spender: Spender): void | Promise<void>
  /** What budgets that cover the spender allow each single task. */
  taskBounds(spender: Spender): TaskBound[] | Promise<TaskBound[]>
}

/** Checks the budgets of single tasks. */
export type TaskBudgets = {
  /** BudgetExceeded when the budget of the task, or of a task that it descends from, is used up. */
  require(task: Task): Promise<void>
}

export type TaskControllerDeps = {
  resources: Resources
  records: Records
  secrets: Secrets
  configMaps: ConfigMaps
  workloads: Workloads
  workerTokens: WorkerTokens
  /** Absent: agent tasks cannot run. */
  agentTokens?: AgentTokens
  /** Absent: context tokens are not exchanged. */
  tokenExchange?: TokenExchange
  egress: Egress
  /** Absent: memories are searched by words alone. */
  queryVectors?: QueryVectors
  /** Absent: Secrets of Apps cannot be used. */
  codeHosts?: CodeHosts
  /** Absent: tools cannot have actors. */
  toolActors?: ToolActors
  /** Absent: parked tasks cannot wait for anything outside. */
  probes?: Probes
  clock: Clock
  ids: Ids
  log: Log
  observer?: TaskObserver
  /** Absent: there are no budgets. */
  spending?: Spending
  /** Absent: tasks have no budgets. */
  taskBudgets?: TaskBudgets
  /** Writes the usage of the proxies' calls that have ended; absent: there are none. */
  settleUsage?: () => Promise<void>
  settings: TaskSettings
}
