// Which fields of a resource a list can be filtered by, and how to read them from an object.
import type { Kind, Resource } from '../contract/resources/index.ts'
import type { Task } from '../contract/resources/task.ts'
import { SvcError } from '../errors.ts'
import { parentOf } from './family.ts'

type FieldReader<R> = (object: R) => string | undefined

const taskFields: Record<string, FieldReader<Task>> = {
  uid: (task) => task.metadata.uid,
  owner: (task) => parentOf(task)?.uid,
  agent: (task) => task.spec.agentRef?.name,
  // A task that the controller has not seen yet is Pending, like one that it has.
  phase: (task) => task.status?.phase ?? 'Pending',
  type: (task) => task.spec.type,
}

function readersOf(kind: Kind): Record<string, FieldReader<never>> {
  return kind === 'Task' ? taskFields : {}
}

/** The filterable fields of an object that have a value. */
export function readFields(kind: Kind, object: Resource<unknown, unknown>): Record<string, string> {
  const values: Record<string, string> = {}
  for (const [field, read] of Object.entries(readersOf(kind))) {
    const value = read(object as never)
    if (value !== undefined) values[field] = value
  }
  return values
}

/** The fields that a list of the kind can be filtered by, those with the most distinct values first. */
export function listFields(kind: Kind): string[] {
  return Object.keys(readersOf(kind))
}

/** Throws InvalidRequest when the kind cannot be filtered by one of the fields. */
export function checkFields(kind: Kind, fields: Record<string, string>): void {
  const known = listFields(kind)
  const unknown = Object.keys(fields).find((field) => !known.includes(field))
  if (unknown === undefined) return
  const advice = known.length === 0 ? 'it has no filter fields' : `use one of ${known.join(', ')}`
  const message = `${kind} cannot be filtered by "${unknown}": ${advice}`
  throw new SvcError('InvalidRequest', message, { details: [{ path: unknown, message }] })
}

/** Whether the object has each of the values. */
export function matchesFields(kind: Kind, fields: Record<string, string>, object: Resource<unknown, unknown>): boolean {
  const values = readFields(kind, object)
  return Object.entries(fields).every(([field, value]) => values[field] === value)
}
