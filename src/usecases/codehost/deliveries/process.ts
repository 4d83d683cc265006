// Does what a stored delivery asks for. Each part can be repeated without harm, so a crash at any point loses and doubles nothing.
import type { DeliveryOutcome, DeliveryState } from '../../../contract/api/codehost/deliveries.ts'
import type { CodeHostEvent } from '../../../contract/api/codehost/events.ts'
import { errorStatus, isSvcError, messageOf } from '../../../errors.ts'
import { createLeasedQueue } from '../../../lib/leased-queue.ts'
import { redactText } from '../../../observability/redaction.ts'
import type { Delivery } from '../../../ports/codehost/deliveries.ts'
import { decideEvent, type RequestedAction } from '../../../rules/codehost/event-actions.ts'
import type { DeliveryContext, OutcomePart } from './context.ts'
import { cancelAll, cancelStarted, createDeliveryTask, describeEnding, findTriggerAgentProblem } from './tasks.ts'

/** A label that was taken off again before it was processed, or whose issue was closed, starts nothing. */
async function findRemoval({ ports }: DeliveryContext, { facts, repository, number }: Delivery, label: string) {
  const after = facts?.happenedAt
  if (after === undefined || repository === undefined || number === undefined) return undefined
  return ports.records.deliveries.findRemoval({ repository, number, label: label.toLowerCase(), after })
}

function describeOvertaken({ id, action, happenedAt }: Delivery): OutcomePart {
  return { status: 'ignored', code: 202, message: `overtaken by delivery ${id}: ${action} at ${happenedAt}` }
}

async function startTask(
  context: DeliveryContext,
  delivery: Delivery,
  { action, label }: Extract<RequestedAction, { kind: 'task' }>,
): Promise<OutcomePart> {
  const { facts: event } = delivery
  if (event?.target === undefined) return {}
  const before = await findRemoval(context, delivery, label)
  if (before !== undefined) return describeOvertaken(before)
  const request = { event, target: event.target, action, label, delivery: delivery.id, by: 'codehost-label' } as const
  const created = await createDeliveryTask(context, request)
  // The removal may have come in between, and then has looked for the task too early.
  const meanwhile = await findRemoval(context, delivery, label)
  if (meanwhile?.facts === undefined) return created
  const why = describeEnding(meanwhile.facts, meanwhile.facts.label)
  const cancelledTasks = await cancelStarted(context.ports, meanwhile.facts, { label, why })
  return { ...describeOvertaken(meanwhile), cancelledTasks }
}

/** Where monitors have taken up the event, a label without an agent is no fault. */
async function leaveToMonitors(
  context: DeliveryContext,
  action: string,
  soFar: DeliveryOutcome,
): Promise<OutcomePart | undefined> {
  if ((soFar.matchedMonitors ?? 0) === 0) return undefined
  const problem = await findTriggerAgentProblem(context, action)
  return problem && { message: `${soFar.message}; the label made no task: ${problem.message}` }
}

async function queueRuns(context: DeliveryContext, event: CodeHostEvent, delivery: string): Promise<OutcomePart> {
  const runs = await context.queueRuns?.(event, delivery)
  if (runs === undefined || runs.matchedMonitors === 0) return {}
  const { monitorRunsQueued: queued, matchedMonitors: matched } = runs
  const message = `${queued} runs were queued for ${matched} monitors`
  const result = queued > 0 ? ({ status: 'created', code: 201 } as const) : ({ status: 'accepted', code: 202 } as const)
  return { ...result, message, ...runs }
}

/** `soFar`: what the asks before it have led to. */
type Step = { delivery: Delivery; ask: RequestedAction; soFar: DeliveryOutcome }

async function handleAsk(context: DeliveryContext, { delivery, ask, soFar }: Step): Promise<OutcomePart> {
  const { facts: event, id } = delivery
  if (event === undefined) return {}
  switch (ask.kind) {
    case 'monitors':
      return queueRuns(context, event, id)
    case 'task':
      return (await leaveToMonitors(context, ask.action, soFar)) ?? startTask(context, delivery, ask)
    case 'cancel':
      return cancelAll(context, event, ask.label)
    case 'command':
      if (context.runCommand !== undefined) return context.runCommand(delivery, ask.verb)
      return { status: 'ignored', message: 'commands need --codehost-label-trigger-git-secret, to answer them' }
  }
}

const nothing: DeliveryOutcome = {
  status: 'ignored',
  code: 202,
  message: 'no monitor waits for events of this repository and branch',
}

/** What became of the delivery. Rejects with what prevented it; then the whole can be tried again. */
async function handleDelivery(context: DeliveryContext, delivery: Delivery): Promise<DeliveryOutcome> {
  const { facts: event } = delivery
  if (event === undefined) return delivery.outcome
  const decision = decideEvent(event, context.settings)
  if (!('asks' in decision)) return { ...nothing, message: 'ignored' in decision ? decision.ignored : decision.problem }
  let outcome = nothing
  for (const ask of decision.asks) {
    outcome = { ...outcome, ...(await handleAsk(context, { delivery, ask, soFar: outcome })) }
  }
  return outcome
}

/** What the sender or the operator has to change; trying again as it is would lead to the same. */
const permanent = ['InvalidRequest', 'NotFound', 'Forbidden', 'BudgetExceeded', 'TooLarge', 'NotConfigured']
const backoff = { firstMs: 1000, maxMs: 300_000 }
/** Half an hour of trying. */
const maxAttempts = 12

type DeliveryEnd = { state: DeliveryState; outcome: DeliveryOutcome }

function endOf(outcome: DeliveryOutcome): DeliveryEnd {
  const { status } = outcome
  return { state: status === 'ignored' || status === 'failed' ? status : 'done', outcome }
}

function judgeFailure(
  error: unknown,
  { attempts }: Delivery,
): { end: DeliveryEnd } | { again: { outcome: DeliveryOutcome } } {
  const reason = isSvcError(error) ? error.reason : 'Internal'
  // The sender is told that it is worth another try once the operator has set what is missing.
  const code = errorStatus[reason === 'NotConfigured' ? 'Unavailable' : reason]
  const failure = { code, message: redactText(messageOf(error)) }
  if (permanent.includes(reason) || attempts >= maxAttempts) return { end: endOf({ ...failure, status: 'failed' }) }
  return { again: { outcome: { ...failure, status: 'accepted' } } }
}

export type DeliveryProcessor = {
  /** Processes it, unless it has ended or another worker has it; the delivery as it is then. Never rejects for its content. */
  process(id: string): Promise<Delivery | undefined>
}

export function createDeliveryProcessor(context: DeliveryContext): DeliveryProcessor {
  const { ports, settings } = context
  const { deliveries } = ports.records
  const queue = createLeasedQueue({
    store: deliveries,
    clock: ports.clock,
    ids: ports.ids,
    leaseMs: settings.leaseMs,
    concurrency: settings.concurrency,
    backoff,
    handle: async (delivery: Delivery) => endOf(await handleDelivery(context, delivery)),
    judge: judgeFailure,
  })
  return {
    async process(id) {
      await queue.process(id, (await deliveries.get(id))?.repository ?? '')
      return deliveries.get(id)
    },
  }
}
