// Creates a new task from one that has ended: `<name>-retry-<n>`.
import { reservedPrefix } from '../../contract/kinds/resources/metadata.ts'
import { retryOfLabel } from '../../contract/kinds/tasks/family.ts'
import { isTerminalPhase, type Task, type TaskSpec } from '../../contract/kinds/tasks/task.ts'
import { isSvcError, SvcError } from '../../errors.ts'
import { trimTrailing } from '../../lib/trim.ts'
import { findLineage } from '../../lookup/lineage.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { Ports } from '../../ports/index.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import { hasNetwork, isConfined } from '../../rules/tasks/bounds.ts'
import { applyNetwork, defaultNetworkSettings } from '../../rules/workspaces/network.ts'
import { noteNarrowed } from '../../rules/workspaces/network-narrowing.ts'
import { requireAccess } from '../identity/access.ts'
import type { ResourceUsecases } from '../resources/resources.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { createWithInputs } from './inputs.ts'

const maxNameLength = 63
const maxRetries = 1000

/** `build`, `build-retry-2` and 3 give `build-retry-3`; a long name loses its end, never the number. */
function nameRetry(name: string, number: number): string {
  const suffix = `-retry-${number}`
  const stem = name.replace(/-retry-\d+$/, '')
  return `${trimTrailing(stem.slice(0, maxNameLength - suffix.length), '-')}${suffix}`
}

function numberOf(name: string): number {
  return Number(/-retry-(\d+)$/.exec(name)?.[1] ?? 0)
}

function dropReserved(map: Record<string, string> | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(map ?? {}).filter(([key]) => !key.startsWith(reservedPrefix)))
}

/** What the service stamped belongs to the original creation, not to this one. */
function copySpec(spec: TaskSpec): TaskSpec {
  const { requestedBy: _requestedBy, transaction: _transaction, ...rest } = spec
  return rest
}

/** The label of a task that is made after another one; nothing where it is made after none. */
export function markRetry(of: string | undefined): { marks?: Record<string, string> } {
  return of === undefined ? {} : { marks: { [retryOfLabel]: of } }
}

function draftRetry(task: Task, namespace: string, name: string) {
  const metadata = {
    name,
    labels: dropReserved(task.metadata.labels),
    annotations: dropReserved(task.metadata.annotations),
  }
  return { metadata, namespace, spec: copySpec(task.spec), ...markRetry(task.metadata.name) }
}

/** Checks the rights that a retry needs: to read the old task, and to create the new one. */
export async function checkRetry(
  { ports, resources }: { ports: Pick<Ports, 'authorizer'>; resources: ResourceUsecases },
  caller: Caller,
  key: ResourceKey,
  made: Task | undefined,
): Promise<void> {
  await requireAccess(ports, caller, { verb: 'get', kind: 'Task', ...key })
  const { namespace } = key
  if (made === undefined) return requireAccess(ports, caller, { verb: 'create', kind: 'Task', namespace })
  await resources.checkCreate(caller, 'Task', draftRetry(made, namespace, made.metadata.name))
}

/** A copy would not have the bounds that the service set. */
function refuseBounded(task: Task): void {
  if (!isConfined(task) && hasNetwork(task)) return
  const advice = 'it is not repeated alone; start another run of what made it'
  throw new SvcError('Conflict', `task "${task.metadata.name}" works on what strangers wrote: ${advice}`)
}

/** The new task. Conflict while the old one has not ended; NotFound; AlreadyExists when a given name is taken. */
export async function createRetry(
  { ports, settings, resources }: UsecaseDeps & { resources: ResourceUsecases },
  caller: Caller,
  key: ResourceKey,
  wantedName: string | undefined,
): Promise<Task> {
  const task = await resources.get(caller, 'Task', key)
  const phase = task.status?.phase
  if (!isTerminalPhase(phase)) {
    throw new SvcError('Conflict', `task "${key.name}" has not ended: it is ${phase ?? 'Pending'}; cancel it first`)
  }
  refuseBounded(task)
  const lineage = await findLineage(ports.resources, task)
  const notes = noteNarrowed(applyNetwork(lineage, settings.network ?? defaultNetworkSettings))
  const create = (name: string) =>
    createWithInputs(ports, task, (suspend) => {
      const draft = draftRetry(task, key.namespace, name)
      return resources.create(caller, 'Task', { ...draft, notes, spec: { ...draft.spec, suspend } })
    })
  if (wantedName !== undefined) return create(wantedName)
  for (let number = numberOf(key.name) + 1; number <= maxRetries; number++) {
    try {
      return await create(nameRetry(key.name, number))
    } catch (error) {
      if (!isSvcError(error, 'AlreadyExists')) throw error
    }
  }
  throw new SvcError('AlreadyExists', `"${key.name}" was retried ${maxRetries} times; give the new task a name`)
}
