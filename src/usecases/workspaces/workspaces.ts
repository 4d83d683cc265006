// Execution workspaces as people see them: what there is, a command in one, and its end.
import { workspaceFiles, workspaceFolders } from '../../contract/api/workspaces/execution-workspaces.ts'
import {
  commandLimits,
  type WorkspaceCommandResult,
  type WorkspaceItem,
} from '../../contract/api/workspaces/workspaces.ts'
import { SvcError } from '../../errors.ts'
import { dropUndefined } from '../../lib/json.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import { type ExecutionWorkspaces, WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'
import type { WorkspaceRecord } from '../../ports/workspaces/workspace-records.ts'
import { requireAccess, requireListing } from '../identity/access.ts'
import { requireActing } from '../resources/admission/acting.ts'
import type { UsecaseDeps } from '../service/deps.ts'

type WorkspaceListSettings = { retentionMs: number; hourlyCost: number }

type Key = { namespace: string; name: string }
type Command = { command: string[]; timeoutSeconds: number }

export type WorkspaceUsecases = {
  /** Oldest first. `namespace` undefined: all that the caller may list. */
  list(caller: Caller, query: { namespace: string | undefined }): Promise<WorkspaceItem[]>
  /** NotFound; Forbidden; Conflict while a task uses it; Unavailable when its provider does not answer. */
  release(caller: Caller, key: Key): Promise<void>
  /** NotFound; Forbidden; Conflict while it is taken by somebody else's command or is being deleted. */
  run(caller: Caller, key: Key, command: Command): Promise<WorkspaceCommandResult>
}

const readyMs = 60_000
/** To look for the sign of a worker. */
const signSeconds = 10
const firstPauseMs = 10
const maxPauseMs = 500
const hourMs = 3_600_000

function stateOf({ holder, isSeized, lentAt, facts }: WorkspaceRecord): WorkspaceItem['state'] {
  if (isSeized) return 'Ending'
  if (holder !== undefined || lentAt !== undefined) return 'InUse'
  return facts.isSuspended === true ? 'Suspended' : 'Retained'
}

function present(record: WorkspaceRecord, now: number, settings: WorkspaceListSettings): WorkspaceItem {
  const { name, owner, provider, facts, holder, createdAt, usedAt } = record
  const ageMs = Math.max(0, now - createdAt.getTime())
  const expiresAt = holder === undefined ? new Date(usedAt.getTime() + settings.retentionMs).toISOString() : undefined
  const cost = settings.hourlyCost > 0 ? (ageMs / hourMs) * settings.hourlyCost : undefined
  return dropUndefined({
    name,
    namespace: owner,
    provider,
    template: facts.claim.template.name,
    state: stateOf(record),
    cleanupPolicy: facts.cleanupPolicy,
    sessionName: facts.session,
    taskName: holder?.taskName,
    createdAt: createdAt.toISOString(),
    usedAt: usedAt.toISOString(),
    expiresAt,
    ageSeconds: Math.floor(ageMs / 1000),
    cost,
  })
}

function readFailure(error: unknown): unknown {
  if (!(error instanceof WorkspaceError)) return error
  const { reason, message } = error
  return new SvcError(reason === 'ProviderUnavailable' ? 'Unavailable' : 'Conflict', `${reason}: ${message}`)
}

