// Which fields of a resource a list can be filtered by, and how to read them from an object.
import type { Kind, Resource } from '../../contract/kinds/index.ts'
import { isTerminalPhase, type Task } from '../../contract/kinds/tasks/task.ts'
import { SvcError } from '../../errors.ts'
import { parentOf } from '../tasks/stamp.ts'

/** Equals no value. */
const missing = '\0'

type FieldReader<R> = (object: R) => string | undefined

const taskFields: Record<string, FieldReader<Task>> = {
  uid: (task) => task.metadata.uid,
  owner: (task) => parentOf(task)?.uid,
  session: (task) => task.spec.sessionRef?.name,
  agent: (task) => task.spec.agentRef?.name,
  // A task that the controller has not seen yet is Pending, like one that it has.
  phase: (task) => task.status?.phase ?? 'Pending',
  type: (task) => task.spec.type,
}

/** The sums of tasks that stores keep; of all but `phase` a task has one at most. */
export const tallyNames = ['phase', 'waitingSince', 'runningAgent', 'ended', 'endedBy'] as const

function describeEnd({ status }: Task): string | undefined {
  const { phase, completionTime, failureReason = '' } = status ?? {}
  if (completionTime === undefined || !isTerminalPhase(phase)) return undefined
  return `${completionTime.slice(0, 13)} ${phase} ${failureReason}`
}

/** By the day, with the agent. */
function describeRun(task: Task): string | undefined {
  const { completionTime = '', phase, failureReason = '' } = task.status ?? {}
  if (describeEnd(task) === undefined) return undefined
  return `${completionTime.slice(0, 10)} ${phase} ${failureReason} ${task.spec.agentRef?.name ?? ''}`
}

const taskTallies: Record<Exclude<(typeof tallyNames)[number], 'phase'>, FieldReader<Task>> = {
  waitingSince: (task) => (taskFields.phase?.(task) === 'Pending' ? task.metadata.creationTimestamp : undefined),
  // A task without an agent runs as well.
  runningAgent: ({ spec, status }) => (status?.phase === 'Running' ? (spec.agentRef?.name ?? '') : undefined),
  ended: describeEnd,
  endedBy: describeRun,
}

function readersOf(kind: Kind): Record<string, FieldReader<never>> {
  return kind === 'Task' ? taskFields : {}
}

function readWith(
  readers: Record<string, FieldReader<never>>,
  object: Resource<unknown, unknown>,
): Record<string, string> {
  const values: Record<string, string> = {}
  for (const [field, read] of Object.entries(readers)) {
    const value = read(object as never)
    if (value !== undefined) values[field] = value
  }
  return values
}

/** The filterable fields of an object that have a value. */
export function readFields(kind: Kind, object: Resource<unknown, unknown>): Record<string, string> {
  return readWith(readersOf(kind), object)
}

/** What the object counts as in the sums beside those of its fields: nothing for kinds other than Task. */
export function readTallies(kind: Kind, object: Resource<unknown, unknown>): Record<string, string> {
  return kind === 'Task' ? readWith(taskTallies, object) : {}
}

/** The fields that a list of the kind can be filtered by, those with the most distinct values first. */
export function listFields(kind: Kind): string[] {
  return Object.keys(readersOf(kind))
}

/** Throws InvalidRequest when the kind cannot be filtered by one of the fields. */
export function checkFields(kind: Kind, fields: Readonly<Record<string, unknown>>): void {
  const known = listFields(kind)
  const unknown = Object.keys(fields).find((field) => !known.includes(field))
  if (unknown === undefined) return
  const advice = known.length === 0 ? 'it has no filter fields' : `use one of ${known.join(', ')}`
  const message = `${kind} cannot be filtered by "${unknown}": ${advice}`
  throw new SvcError('InvalidRequest', message, { details: [{ path: unknown, message }] })
}

/** Whether the object has each of the values, of several for one field any. */
export function matchesFields(
  kind: Kind,
  fields: Readonly<Record<string, string | readonly string[]>>,
  object: Resource<unknown, unknown>,
): boolean {
  const values = readFields(kind, object)
  return Object.entries(fields).every(([field, wanted]) => [wanted].flat().includes(values[field] ?? missing))
}

/** Whether the name contains the text, in any case: names are in lower case. */
export function matchesSearch(name: string, search: string | undefined): boolean {
  return search === undefined || name.includes(search.toLowerCase())
}
