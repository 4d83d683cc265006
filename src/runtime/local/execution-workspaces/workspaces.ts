// Execution workspaces in embedded mode: folders of this machine that last, in which each command has a sandbox of its own.
import { hostname } from 'node:os'
import { posix } from 'node:path'
import {
  type ExecutionWorkspaces,
  type StagedFile,
  type WorkspaceClaim,
  type WorkspaceCommand,
  WorkspaceError,
  type WorkspaceState,
} from '../../../ports/workspaces/execution-workspaces.ts'
import type { NetworkGates } from '../../../ports/workspaces/network-gates.ts'
import { workspaceInside } from '../../attempts/process-limits.ts'
import { requireInside } from '../../workspaces/inside.ts'
import type { BubblewrapProbe } from '../confinement/bubblewrap.ts'
import type { ControlGroups } from '../confinement/control-groups.ts'
import { type CommandFolder, type CommandFolderOptions, openCommandFolder } from './command-folder.ts'
import { type CommandsOptions, doInFolder, type FolderCommand, type RunningCommand, runInFolder } from './commands.ts'
import { createWorkspaceFolders, type FolderNote, type WorkspaceFolders } from './folders.ts'

export type LocalWorkspacesOptions = Omit<CommandsOptions & CommandFolderOptions, 'bubblewrap' | 'groups'> & {
  /** Holds the folders of all workspaces. */
  root: string
  /** The one template there is. */
  template: string
  /** The worker program as a command, as seen inside. */
  worker: readonly string[]
  /** What the names of control groups begin with; no others do. Those of an earlier run are removed first. */
  prefix: string
  bubblewrap: Promise<BubblewrapProbe>
  groups: Promise<ControlGroups>
  gates: NetworkGates
}

export type LocalWorkspaces = ExecutionWorkspaces & {
  /** Ends all commands; the folders stay. */
  close(): Promise<void>
}

type Open = { note: FolderNote; folder: CommandFolder; commands: Map<string, RunningCommand> }

/** Nothing outside is written to: whatever links the programs inside have made lead nowhere else. */
const putScript =
  'umask 077 && mkdir -p -- "$(dirname -- "$1")" && cat >"$1.part" && chmod "$2" "$1.part" && mv -fT -- "$1.part" "$1"'

function nameOf({ namespace, name }: WorkspaceClaim): string {
  return `${namespace}/${name}`
}

/** It has ended, and left programs. */
function isLeft(command: RunningCommand): boolean {
  return command.state().phase === 'Ended' && !command.isOver()
}

/** Programs that have the network of the machine could lend it to those that do not. */
async function endOpenPrograms(commands: ReadonlyMap<string, RunningCommand>): Promise<void> {
  const open = [...commands.values()].filter((command) => isLeft(command) && command.isOpen)
  await Promise.all(open.map((command) => command.stop()))
}

type Networks = { gates: NetworkGates; folders: WorkspaceFolders }

/** Only workers leave programs. */
async function openNetwork(
  { gates, folders }: Networks,
  { note: { claim }, commands }: Open,
  { network: own, leavesPrograms: isWorker = false }: Pick<WorkspaceCommand, 'network' | 'leavesPrograms'>,
): Promise<Pick<FolderCommand, 'network' | 'gate'>> {
  if (own === 'none') return { network: false }
  const note = await folders.read(claim)
  const attempt = isWorker ? own : note?.network
  if (isWorker && note !== undefined) await folders.change({ ...note, network: own })
  if (attempt === undefined) return { network: true }
  if (isWorker) await endOpenPrograms(commands)
  return { network: isWorker || 'gate', gate: await gates.open(attempt) }
}