export function createWorkspaceUsecases(deps: UsecaseDeps): WorkspaceUsecases {
  const { ports, settings } = deps
  const { records, clock, ids } = ports
  const shown = settings.workspaceList ?? { retentionMs: 0, hourlyCost: 0 }

  /** Every door to the inside of a workspace passes here. */
  async function find(caller: Caller, { namespace, name }: Key, verb: 'delete' | 'update'): Promise<WorkspaceRecord> {
    await requireAccess(ports, caller, { verb, kind: 'Task', namespace })
    const found = (await records.workspaces.list({ owners: [namespace] })).find((one) => one.name === name)
    if (found !== undefined) {
      const whose = `workspace "${name}" is of somebody else's tasks, and has what a Secret gave them`
      await requireActing(caller, found, whose, deps)
      return found
    }
    const hint = 'the list of workspaces shows those that there are'
    throw new SvcError('NotFound', `there is no workspace "${name}" in namespace "${namespace}"; ${hint}`)
  }

  function providerOf({ provider }: WorkspaceRecord): ExecutionWorkspaces {
    const found = ports.executionWorkspaces?.[provider]
    if (found !== undefined) return found
    throw new SvcError('Unavailable', `workspace provider ${provider} is not enabled on this service`)
  }

  function refuse({ name, holder, isSeized }: WorkspaceRecord): SvcError {
    if (isSeized) return new SvcError('Conflict', `workspace "${name}" is being deleted`)
    const by =
      holder === undefined
        ? "somebody's command; try again when it has ended"
        : `task "${holder.taskName}"; cancel it first, or wait until it has ended`
    return new SvcError('Conflict', `workspace "${name}" is used by ${by}`)
  }

  /** Until the worker has its assignment, nothing is beside it that could take it. */
  async function requireBegun(record: WorkspaceRecord): Promise<void> {
    const { root = '', command = '' } = record.facts
    const sign = [root, workspaceFolders.own, command, workspaceFiles.temporary].join('/')
    const { exitCode } = await execute(record, { command: ['test', '-d', sign], timeoutSeconds: signSeconds })
    if (exitCode === 0) return
    const task = record.holder?.taskName
    throw new SvcError(
      'Conflict',
      `task "${task}" is just beginning in workspace "${record.name}"; try again in a moment`,
    )
  }

  async function runBeside(record: WorkspaceRecord, command: Command) {
    await requireBegun(record)
    return execute(record, command)
  }

  async function execute(record: WorkspaceRecord, { command, timeoutSeconds }: Command) {
    const workspaces = providerOf(record)
    const { claim } = record.facts
    const id = ids.next('shell').toLowerCase().slice(0, 63)
    const limits = { timeoutSeconds, maxOutputBytes: commandLimits.outputBytes }
    await workspaces.start(claim, { id, command, env: {}, workDir: workspaceFolders.work, ...limits })
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, pauseMs * 1.5)) {
      const state = await workspaces.observeCommand(claim, id)
      if (state.phase === 'Missing') throw new SvcError('Conflict', 'the workspace was lost in mid-command')
      if (state.phase === 'Ended') return state
      await clock.sleep(pauseMs)
    }
  }

  /** Nobody else gets it meanwhile. */
  async function runAlone(record: WorkspaceRecord, command: Command) {
    const lentAt = await records.workspaces.lend(record)
    if (lentAt === undefined) throw refuse((await records.workspaces.get(record)) ?? record)
    try {
      const options = { timeoutMs: readyMs, signal: AbortSignal.timeout(readyMs) }
      await providerOf(record).waitUntilReady(record.facts.claim, options)
      return await execute(record, command)
    } finally {
      await records.workspaces.returnLoan(record, lentAt, { isSuspended: false })
    }
  }

  return {
    async list(caller, { namespace }) {
      const storedIn = async () => [...new Set((await records.workspaces.list()).map(({ owner }) => owner))]
      const scope = await requireListing(ports, caller, 'Task', { namespace, storedIn })
      const owners = scope.namespace === undefined ? scope.namespaces : [scope.namespace]
      const found = await records.workspaces.list(owners === undefined ? {} : { owners })
      return found.map((record) => present(record, clock.now().getTime(), shown))
    },

    async release(caller, key) {
      const record = await find(caller, key, 'delete')
      const workspaces = providerOf(record)
      if (!(await records.workspaces.seize(record))) throw refuse((await records.workspaces.get(record)) ?? record)
      try {
        await workspaces.delete(record.facts.claim)
      } catch (error) {
        throw readFailure(error)
      }
      await records.workspaces.remove(record)
    },

    async run(caller, key, command) {
      const record = await find(caller, key, 'update')
      try {
        const isRunning = record.holder !== undefined && record.step === 'running'
        const end = isRunning ? await runBeside(record, command) : await runAlone(record, command)
        const { phase: _phase, ...result } = end
        return result
      } catch (error) {
        throw readFailure(error)
      }
    },
  }
}
