// What the steps of a reconcile share, and what the task controllers need.
import type { AssignedEgress, AssignedSearch } from '../../contract/api/tasks/assignment.ts'
import { artifactLimits } from '../../contract/api/tasks/internal.ts'
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { AttemptIsolation } from '../../contract/kinds/tasks/execution.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { noWorkspaces } from '../../contract/kinds/tasks/task-problems.ts'
import type { Ports } from '../../ports/index.ts'
import type { PolicyEntries } from '../../ports/resources/policy-entries.ts'
import type { Egress } from '../../ports/service/egress.ts'
import type { Leadership } from '../../ports/service/leadership.ts'
import type { WorkloadLimits, Workloads } from '../../ports/tasks/workloads.ts'
import { type AgentPrograms, noAgentPrograms } from '../../rules/agents/programs.ts'
import { type BudgetSubject, budgetSubjectOf } from '../../rules/budgets/budget.ts'
import { type TaskBound, timeLeftMs } from '../../rules/budgets/task-budget.ts'
import type { ContextMode } from '../../rules/identity/context-token.ts'
import type { PropagationSettings } from '../../rules/identity/token-propagation.ts'
import { chooseIsolation, type IsolationSettings } from '../../rules/tasks/isolation.ts'
import { parentOf } from '../../rules/tasks/stamp.ts'
import type { WorkspaceSettings } from '../../rules/workspaces/execution-workspace.ts'
import { defaultNetworkSettings, type NetworkSettings } from '../../rules/workspaces/network.ts'
import { type Enqueue, formatKey, type Log, type Reconciled } from '../engine/controller.ts'
import type { TaskState } from './state.ts'
import type { StatusRecorder, TaskObserver } from './status-recorder.ts'

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
  /** Prefixes of the labels and annotations that a task's attempts have as well. */
  propagated: Record<'labels' | 'annotations', readonly string[]>
  /** Agent programs that agent tasks can run here. */
  agentPrograms: AgentPrograms
  /** Where a worker looks the programs up, as in the variable PATH. */
  agentPath: string
  /** Tokens in and out that the agent program of one attempt may use. */
  agentTokens: number
  workspaces: WorkspaceSettings
  /** Absent: every attempt has a process of its own. */
  isolation?: IsolationSettings
  network: NetworkSettings
  /** True when references into other namespaces are refused. */
  isolateNamespaces: boolean
  /** How strictly the constraints of context tokens apply to the tasks created with them. */
  contextMode: ContextMode
  /** Absent: context tokens are off. */
  propagation?: PropagationSettings
  /** Whether the end of a task is noted on its metadata too: where others restore objects without their status. */
  marksEnds: boolean
  /** Concurrent reconciles of tasks. */
  concurrency: number
}

/** Everything except the address of the worker API, which only the composition root knows. */
export const defaultTaskSettings: Omit<TaskSettings, 'workerApiUrl'> = {
  maxRunningTasks: 0,
  maxTasksPerNamespace: 0,
  referenceWaitMs: 300_000,
  propagated: { labels: [], annotations: [] },
  egress: { allowNetworks: [], deny: [] },
  maxIterations: 50,
  maxToolCalls: 128,
  toolTimeoutMs: 60_000,
  keep: { files: 200, bytes: artifactLimits.bytes },
  defaultLimits: { cpu: 1, memoryBytes: 2 * 1024 ** 3, diskBytes: 2 * 1024 ** 3 },
  checkoutLimits: { diskBytes: 10 * 1024 ** 3, diskFiles: 1024 ** 2 },
  agentPrograms: noAgentPrograms,
  agentPath: '/usr/local/bin:/usr/bin:/bin',
  agentTokens: 50_000_000,
  workspaces: { ...noWorkspaces, providers: {} },
  network: defaultNetworkSettings,
  isolateNamespaces: false,
  contextMode: 'off',
  marksEnds: false,
  concurrency: 32,
}

/** Checks whether more may be spent. */
type BudgetCheck = {
  /** BudgetExceeded when a budget that covers the subject is used up. */
  require(subject: BudgetSubject): void | Promise<void>
  /** What budgets that cover the subject allow each single task. */
  taskBounds(subject: BudgetSubject): TaskBound[] | Promise<TaskBound[]>
}

