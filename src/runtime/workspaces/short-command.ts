// Small programs of the service's own in a workspace, run to their end.
import type { Clock, Ids } from '../../lib/clock.ts'
import {
  type CommandState,
  type ExecutionWorkspaces,
  type WorkspaceClaim,
  WorkspaceError,
} from '../../ports/workspaces/execution-workspaces.ts'

export type EndedCommand = Extract<CommandState, { phase: 'Ended' }>

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
const longestPauseMs = 1000

/** Waits for the end of a command; WorkspaceLost when it is not known there. */
async function awaitCommand(
  { workspaces, clock }: CommandDeps,
  claim: WorkspaceClaim,
  id: string,
  signal?: AbortSignal,
): Promise<EndedCommand> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)) {
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
  await deps.workspaces.start(claim, { id, command, env, timeoutSeconds, maxOutputBytes, ...optional })
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
  const said = end.stderr.trim().slice(-500)
  throw new WorkspaceError('ProtocolError', `${command.command[0]} failed in the workspace (${end.exitCode}): ${said}`)
}
