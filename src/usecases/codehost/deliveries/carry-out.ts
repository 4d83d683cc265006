// Does what a delivery asks for. Each part can be repeated without harm, so a crash at any point loses and doubles nothing.
import type { DeliveryOutcome } from '../../../contract/api/codehost/deliveries.ts'
import type { CodeHostEvent } from '../../../contract/api/codehost/events.ts'
import type { Delivery } from '../../../ports/codehost/deliveries.ts'
import { type Ask, decideAsked } from '../../../rules/codehost/asked.ts'
import { fileName } from '../../../rules/codehost/event.ts'
import { cancelStarted } from './cancel-started.ts'
import type { CarryingOut, Part } from './carrying.ts'
import { cancelAll, describeEnd } from './endings.ts'
import { createTask, findAgentProblem } from './label-task.ts'

/** A label that was taken off again before it was worked off, or whose issue was closed, starts nothing. */
async function findRemoval({ ports }: CarryingOut, { facts, repository, number }: Delivery, label: string) {
  const after = facts?.happenedAt
  if (after === undefined || repository === undefined || number === undefined) return undefined
  return ports.records.deliveries.findRemoval({ repository, number, label: label.toLowerCase(), after })
}

async function startTask(
  carrying: CarryingOut,
  delivery: Delivery,
  ask: Extract<Ask, { kind: 'task' }>,
): Promise<Part> {
  const { facts: event } = delivery
  if (event?.target === undefined) return {}
  const { action, label } = ask
  const overtaken = (removal: Delivery): Part => ({
    status: 'ignored',
    code: 202,
    message: `overtaken by delivery ${removal.id}: ${removal.action} at ${removal.happenedAt}`,
  })
  const before = await findRemoval(carrying, delivery, label)
  if (before !== undefined) return overtaken(before)
  const request = { event, target: event.target, action, label, delivery: delivery.id, by: 'codehost-label' } as const
  const made = await createTask(carrying, request)
  // The removal may have come in between, and then has looked for the task too early.
  const meanwhile = await findRemoval(carrying, delivery, label)
  if (meanwhile?.facts === undefined) return made
  const why = describeEnd(meanwhile.facts, meanwhile.facts.label)
  return {
    ...overtaken(meanwhile),
    cancelledTasks: await cancelStarted(carrying.ports, meanwhile.facts, { label, why }),
  }
}

/** Where monitors have taken up the event, a label without an agent is no fault. */
async function leaveToMonitors(
  carrying: CarryingOut,
  action: string,
  soFar: DeliveryOutcome,
): Promise<Part | undefined> {
  if ((soFar.matchedMonitors ?? 0) === 0) return undefined
  const problem = await findAgentProblem(carrying, action)
  return problem && { message: `${soFar.message}; the label made no task: ${problem.message}` }
}

async function queueRuns(carrying: CarryingOut, event: CodeHostEvent, delivery: string): Promise<Part> {
  const runs = await carrying.queueRuns?.(event, delivery)
  if (runs === undefined || runs.matchedMonitors === 0) return {}
  const { monitorRunsQueued: queued, matchedMonitors: matched } = runs
  const message = `${queued} runs were queued for ${matched} monitors`
  return queued > 0
    ? { status: 'created', code: 201, message, ...runs }
    : { status: 'accepted', code: 202, message, ...runs }
}

/** `soFar`: what the asks before it have led to. */
type Step = { delivery: Delivery; ask: Ask; soFar: DeliveryOutcome }

async function carryOutOne(carrying: CarryingOut, { delivery, ask, soFar }: Step): Promise<Part> {
  const { facts: event, id } = delivery
  if (event === undefined) return {}
  switch (ask.kind) {
    case 'monitors':
      return queueRuns(carrying, event, id)
    case 'task':
      return (await leaveToMonitors(carrying, ask.action, soFar)) ?? startTask(carrying, delivery, ask)
    case 'cancel':
      return cancelAll(carrying, event, ask.label)
    case 'command':
      if (carrying.obey !== undefined) return carrying.obey(delivery, ask.verb)
      return { status: 'ignored', message: 'commands need --codehost-label-trigger-git-secret, to answer them' }
  }
}

const nothing: DeliveryOutcome = {
  status: 'ignored',
  code: 202,
  message: 'no monitor waits for events of this repository and branch',
}

/** What became of the delivery. Rejects with what prevented it; then the whole can be tried again. */
export async function carryOut(carrying: CarryingOut, delivery: Delivery): Promise<DeliveryOutcome> {
  const { facts: event } = delivery
  if (event === undefined) return delivery.outcome
  const asked = decideAsked(event, carrying.settings)
  if (!('asks' in asked)) return { ...nothing, message: 'ignored' in asked ? asked.ignored : asked.problem }
  let outcome = nothing
  for (const ask of asked.asks) {
    outcome = { ...outcome, ...(await carryOutOne(carrying, { delivery, ask, soFar: outcome })) }
  }
  return outcome
}

/** The repository under which a delivery is filed. */
export function repositoryOf({ repository }: CodeHostEvent): string {
  return fileName(repository.fullName)
}