/** Checks the budgets of single tasks. */
type TaskBudgetCheck = {
  /** BudgetExceeded when the budget of the task, or of a task that it descends from, is used up. */
  require(task: Task): Promise<void>
}

/** What every step reads, writes and counts. */
type StepDeps = Pick<Ports, 'resources' | 'records' | 'clock' | 'ids'> & {
  log: Log
  observer?: TaskObserver
  settings: TaskSettings
}

/** What an attempt is made of: references, secrets, and the tokens that it is given. */
export type AttemptDeps = Pick<StepDeps, 'settings'> &
  Pick<Ports, 'resources' | 'records' | 'secrets' | 'configMaps' | 'workerTokens' | 'agentTokens'> &
  Pick<Ports, 'tokenExchange' | 'queryVectors' | 'toolActors'> &
  Partial<Pick<Ports, 'codeHosts'>>

type BudgetDeps = {
  /** Absent: there are no budgets. */
  spending?: BudgetCheck
  /** Absent: tasks have no budgets. */
  taskBudgets?: TaskBudgetCheck
  /** Writes the usage of the proxies' calls that have ended; absent: there are none. */
  settleUsage?: () => Promise<void>
}

/** What the receiver of callbacks is reached with. */
export type DeliveryDeps = Omit<StepDeps, 'observer' | 'log'> & Pick<AttemptDeps, 'secrets'> & { egress: Egress }

export type ProbeDeps = Pick<StepDeps, 'log'> & Pick<Ports, 'resources' | 'records' | 'clock' | 'probes'>

export type TaskControllerDeps = StepDeps &
  AttemptDeps &
  BudgetDeps &
  DeliveryDeps &
  ProbeDeps & {
    workloads: Workloads
    leadership: Pick<Leadership, 'requireTerm'>
    /** Absent: what tasks use in other namespaces is noted nowhere. */
    policyEntries?: PolicyEntries
  }

export type ReconcileContext = StepDeps &
  AttemptDeps &
  BudgetDeps & {
    workloads: Workloads
    /** Writes what the task uses in other namespaces. What stands in the way, as words; undefined: it is written, or needs not be. */
    noteUses?: (task: Task, agent: Agent | undefined) => Promise<string | undefined>
    state: TaskState
    recorder: StatusRecorder
    /** Queues another look at a task. */
    enqueue: Enqueue
    /** Hands an ended task to the callback controller. */
    callbackDue: Enqueue
    /** Hands a parked task to the controller that asks for what it waits for. */
    probe: Enqueue
    /** Hands a parked task to the controller that sends what it asks for to the receiver of its callbacks. */
    notifyApprovals: Enqueue
  }

export function taskKeyOf(task: Task): string {
  return formatKey(task.metadata)
}

/** The live attempt of a running task. */
export function attemptOf(task: Task): { taskUid: string; attempt: number } {
  return { taskUid: task.metadata.uid, attempt: task.status?.attempts ?? 0 }
}

/** Tasks of one coordinator are counted together; undefined for others. */
export function siblingsOf(task: Task): string | undefined {
  return task.metadata.labels?.['svc.ai/coordinator'] === 'true' ? parentOf(task)?.uid : undefined
}

/** Whether its next attempt shares a process; undefined where no processes are shared. */
export function isolateTask(
  { isolation }: Pick<TaskSettings, 'isolation'>,
  task: Task,
  agent: Agent | undefined,
): AttemptIsolation | undefined {
  const isSuspect = task.status?.isolation?.reason === 'Suspect'
  return isolation && chooseIsolation(task, agent, { settings: isolation, isSuspect })
}

/** What budgets allow each task of its namespace, agent and creator. While they cannot be read nothing is bounded. */
export async function readBounds({ spending }: Pick<ReconcileContext, 'spending'>, task: Task): Promise<TaskBound[]> {
  try {
    return (await spending?.taskBounds(budgetSubjectOf(task))) ?? []
  } catch {
    return []
  }
}

/** The platform's timers have 31 bits. */
export const maxRequeueMs = 86_400_000

/** For a task that nothing else wakes: another look when the time of its budget is up. */
export async function lookWhenTimeIsUp(context: ReconcileContext, task: Task): Promise<Reconciled> {
  const left = timeLeftMs(task, context.clock.now(), await readBounds(context, task))
  return left === undefined ? undefined : { requeueAfterMs: Math.min(maxRequeueMs, Math.max(0, left)) }
}
