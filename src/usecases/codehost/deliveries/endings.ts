// What ends when an issue or pull request does, or when a label is taken off it.
import type { CodeHostEvent } from '../../../contract/api/codehost/events.ts'
import type { Delivery } from '../../../ports/codehost/deliveries.ts'
import { fileName } from '../../../rules/codehost/event.ts'
import type { Withdrawn } from '../../monitors/withdrawal.ts'
import { cancelStarted } from './cancel-started.ts'
import type { CarryingOut, Part } from './carrying.ts'

export function describeEnd({ action, target, repository }: CodeHostEvent, label: string | undefined): string {
  const what = `${target?.kind === 'issue' ? 'issue' : 'pull request'} ${repository.fullName}#${target?.number}`
  return label === undefined ? `${what} was ${action}` : `label ${label} was taken off ${what}`
}

const mostOfOne = 500

/** What the deliveries of this issue or pull request tell. */
async function listOwn({ ports }: CarryingOut, { repository, target, event }: CodeHostEvent): Promise<Delivery[]> {
  if (target === undefined) return []
  const about = { repository: fileName(repository.fullName), number: target.number, event }
  return ports.records.deliveries.list({ ...about, limit: mostOfOne })
}

/** Deliveries that have put the label on, up to the event. */
async function findLabelings(carrying: CarryingOut, event: CodeHostEvent, label: string): Promise<string[]> {
  const isBefore = ({ happenedAt }: Delivery) =>
    happenedAt === undefined || event.happenedAt === undefined || happenedAt <= event.happenedAt
  const labeled = (await listOwn(carrying, event)).filter((one) => one.action === 'labeled' && isBefore(one))
  return labeled.filter((one) => one.label === label.toLowerCase()).map(({ id }) => id)
}

async function wasReopened(carrying: CarryingOut, event: CodeHostEvent): Promise<boolean> {
  const own = await listOwn(carrying, event)
  return own.some(({ action, happenedAt = '' }) => action === 'reopened' && happenedAt > (event.happenedAt ?? ''))
}

const none: Withdrawn = { cancelledTasks: [], cancelledRuns: [] }

/** What was opened again in the meantime is reviewed on. */
async function withdraw(carrying: CarryingOut, event: CodeHostEvent, { label, why }: CancelAsk): Promise<Withdrawn> {
  if (carrying.withdraw === undefined) return none
  if (label === undefined && (await wasReopened(carrying, event))) return none
  const deliveries = label === undefined ? undefined : await findLabelings(carrying, event, label)
  return carrying.withdraw(event, { deliveries, isClosed: label === undefined, why })
}

type CancelAsk = { label: string | undefined; why: string }

const count = (number: number, what: string) => (number === 1 ? `1 ${what} was` : `${number} ${what}s were`)

/** As a person reads it. */
export function describeCancelled({ cancelledTasks, cancelledRuns }: Withdrawn): string {
  const runs = cancelledRuns.length === 0 ? [] : [`${count(cancelledRuns.length, 'run')} withdrawn`]
  return [`${count(cancelledTasks.length, 'task')} cancelled`, ...runs].join(', ')
}

/** All that the issue or pull request has started, or what one of its labels has. */
export async function cancelAll(carrying: CarryingOut, event: CodeHostEvent, label: string | undefined): Promise<Part> {
  const why = describeEnd(event, label)
  const started = await cancelStarted(carrying.ports, event, { label, why })
  const { cancelledTasks: reviews, cancelledRuns } = await withdraw(carrying, event, { label, why })
  const cancelled = { cancelledTasks: [...started, ...reviews], cancelledRuns }
  return { status: 'accepted', code: 202, message: `${why}: ${describeCancelled(cancelled)}`, ...cancelled }
}
