// The use cases, created once from the ports: what the edges (http, compose) know of this room. The proxies are made of its parts.
import type { TaskPullRequest, TaskPullRequestBody } from '../contract/api/tasks/pull-requests.ts'
import type { Task } from '../contract/kinds/tasks/task.ts'
import type { Caller } from '../ports/identity/identity.ts'
import type { ResourceKey, ResourcePage, ResourceText } from '../ports/resources/resources.ts'
import { type AlertUsecases, createAlertUsecases } from './budgets/alerts.ts'
import { type BudgetUsecases, createBudgetUsecases } from './budgets/budgets.ts'
import { createPriceUsecases, type PriceUsecases } from './budgets/prices.ts'
import { createTaskBudgets } from './budgets/task-budgets.ts'
import { createUsageUsecases, type UsageUsecases } from './budgets/usage.ts'
import { type ChatUsecases, createChatUsecases } from './chat/chat.ts'
import { auditForChat } from './chat/chat-audit.ts'
import { createSessionTraces, type SessionTraces } from './chat/session-trace.ts'
import {
  createSessionUsecases,
  createTranscriptUsecases,
  createWorkerTranscripts,
  type SessionUsecases,
  type TranscriptUsecases,
  type WorkerTranscripts,
} from './chat/sessions.ts'
import { createWorkerCodeHost, type WorkerCodeHost } from './codehost/code-host-tools.ts'
import { composeDeliveries, type DeliveryUsecases } from './codehost/deliveries/deliveries.ts'
import { type ChildrenUsecases, createChildrenUsecases } from './coordination/children.ts'
import { createDelegation, type DelegationUsecases } from './coordination/delegate.ts'
import { type AuditLog, createAuditLog } from './identity/audit-log.ts'
import { createSignInUsecases, type SignInUsecases } from './identity/sign-in.ts'
import { createTokenUsecases, type TokenUsecases } from './identity/tokens.ts'
import {
  createMemoryProposalUsecases,
  createMemoryUsecases,
  type MemoryProposalUsecases,
  type MemoryUsecases,
} from './memory/memories.ts'
import { createMonitorRecordUsecases, type MonitorRecordUsecases } from './monitors/records.ts'
import { createMonitorRuns, type MonitorRunUsecases } from './monitors/runs.ts'
import { createProviderHealthLog, type ProviderHealthLog } from './providers/health.ts'
import { requireFreeToolName } from './resources/admission/tool.ts'
import { createIdempotency, type Idempotency } from './resources/idempotency.ts'
import type { NamespaceChoice } from './resources/listing.ts'
import { createResourceUsecases, type ResourceUsecases } from './resources/resources.ts'
import {
  type ConfigMapUsecases,
  createConfigMapUsecases,
  createSecretUsecases,
  type SecretUsecases,
} from './resources/secrets.ts'
import { createWatchUsecases, type WatchUsecases } from './resources/watch.ts'
import { createFindingUsecases, type FindingUsecases } from './scans/findings.ts'
import { createSarifUsecases, type SarifUsecases } from './scans/sarif.ts'
import { createScanUsecases, type ScanUsecases } from './scans/scans.ts'
import type { UsecaseDeps } from './service/deps.ts'
import { createOverviewUsecases, type OverviewUsecases } from './service/overview.ts'
import {
  type ApprovalUsecases,
  createApprovalUsecases,
  createWorkerApprovals,
  type WorkerApprovals,
} from './tasks/approvals.ts'
import { requestCancel } from './tasks/cancel.ts'
import { listChildTasks } from './tasks/children.ts'
import { createTaskInputs, type TaskInputs } from './tasks/inputs.ts'
import { createTaskNetworks, type TaskNetworks } from './tasks/network.ts'
import { proposeTaskChanges } from './tasks/pull-request.ts'
import { createTaskRecords, type TaskRecords } from './tasks/records.ts'
import { checkRetry, createRetry } from './tasks/retry.ts'
import { requestRun } from './tasks/run.ts'
import { createTaskStreams, type TaskStreams } from './tasks/streams.ts'
import { createTaskChanges, type TaskChanges } from './tasks/task-changes.ts'
import { createWorkerCodeRuns, type WorkerCodeRuns } from './tasks/worker/code-runs.ts'
import { createWorkerConversation, type WorkerConversation } from './tasks/worker/conversation.ts'
import { createWorkerEnd, type WorkerEnds } from './tasks/worker/end.ts'
import { createWorkerMemory, type WorkerMemory } from './tasks/worker/memory.ts'
import { createWorkerModelCalls, type WorkerModelCalls } from './tasks/worker/model-calls.ts'
import { createWorkerProgramSessions, type WorkerProgramSessions } from './tasks/worker/program-sessions.ts'
import { createWorkerRecords, type WorkerRecords } from './tasks/worker/records.ts'
import { createWorkspaceReports, type WorkspaceReports } from './tasks/worker/workspace.ts'
import { createSkillUsecases, type SkillUsecases } from './tools/skills.ts'
import { createToolUsecases, type ToolUsecases } from './tools/tools.ts'

