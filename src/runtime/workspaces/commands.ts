// Small programs of the service's own in a workspace, run to their end: retried while a provider refuses for a while,
// and what the end of the worker means for its attempt.
import type { Clock, Ids } from '../../lib/clock.ts'
import type { WorkloadState } from '../../ports/tasks/workloads.ts'
import {
  type CommandState,
  type ExecutionWorkspaces,
  type WorkspaceClaim,
  WorkspaceError,
} from '../../ports/workspaces/execution-workspaces.ts'
import { readExit } from '../attempts/end.ts'
import { judgeWorkerEnd, readReportLine } from '../attempts/worker-end.ts'

type EndedCommand = Extract<CommandState, { phase: 'Ended' }>

export type CommandDeps = { workspaces: ExecutionWorkspaces; clock: Clock; ids: Ids }

export type ShortCommand = {
  command: string[]
  stdin?: Uint8Array
  workDir?: string
  env?: Record<string, string>
  timeoutSeconds?: number
  maxOutputBytes?: number
}

const firstPauseMs = 10
const maxPauseMs = 1000

/** Waits for the end of a command; WorkspaceLost when it is not known there. */
async function awaitCommand(
  { workspaces, clock }: CommandDeps,
  claim: WorkspaceClaim,
  id: string,
  signal?: AbortSignal,
): Promise<EndedCommand> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, pauseMs * 1.5)) {
    const state = await workspaces.observeCommand(claim, id)
    if (state.phase === 'Ended') return state
    if (state.phase === 'Missing') throw new WorkspaceError('WorkspaceLost', 'the workspace was lost in mid-command')
    await clock.sleep(pauseMs, signal)
  }
}

/** Its end; on the signal it is stopped, and the call rejects. */
export async function runShort(
  deps: CommandDeps,
  claim: WorkspaceClaim,
  { stdin, workDir, env = {}, timeoutSeconds = 300, maxOutputBytes = 1024 ** 2, command }: ShortCommand,
  signal?: AbortSignal,
): Promise<EndedCommand> {
  const id = deps.ids
    .next('own')
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-')
    .slice(0, 63)
  const optional = { ...(stdin && { stdin }), ...(workDir !== undefined && { workDir }) }
  await deps.workspaces.start(claim, { id, command, env, timeoutSeconds, maxOutputBytes, network: 'none', ...optional })
  try {
    return await awaitCommand(deps, claim, id, signal)
  } catch (error) {
    await deps.workspaces.stop(claim, id).catch(() => undefined)
    throw error
  }
}

/** Rejects with ProtocolError when it fails. */
export async function requireShort(deps: CommandDeps, claim: WorkspaceClaim, command: ShortCommand): Promise<string> {
  const end = await runShort(deps, claim, command)
  if (end.exitCode === 0) return end.stdout
  const output = end.stderr.trim().slice(-500)
  throw new WorkspaceError(
    'ProtocolError',
    `${command.command[0]} failed in the workspace (${end.exitCode}): ${output}`,
  )
}

/** Between two tries; about a minute in all. */
const pausesMs = [500, 1000, 2000, 4000, 8000, 15_000, 30_000]

export function isProviderUnavailable(error: unknown): boolean {
  return error instanceof WorkspaceError && error.reason === 'ProviderUnavailable'
}

/** The last failure when all tries fail; at once for one that lasts, or once the signal aborts. */
export async function withRetries<T>(clock: Clock, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      const pauseMs = pausesMs[tries]
      if (!isProviderUnavailable(error) || pauseMs === undefined || signal.aborted) throw error
      await clock.sleep(pauseMs, signal).catch(() => undefined)
      if (signal.aborted) throw error
    }
  }
}

const timedOut = 124
const tailLength = 4096

type FailedState = Extract<WorkloadState, { phase: 'Failed' }>

export function failedState(reason: FailedState['reason'], message: string, finishedAt: Date): FailedState {
  return { phase: 'Failed', reason, message, finishedAt }
}

/** The worker's outcome is the last line that it prints. */
export function judgeEnd(end: EndedCommand, startedAt: Date, finishedAt: Date): WorkloadState {
  const times = { startedAt, finishedAt }
  if (end.exitCode === timedOut) {
    return {
      ...failedState('DeadlineExceeded', 'The attempt ran longer than its workspace allows.', finishedAt),
      startedAt,
    }
  }
  const start = { isReady: true, outcome: undefined }
  const { outcome } = end.stdout.split('\n').reduce<ReturnType<typeof readReportLine>>(readReportLine, start)
  const exit = readExit(end.exitCode, null)
  const errorTail = end.stderr.slice(-tailLength).trim()
  const judged = judgeWorkerEnd({ exit, wasReady: true, outcome, errorTail, wasOutOfMemory: false }, 0)
  if (judged.ok) return { phase: 'Succeeded', ...times }
  const { ok: _, ...failure } = judged
  return { phase: 'Failed', ...failure, ...times }
}
