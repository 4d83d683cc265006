// What is checked before an object is stored: rights on everything it refers to, and the rules of its kind.
import { isDeepStrictEqual } from 'node:util'
import { type Kind, kinds, type SpecOf } from '../../../contract/kinds/index.ts'
import { noWorkspaces, taskProblems } from '../../../contract/kinds/tasks/task-problems.ts'
import { joinPath, refuse } from '../../../contract/schema/validation.ts'
import type { Problem } from '../../../errors.ts'
import { type PartKind, partsOfTasks } from '../../../rules/tasks/acting.ts'
import { findPlacement } from '../../../rules/tasks/bounds.ts'
import type { UsecaseDeps, UsecaseSettings } from '../../service/deps.ts'
import { requireActingInUsersOf } from './acting.ts'
import { requireContext } from './context.ts'
import { requireOwnNetwork } from './network.ts'
import { admitProvider } from './provider.ts'
import { isUseChanged, requireAllowedHosts, requireForeignNamespaces, requireReferences } from './references.ts'
import { admitMonitor, admitScan } from './repository-scan.ts'
import { type AdmissionRequest, type Admitted, requireSpendable } from './request.ts'
import { admitTask } from './task.ts'
import { admitTool, findToolProblems } from './tool.ts'

type Rule<K extends Kind> = (request: AdmissionRequest<K>, deps: UsecaseDeps) => Admitted | Promise<Admitted>

const rules: { [K in Kind]: Rule<K> } = {
  Task: admitTask,
  Agent: () => ({}),
  Provider: admitProvider,
  Tool: admitTool,
  Skill: () => ({}),
  RepositoryScan: admitScan,
  RepositoryMonitor: admitMonitor,
}

/** Features that this service does not have, whoever asks; paths are relative to the spec. */
function findImpossible<K extends Kind>(kind: K, spec: SpecOf<K>, settings: UsecaseSettings): Problem[] {
  const { hasCluster, workspaces = noWorkspaces } = settings
  const ofTask = kind === 'Task' ? taskProblems(spec as SpecOf<'Task'>, workspaces) : []
  const ofTool = kind === 'Tool' ? findToolProblems(spec as SpecOf<'Tool'>, settings) : []
  const hasPlacement = !hasCluster && (kind === 'Task' || kind === 'Agent')
  const placement = hasPlacement ? findPlacement(spec as SpecOf<'Task' | 'Agent'>) : []
  return [...ofTask, ...ofTool, ...placement]
}

/** InvalidRequest for a spec that this service can do nothing with, whoever asks. */
export function requirePossible<K extends Kind>(kind: K, spec: SpecOf<K>, settings: UsecaseSettings): void {
  const problems = findImpossible(kind, spec, settings)
  refuse(
    kinds[kind].singular,
    problems.map(({ path, message }) => ({ path: joinPath('spec', path), message })),
  )
}

/** A field that was stored before it was refused may stay, so that the rest of the object can be changed. */
function refuseImpossible<K extends Kind>(
  kind: K,
  { spec, before }: AdmissionRequest<K>,
  settings: UsecaseSettings,
): void {
  const stored = before === undefined ? [] : findImpossible(kind, before.spec, settings)
  const added = findImpossible(kind, spec, settings).filter(
    (problem) => !stored.some((old) => isDeepStrictEqual(old, problem)),
  )
  const problems = added.map(({ path, message }) => ({ path: joinPath('spec', path), message }))
  refuse(kinds[kind].singular, problems)
}

/** Forbidden, Conflict or InvalidRequest when the object may not be stored as it is. */
export async function admit<K extends Kind>(
  kind: K,
  request: AdmissionRequest<K>,
  deps: UsecaseDeps,
): Promise<Admitted> {
  refuseImpossible(kind, request, deps.settings)
  await requireReferences(kind, request, deps)
  await requireForeignNamespaces(kind, request, deps)
  await requireAllowedHosts(kind, request, deps)
  await requireContext(kind, request, deps)
  await requireOwnNetwork(kind, request, deps)
  if (kind === 'Task') await requireSpendable(request as AdmissionRequest<'Task'>, deps)
  if (kind in partsOfTasks && isUseChanged(kind, request.before, request.spec))
    await requireActingInUsersOf(kind as PartKind, request, deps)
  return (rules[kind] as Rule<K>)(request, deps)
}
