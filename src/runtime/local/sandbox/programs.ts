// The Programs port inside a worker's sandbox: a further sandbox in it, with its network and without the worker.
import { release } from 'node:os'
import type { ProgramStart, Programs, RunningProgram } from '../../../ports/workspaces/sandbox.ts'
import { countsProcessesPerNamespace, limitProcess, nodeInside } from '../../attempts/process-limits.ts'
import { showWhereItLies } from '../agent-programs/folders.ts'
import { type Bubblewrap, type BubblewrapProbe, probeBubblewrap, viewArguments } from '../confinement/bubblewrap.ts'
import { leaveRunning } from '../confinement/lasting-process.ts'
import { launchConfined, launchPlain } from '../confinement/local-process.ts'
import { bindArguments, showProgram } from '../confinement/root-folder.ts'
import { findSystemCallFilter } from '../confinement/system-calls.ts'

const scratchBytes = 256 * 1024 * 1024
const processes = 512

export type ProgramsOptions = {
  /** The Node that programs find in PATH. */
  nodePath: string
  /** A known answer; determined on first use when absent. */
  bubblewrap?: Promise<BubblewrapProbe>
  /** Whether what programs leave running goes on after them, and after this process. */
  leavesPrograms?: boolean
}

type Apart = Pick<ProgramsOptions, 'nodePath' | 'leavesPrograms'> & { bubblewrap: Bubblewrap }

function launchApart({ bubblewrap, nodePath, leavesPrograms = false }: Apart, program: ProgramStart): RunningProgram {
  const { folder, home, env } = program
  const { argv, folders } = program.folders
    ? { argv: program.argv, folders: program.folders }
    : showWhereItLies(program.argv)
  const options = viewArguments({
    bubblewrap,
    network: true,
    temporaryBytes: scratchBytes,
    nests: false,
    sealsProc: true,
    outlives: leavesPrograms,
    binds: [{ source: nodePath, target: nodeInside }, ...showProgram(folders)],
    workspace: bindArguments([folder, home].map((path) => ({ source: path, target: path, writable: true }))),
    variables: env,
    startsIn: folder,
  })
  const running = launchConfined({
    bubblewrap,
    options,
    argv: limitProcess(argv, countsProcessesPerNamespace(release()) ? { processes } : {}),
    filter: findSystemCallFilter(),
    coversProc: bubblewrap.proc === 'bound',
    withStdin: true,
    withReport: false,
  })
  return leavesPrograms ? { ...running, leave: () => leaveRunning(running) } : running
}

export function createPrograms(options: ProgramsOptions): Programs {
  let probing = options.bubblewrap
  const probe = () => {
    probing ??= probeBubblewrap()
    return probing
  }
  return {
    isolationGap: async () => {
      const found = await probe()
      return found.available ? undefined : found.reason
    },
    start: async (program) => {
      const found = await probe()
      if (found.available) return launchApart({ ...options, bubblewrap: found.bubblewrap }, program)
      return launchPlain({ ...program, withStdin: true, withReport: false })
    },
  }
}
