// The Programs port inside a worker's sandbox: a further sandbox in it, with its network and without the worker.
import { release } from 'node:os'
import { dirname } from 'node:path'
import { SvcError } from '../../../errors.ts'
import type { ProgramStart, Programs, RunningProgram } from '../../../ports/workspaces/sandbox.ts'
import { countsProcessesPerNamespace, limitProcess, nodeInside } from '../../attempts/process-limits.ts'
import { withForwarder } from '../../network/forwarder.ts'
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
  const { folder, home, env, ports } = program
  const sockets = [...new Set(Object.values(ports ?? {}).map((socket) => dirname(socket)))].filter(
    (path) => path !== home,
  )
  const { argv, folders } = program.folders
    ? { argv: program.argv, folders: program.folders }
    : showWhereItLies(program.argv)
  const options = viewArguments({
    bubblewrap,
    network: ports === undefined ? true : 'gate',
    temporaryBytes: scratchBytes,
    nests: false,
    sealsProc: true,
    outlives: leavesPrograms,
    binds: [{ source: nodePath, target: nodeInside }, ...showProgram([...folders, ...sockets])],
    workspace: bindArguments([folder, home].map((path) => ({ source: path, target: path, writable: true }))),
    variables: env,
    startsIn: folder,
  })
  const limited = limitProcess(argv, countsProcessesPerNamespace(release()) ? { processes } : {})
  const running = launchConfined({
    bubblewrap,
    options,
    argv:
      ports === undefined ? limited : withForwarder(limited, { nodePath: nodeInside, ports, outlived: leavesPrograms }),
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
      if (program.ports !== undefined)
        throw new SvcError('Unavailable', `The network of the program cannot be limited: ${found.reason}.`)
      return launchPlain({ ...program, withStdin: true, withReport: false })
    },
  }
}
