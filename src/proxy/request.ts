// One request of a caller on its way, its outcome, and what is reported when it has ended.
import { SvcError } from '../errors.ts'
import type { TokenUsage } from '../llm/messages/messages.ts'
import type { Cost } from '../llm/messages/token-usage.ts'
import type { AgentGrant, Caller, WorkerIdentity } from '../ports/identity/identity.ts'
import type { Ports } from '../ports/index.ts'
import type { ResourceKey } from '../ports/resources/resources.ts'
import type { PipeControl } from '../ports/service/egress.ts'
import { type BudgetSubject, budgetSubjectOf, type Limit } from '../rules/budgets/budget.ts'
import { callerKey, identifyCaller } from '../rules/identity/caller-identity.ts'
import type { BudgetLedger } from '../usecases/budgets/ledger.ts'
import type { TaskBudgetChecks } from '../usecases/budgets/task-budgets.ts'
import { requireLiveAttempt } from '../usecases/tasks/worker/live-attempt.ts'
import type { Endpoint, ProxyAnswer, ProxyFamily } from './types.ts'

export type ProxyRequest = {
  endpoint: Endpoint
  caller: Caller
  namespace: string
  body: Buffer
  /** The caller's query, without parameters for the service. */
  query: string
  /** Headers for the upstream; names and values alternate. */
  headers: string[]
  /** False: `X-Svc-Tools: disabled`. */
  serverTools: boolean
  requestId: string
  /** `performance.now()` at its arrival. */
  arrivedAt: number
}

export type Outcome = 'ok' | 'failed' | 'aborted'

/** The service makes the answer itself. */
export type LoopPlan = { answer(signal: AbortSignal): Promise<ProxyAnswer>; done(outcome: Outcome): void }

/** The destination of the answer: the edge's side of a request. */
export interface ReplyWriter {
  /** Names and values alternate. */
  head(status: number, headers: string[]): void
  /** False: full; the edge calls `resume` when there is room. */
  write(chunk: Buffer): boolean
  end(): void
  /** Sends an error in the family's form, or breaks the connection when the head has been sent. */
  fail(error: SvcError): void
  /** The service makes the answer itself; nothing has been written. */
  answerBy(plan: LoopPlan): void
}

/** What became of a request. */
export type ProxyPlan = { startPassthrough(writer: ReplyWriter): PipeControl } | LoopPlan

/** One request that ended; contains no text of users. */
export type ProxySample = {
  family: ProxyFamily
  /** Type of the provider. */
  provider: string
  /** As the provider was asked for it; used in traces, not in metrics. */
  model: string
  requestId: string
  /** From the arrival of the request to its end. */
  totalMs: number
  endpoint: Endpoint
  mode: 'passthrough' | 'loop'
  outcome: Outcome
  /** From the arrival of the request until it is sent: the service's own share of the waiting time. */
  addedMs?: number
  /** From the arrival of the request to the first byte of the answer. */
  firstByteMs?: number
  usage?: TokenUsage
  /** From which the ids of its span follow; absent: nothing belongs to it. */
  traceUid?: string
  /** For the trace of the attempt whose agent has called; absent for other callers. */
  traced?: TracedCall
}

/** `error`: why there was no answer, or only a part of one. */
type TracedCall = {
  attempt: WorkerIdentity
  provider: ResourceKey
  cost?: Cost | undefined
  error?: string | undefined
}

/** What only calls of agents have in their sample. */
export function traceCall(caller: Caller, call: Omit<TracedCall, 'attempt'>): Pick<ProxySample, 'traced'> {
  return caller.agent === undefined ? {} : { traced: { attempt: caller.agent, ...call } }
}

/** Who the request is charged to. */
export function accountOf(caller: Caller): string {
  return callerKey(identifyCaller(caller))
}

export function wantsTools({ serverTools, caller }: ProxyRequest, target: { serverTools: boolean }): boolean {
  return serverTools && caller.serverTools && target.serverTools
}

/** A request and who its calls are charged to. */
export type BilledRequest = ProxyRequest & { billedTo: BudgetSubject; own: Limit | undefined }

export type SpendingDeps = { ports: Ports; ledger: BudgetLedger; taskBudgets: TaskBudgetChecks }

/** The task's budget is one more limit in the ledger. */
function limitOf({ taskUid, maxTokens }: AgentGrant): Limit {
  return { name: '', scope: { taskUid }, period: 'total', maxTokens, currency: 'USD' }
}

/** An agent's token is valid while its attempt is live: Forbidden afterwards. */
async function findAgentSubject(
  { ports, taskBudgets }: SpendingDeps,
  { namespace, endpoint }: ProxyRequest,
  agent: AgentGrant,
): Promise<BudgetSubject> {
  const task = await requireLiveAttempt(ports.resources, agent)
  if (endpoint !== 'count_tokens') await taskBudgets.require(task)
  return { ...budgetSubjectOf(task), namespace }
}

/**
 * BudgetExceeded when a budget of the request is used up. Concurrent calls are not known yet, and a call that started
 * within the budget is finished. Counting tokens costs nothing.
 */
export async function requireSpending(deps: SpendingDeps, request: ProxyRequest): Promise<BilledRequest> {
  const { caller, namespace, endpoint } = request
  const { agent } = caller
  const billedTo =
    agent === undefined ? { namespace, caller: identifyCaller(caller) } : await findAgentSubject(deps, request, agent)
  const own = agent && limitOf(agent)
  const waiting = endpoint === 'count_tokens' ? undefined : deps.ledger.require(billedTo, own)
  if (waiting !== undefined) await waiting
  return Object.assign(request, { billedTo, own })
}

/** Forbidden for a model that an agent's token is not for. */
export function requireGranted({ agent }: Caller, model: string | undefined): void {
  if (agent?.model === undefined || agent.model === model) return
  throw new SvcError('Forbidden', `this token is for calls of model "${agent.model}" only`)
}