export { annotateTrace } from '../rules/tasks/trace-context.ts'
export { markRetry } from './tasks/retry.ts'
export { showWorkspaceStatus } from './tasks/worker/workspace.ts'

import { createWorkerToolTokens, type WorkerToolTokens } from './tasks/worker/tool-tokens.ts'
import { createWorkspaceUsecases, type WorkspaceUsecases } from './workspaces/workspaces.ts'

export type { AlertUsecases } from './budgets/alerts.ts'
export { type BudgetLedger, createBudgetLedger } from './budgets/ledger.ts'
export { createTaskBudgets } from './budgets/task-budgets.ts'
export type { ChatTurn } from './chat/chat.ts'
export { type ChatSettings, defaultChatSettings } from './chat/settings.ts'
export { askForChecks } from './codehost/code-host-tools.ts'
export type { DeliveryUsecases } from './codehost/deliveries/deliveries.ts'
export type { Received } from './codehost/deliveries/receive.ts'
export { defaultWebhookSettings, keyOfAction, type WebhookSettings } from './codehost/deliveries/settings.ts'
export { checksProbe } from './codehost/pull-request-tools.ts'
export { callerNamespace, requireAccess, requireRight } from './identity/access.ts'
export { type AuditLog, type AuditNote, describeWho } from './identity/audit-log.ts'
export type { NamespaceChoice } from './resources/listing.ts'
export type { OpenedWatch, WatchedText } from './resources/watch.ts'
export type { UsecaseDeps, UsecaseSettings } from './service/deps.ts'
export { checkReadiness } from './service/readiness.ts'
export type { LinePart } from './tasks/streams.ts'
export { createBuiltinTools } from './tools/tools.ts'
export { queueRuns } from './workspaces/sandbox-queue.ts'

type TaskUsecases = TaskRecords &
  TaskInputs &
  TaskNetworks &
  TaskChanges &
  TaskStreams & {
    cancel(caller: Caller, key: ResourceKey, reason: string): Promise<Task>
    /** Children of the named task, each as JSON. */
    listChildren(
      caller: Caller,
      parent: string,
      query: NamespaceChoice & { namespace: string },
    ): Promise<ResourcePage<ResourceText>>
    /** Runs a schedule now. */
    run(caller: Caller, key: ResourceKey): Promise<{ name: string; namespace: string }>
    retry(caller: Caller, key: ResourceKey, name: string | undefined): Promise<Task>
    /** Of the branch that it has pushed. */
    openPullRequest(caller: Caller, key: ResourceKey, wish: TaskPullRequestBody): Promise<TaskPullRequest>
    /** Refuses a caller who may not repeat the retry; `made` is the task it created, if that still exists. */
    checkRetry(caller: Caller, key: ResourceKey, made: Task | undefined): Promise<void>
  }

