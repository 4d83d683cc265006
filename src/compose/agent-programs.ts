// The agent programs of this machine: found and judged whenever somebody asks, with what each says of its version asked once per
// file.
import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { acpRuntime } from '../agents/acp/client.ts'
import { agentRuntimes } from '../agents/runtimes.ts'
import { isAtLeast } from '../agents/version.ts'
import type { Config } from '../config/load.ts'
import { runtimeTypes } from '../contract/kinds/agents/runtime-types.ts'
import { BoundedMap } from '../lib/bounded-map.ts'
import { dropUndefined } from '../lib/json.ts'
import type { AgentPrograms, InstalledAgentProgram } from '../rules/agents/programs.ts'
import { baseEnvironment } from '../runtime/attempts/process-limits.ts'
import {
  createLauncher,
  LaunchProblem,
  listPrograms,
  type ProgramLaunch,
} from '../runtime/local/agent-programs/launch.ts'
import type { BubblewrapProbe } from '../runtime/local/confinement/bubblewrap.ts'
import { createPrograms } from '../runtime/local/sandbox/programs.ts'
import { askVersion, type VersionAnswer } from '../worker/agent/program-version.ts'

export type LocalAgentPrograms = AgentPrograms & {
  /** What all of them read, at its own path. */
  listFolders(): Promise<string[]>
}

type Sort = { name: string; command: string; install?: string; lowest?: string; added?: string[] }

/** A name that is known already keeps its meaning. */
function listSorts({ agentProgram }: Config): Map<string, Sort> {
  const added = agentProgram.map(({ name, command }): Sort => {
    return { name, command: acpRuntime(command).command, added: command }
  })
  const known = runtimeTypes.map((name): Sort => ({ name, ...agentRuntimes[name] }))
  return new Map([...added, ...known].map((sort) => [sort.name, sort]))
}

const run = promisify(execFile)
/** Managers of versions answer from files. */
const managerMs = 10_000

/** An answer that is no version may be that of a busy machine. */
const problemMs = 30_000

type Asked = Promise<VersionAnswer>

/** What tells one installed version from another: npm gives all files the same time of change, but not the same inode. */
async function describeFiles({ argv }: ProgramLaunch): Promise<string> {
  const files = argv.filter((word) => word.startsWith('/'))
  const program = files.at(-1) ?? ''
  const manifests = [dirname(program), dirname(dirname(program))].map((folder) => join(folder, 'package.json'))
  const described = [...files, ...manifests].map(async (file) => {
    const found = await stat(file).catch(() => undefined)
    return found && [file, found.size, found.mtimeMs, found.ctimeMs, found.ino]
  })
  return JSON.stringify([argv, await Promise.all(described)])
}

function createVersions(bubblewrap: Promise<BubblewrapProbe>) {
  const programs = createPrograms({ nodePath: process.execPath, bubblewrap })
  const asked = new BoundedMap<string, Asked>({ max: 100 })
  const failed = new BoundedMap<string, Asked>({ max: 100, age: { maxMs: problemMs, now: () => performance.now() } })
  return async (launch: ProgramLaunch, path: string): Asked => {
    const key = await describeFiles(launch)
    const known = failed.get(key) ?? asked.get(key)
    if (known !== undefined) return known
    const { argv, folders } = launch
    const answer = askVersion({ argv, folders, path }, { programs })
    asked.set(key, answer)
    if (!('problem' in (await answer))) return answer
    asked.delete(key)
    failed.set(key, answer)
    return answer
  }
}

export function openAgentPrograms(config: Config, bubblewrap: Promise<BubblewrapProbe>): LocalAgentPrograms {
  const { programPath, home } = config
  const sorts = listSorts(config)
  const readVersion = createVersions(bubblewrap)
  const launcher = createLauncher({
    path: programPath,
    home,
    nodePath: process.execPath,
    ask: async ([program = '', ...args], env) => {
      const options = { env: { PATH: programPath, HOME: home, ...env }, cwd: home, timeout: managerMs }
      return (await run(program, args, options)).stdout
    },
  })

  /** LaunchProblem for one that does not work. */
  async function requireVersion(launch: ProgramLaunch, path: string, lowest: string): Promise<string> {
    const answer = await readVersion(launch, path)
    if ('problem' in answer) throw new LaunchProblem(answer.problem)
    const { version } = answer
    if (isAtLeast(version, lowest)) return version
    throw new LaunchProblem(`is version ${version}, and ${lowest} is the lowest that works`)
  }

  async function judge({ command, install, lowest, added }: Sort, file: string): Promise<InstalledAgentProgram> {
    try {
      const launch = await launcher.launch(file)
      const { argv, folders } = launch
      const path = [...new Set([...launch.path, dirname(file), baseEnvironment('/').PATH])].join(':')
      const version = lowest && (await requireVersion(launch, path, lowest))
      return dropUndefined({
        found: true as const,
        file,
        command: added,
        launch: dropUndefined({ argv, folders, path, version }),
      })
    } catch (error) {
      if (!(error instanceof LaunchProblem)) throw error
      return dropUndefined({ found: false as const, command, file, problem: error.message, install })
    }
  }

  /** The first in PATH that can be used; what is wrong with the first of all, if none can. */
  async function find(name: string): Promise<InstalledAgentProgram | undefined> {
    const sort = sorts.get(name)
    if (sort === undefined) return undefined
    let first: InstalledAgentProgram | undefined
    for (const file of await listPrograms(sort.command, programPath)) {
      const program = await judge(sort, file)
      if (program.found) return program
      first ??= program
    }
    return first ?? dropUndefined({ found: false as const, command: sort.command, install: sort.install })
  }

  async function listFolders(): Promise<string[]> {
    const found = await Promise.all([...sorts.keys()].map(find))
    return [...new Set(found.flatMap((program) => (program?.found ? (program.launch?.folders ?? []) : [])))]
  }

  return { find, names: [...sorts.keys()], listFolders }
}