export function createLocalWorkspaces(options: LocalWorkspacesOptions): LocalWorkspaces {
  const folders = createWorkspaceFolders(options.root)
  const opened = new Map<string, Open>()
  let count = 0
  let reaped: Promise<ControlGroups> | undefined

  async function reapGroups(): Promise<ControlGroups> {
    const groups = await options.groups
    await groups.reap((name) => name.startsWith(options.prefix))
    return groups
  }

  async function findBubblewrap() {
    const probe = await options.bubblewrap
    if (probe.available) return probe.bubblewrap
    const { reason, suggestion } = probe
    throw new WorkspaceError(
      'ProviderUnavailable',
      `a workspace needs a sandbox, and ${reason}. To fix it: ${suggestion}`,
    )
  }

  async function commandsOptions(): Promise<CommandsOptions> {
    return { ...options, bubblewrap: await findBubblewrap() }
  }

  function createGroup(name: string) {
    reaped ??= reapGroups()
    return reaped.then((groups) => groups.create(name))
  }

  function open(note: FolderNote): Open {
    count += 1
    const name = `${options.prefix}-${process.pid}-${count}`
    const folder = openCommandFolder({ ...options, groups: { create: createGroup } }, folders.filesOf(note.claim), name)
    return { note, folder, commands: new Map() }
  }

  function requireOpen(claim: WorkspaceClaim): Open {
    const open = opened.get(nameOf(claim))
    if (open !== undefined) return open
    throw new WorkspaceError('WorkspaceLost', `workspace "${claim.name}" is not ready any more`)
  }

  async function close(claim: WorkspaceClaim): Promise<void> {
    const { commands, folder } = opened.get(nameOf(claim)) ?? {}
    await Promise.all([...(commands?.values() ?? [])].map((command) => command.stop()))
    await folder?.close()
    opened.delete(nameOf(claim))
  }

  function stateOf(note: FolderNote): WorkspaceState {
    if (opened.has(nameOf(note.claim))) return { phase: 'Ready' }
    return { phase: note.wasReady ? 'Suspended' : 'Pending' }
  }

  async function put({ folder }: Open, { path, bytes, mode }: StagedFile): Promise<void> {
    const argv = ['/bin/sh', '-c', putScript, 'put', `./${requireInside(path)}`, mode.toString(8)]
    await doInFolder(await commandsOptions(), folder, { argv, stdin: bytes })
  }

  return {
    async claim(claim) {
      if (claim.template.name !== options.template) {
        const only = `this service has only the template "${options.template}"`
        throw new WorkspaceError('TemplateNotFound', `there is no template "${claim.template.name}": ${only}`)
      }
      if ((await folders.read(claim)) !== undefined) return
      await folders.make({ claim, createdAt: options.clock.now().toISOString(), wasReady: false })
    },

    async observe(claim) {
      const note = await folders.read(claim)
      return note === undefined ? { phase: 'Absent' } : stateOf(note)
    },

    async waitUntilReady(claim, { signal }) {
      if (signal.aborted) throw new WorkspaceError('ClaimTimeout', 'nobody waits for the workspace any more')
      await findBubblewrap()
      const note = await folders.read(claim)
      if (note === undefined) throw new WorkspaceError('WorkspaceLost', `workspace "${claim.name}" is gone`)
      const isResumed = note.wasReady && !opened.has(nameOf(claim))
      if (!note.wasReady) await folders.change({ ...note, wasReady: true })
      if (!opened.has(nameOf(claim))) opened.set(nameOf(claim), open(note))
      return {
        reused: note.wasReady,
        root: workspaceInside,
        worker: options.worker,
        placement: hostname(),
        density: opened.size,
        ...(isResumed && { resumeMs: 0 }),
      }
    },

    async stage(claim, files) {
      const known = requireOpen(claim)
      for (const file of files) await put(known, file)
    },

    async start(claim, { id, command, workDir = '.', ...rest }) {
      const known = requireOpen(claim)
      const { commands, folder } = known
      if (commands.has(id)) return
      const network = await openNetwork({ gates: options.gates, folders }, known, rest)
      const started = { ...rest, argv: command, workDir: posix.resolve(workspaceInside, workDir), ...network }
      try {
        commands.set(id, await runInFolder(await commandsOptions(), folder, started))
      } catch (error) {
        await network.gate?.close()
        throw error
      }
    },

    async observeCommand(claim, id) {
      const command = opened.get(nameOf(claim))?.commands.get(id)
      const state = command?.state() ?? { phase: 'Missing' }
      if (state.phase !== 'Running' || (await folders.read(claim)) !== undefined) return state
      await command?.stop()
      throw new WorkspaceError('WorkspaceLost', `the folder of workspace "${claim.name}" is gone`)
    },

    async stop(claim, id) {
      await opened.get(nameOf(claim))?.commands.get(id)?.stop()
    },

    async scrub(claim, paths, { keepsPrograms = false } = {}) {
      const { commands, folder } = requireOpen(claim)
      const ends = [...commands].filter(([, command]) => !keepsPrograms || !isLeft(command))
      await Promise.all(ends.map(([, command]) => command.stop()))
      for (const [id] of ends) commands.delete(id)
      const argv = ['/bin/rm', '-rf', '--', ...paths.map((path) => `./${requireInside(path)}`)]
      await doInFolder(await commandsOptions(), folder, { argv })
    },

    suspend: close,

    async delete(claim) {
      await close(claim)
      await folders.remove(claim)
    },

    async *list() {
      for await (const note of folders.list()) {
        yield { claim: note.claim, state: stateOf(note), createdAt: new Date(note.createdAt) }
      }
    },

    async close() {
      await Promise.all([...opened.values()].map(({ note }) => close(note.claim)))
    },
  }
}