export type Usecases = {
  resources: ResourceUsecases
  tasks: TaskUsecases
  sessions: SessionUsecases & SessionTraces
  transcripts: TranscriptUsecases
  approvals: ApprovalUsecases
  workspaces: WorkspaceUsecases
  memories: MemoryUsecases
  memoryProposals: MemoryProposalUsecases
  monitors: MonitorRunUsecases & MonitorRecordUsecases
  chat: ChatUsecases
  secrets: SecretUsecases
  skills: SkillUsecases
  scans: ScanUsecases
  findings: FindingUsecases
  sarif: SarifUsecases
  configMaps: ConfigMapUsecases
  tools: ToolUsecases & { requireFreeName(name: unknown): void }
  tokens: TokenUsecases
  signIn: SignInUsecases
  usage: UsageUsecases
  overview: OverviewUsecases
  watch: WatchUsecases
  budgets: BudgetUsecases
  prices: PriceUsecases
  alerts: AlertUsecases
  deliveries: DeliveryUsecases
  audit: AuditLog
  health: ProviderHealthLog
  idempotency: Idempotency
  worker: WorkerRecords &
    WorkerEnds &
    WorkspaceReports &
    WorkerConversation &
    WorkerTranscripts &
    WorkerProgramSessions &
    WorkerModelCalls &
    WorkerToolTokens &
    DelegationUsecases &
    WorkerApprovals &
    WorkerMemory &
    WorkerCodeHost &
    ChildrenUsecases &
    WorkerCodeRuns
}

export function createUsecases(opened: UsecaseDeps): Usecases {
  const health = createProviderHealthLog(opened.ports, { onUnknown: opened.settings.onUnknown })
  const taskChanges = createTaskChanges(opened.ports)
  const deps = { ...opened, health, taskBudgets: createTaskBudgets(opened.ports) }
  const resources = createResourceUsecases(deps)
  const sessions = createSessionUsecases(deps)
  const audit = createAuditLog(deps)
  const monitorRuns = createMonitorRuns(deps)
  const modelCalls = createWorkerModelCalls(deps)
  const tasks: TaskUsecases = {
    ...createTaskRecords(deps, resources),
    ...createTaskInputs(deps, resources),
    ...createTaskNetworks(deps, resources),
    ...taskChanges,
    ...createTaskStreams({ ...deps, taskChanges }, resources),
    cancel: (caller, key, reason) => requestCancel(deps, caller, key, reason),
    listChildren: (caller, parent, query) => listChildTasks({ ports: deps.ports, resources }, caller, parent, query),
    run: (caller, key) => requestRun(deps, caller, key),
    retry: (caller, key, name) => createRetry({ ...deps, resources }, caller, key, name),
    openPullRequest: (caller, key, wish) => proposeTaskChanges(deps, caller, key, wish),
    checkRetry: (caller, key, made) => checkRetry({ ports: deps.ports, resources }, caller, key, made),
  }
  return {
    resources,
    tasks,
    sessions: { ...sessions, ...createSessionTraces(deps, sessions) },
    transcripts: createTranscriptUsecases(deps),
    approvals: createApprovalUsecases(deps, resources),
    workspaces: createWorkspaceUsecases(deps),
    memories: createMemoryUsecases(deps),
    memoryProposals: createMemoryProposalUsecases(deps),
    monitors: { ...monitorRuns, ...createMonitorRecordUsecases(deps) },
    chat: createChatUsecases({ ...deps, ...auditForChat(audit, { resources, tasks, sessions }) }),
    secrets: createSecretUsecases(deps),
    skills: createSkillUsecases(deps, resources),
    scans: createScanUsecases(deps),
    findings: createFindingUsecases(deps),
    sarif: createSarifUsecases(deps),
    configMaps: createConfigMapUsecases(deps),
    tools: { ...createToolUsecases(deps, resources), requireFreeName: (name) => requireFreeToolName(name, deps) },
    tokens: createTokenUsecases(deps),
    signIn: createSignInUsecases(deps),
    usage: createUsageUsecases(deps),
    overview: createOverviewUsecases(deps, resources),
    watch: createWatchUsecases(deps),
    budgets: createBudgetUsecases(deps),
    prices: createPriceUsecases(deps),
    alerts: createAlertUsecases(deps),
    deliveries: composeDeliveries(deps, { resources, monitorRuns }),
    audit,
    health,
    idempotency: createIdempotency(deps),
    worker: {
      ...createWorkerRecords(deps),
      ...createWorkspaceReports(deps),
      ...createWorkerConversation(deps),
      ...createWorkerTranscripts(deps),
      ...createWorkerProgramSessions(deps),
      ...modelCalls,
      ...createWorkerEnd(deps, modelCalls),
      ...createWorkerToolTokens(deps),
      ...createDelegation(deps),
      ...createWorkerApprovals(deps),
      ...createWorkerMemory(deps),
      ...createWorkerCodeHost(deps),
      ...createChildrenUsecases(deps),
      ...createWorkerCodeRuns(deps),
    },
  }
}
