// One control group of a local process: limits that bind a whole process tree, even of the machine's root.
import { mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { GroupEvents } from '../../attempts/end.ts'

export type GroupLimits = {
  memoryBytes?: number
  processes?: number
  /** CPU cores, as a share of time per 100 ms. */
  cpu?: number
}

export type ControlGroup = {
  /** Folders to join, by writing to their cgroup.procs. */
  folders: string[]
  /** Folders in which the program may create groups below this one's limits, by controller. */
  nested: { controller: string; folder: string }[]
  setLimits(limits: GroupLimits): Promise<void>
  /** One of its own below this one's limits; undefined where none can be made. */
  createNested(name: string): Promise<ControlGroup | undefined>
  readEvents(): Promise<GroupEvents>
  /** Kills what is in it and removes it. */
  remove(): Promise<void>
}

/** `version` 2: one folder for all controllers. */
export type GroupParent = { controller: string; folder: string; version: 1 | 2 }

export const limitedControllers = ['memory', 'pids', 'cpu']

export async function readControlFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch {
    return ''
  }
}

/** Writes a setting that an older kernel may not have; returns whether that worked. */
export async function writeSetting(file: string, value: string): Promise<boolean> {
  try {
    // Never creates the file: a kernel without the setting would refuse that anyway.
    await writeFile(file, value, { flag: 'r+' })
    return true
  } catch {
    return false
  }
}

/** Enables the wanted controllers for groups below a folder of version 2; those that the kernel refuses stay off. */
export async function enableControllers(folder: string): Promise<void> {
  const file = join(folder, 'cgroup.subtree_control')
  const enabled = (await readControlFile(file)).trim().split(/\s+/)
  for (const controller of limitedControllers.filter((name) => !enabled.includes(name))) {
    await writeSetting(file, `+${controller}`)
  }
}

const settings: Record<1 | 2, { memory: string; swap: string; processes: string }> = {
  1: {
    memory: 'memory.limit_in_bytes',
    swap: 'memory.memsw.limit_in_bytes',
    processes: 'pids.max',
  },
  2: { memory: 'memory.max', swap: 'memory.swap.max', processes: 'pids.max' },
}

async function limitMemory(group: GroupParent, bytes: number): Promise<void> {
  const names = settings[group.version]
  await writeSetting(join(group.folder, names.memory), String(bytes))
  // Version 1 counts memory and swap together, version 2 swap alone: either way no swap is left to use.
  await writeSetting(join(group.folder, names.swap), group.version === 1 ? String(bytes) : '0')
}

async function limitCpu(group: GroupParent, cores: number): Promise<void> {
  const quota = String(Math.max(1000, Math.round(cores * 100_000)))
  if (group.version === 2) {
    await writeSetting(join(group.folder, 'cpu.max'), `${quota} 100000`)
    return
  }
  await writeSetting(join(group.folder, 'cpu.cfs_period_us'), '100000')
  await writeSetting(join(group.folder, 'cpu.cfs_quota_us'), quota)
}

/** A third of what the service has beside it, like the niceness of programs without a group. */
async function giveWay(group: GroupParent): Promise<void> {
  const [name, value] = group.version === 2 ? ['cpu.weight', '33'] : ['cpu.shares', '335']
  await writeSetting(join(group.folder, name), value)
}

async function limitGroup(group: GroupParent, limits: GroupLimits): Promise<void> {
  if (group.controller === 'memory' && limits.memoryBytes !== undefined) await limitMemory(group, limits.memoryBytes)
  if (group.controller === 'cpu') await giveWay(group)
  if (group.controller === 'cpu' && limits.cpu !== undefined) await limitCpu(group, limits.cpu)
  if (group.controller === 'pids' && limits.processes !== undefined) {
    await writeSetting(join(group.folder, settings[group.version].processes), String(limits.processes))
  }
}

function readCounter(text: string, name: string): number {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `))
  return line === undefined ? 0 : Number(line.slice(name.length + 1))
}

// A kill is counted where the process was, a refused fork there or, since Linux 6.12, where the limit is set.
async function readGroupEvents(groups: GroupParent[]): Promise<GroupEvents> {
  const memory = groups.find((group) => group.controller === 'memory')
  const pids = groups.find((group) => group.controller === 'pids')
  const memoryFile = memory?.version === 2 ? 'memory.events' : 'memory.oom_control'
  const forkFiles = pids ? [join(pids.folder, 'pids.events'), join(pids.folder, 'main', 'pids.events')] : []
  let refusedForks = 0
  for (const file of forkFiles) refusedForks += readCounter(await readControlFile(file), 'max')
  const memoryText = memory ? await readControlFile(join(memory.folder, 'main', memoryFile)) : ''
  return { memoryKills: readCounter(memoryText, 'oom_kill'), refusedForks }
}

async function listTree(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const below = entries.filter((entry) => entry.isDirectory()).map((entry) => listTree(join(folder, entry.name)))
  return [...(await Promise.all(below)).flat(), folder]
}

async function killMembers(folder: string): Promise<void> {
  const members = (await readControlFile(join(folder, 'cgroup.procs'))).split('\n').map(Number)
  // 0 stands for a process outside our pid namespace; as the target of a signal it would be our own process group.
  for (const pid of members.filter((member) => member > 1 && member !== process.pid)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // Already gone.
    }
  }
}

/** Deepest first. A group stays busy for a moment while the kernel releases killed processes. */
export async function removeGroupTree(folder: string): Promise<void> {
  for (const group of await listTree(folder)) {
    for (let round = 0; round < 100; round++) {
      await killMembers(group)
      const removed = await rmdir(group).then(
        () => true,
        (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
      )
      if (removed) break
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
}

export function distinctFolders(parents: GroupParent[]): string[] {
  return [...new Set(parents.map((parent) => parent.folder))]
}

/** `main` contains the processes, `nested` is for groups of their own; the limits are on the folder above both. */
async function prepareGroup(groups: GroupParent[]): Promise<void> {
  for (const folder of distinctFolders(groups)) {
    await mkdir(folder, { recursive: true })
    if (groups[0]?.version === 2) await enableControllers(folder)
    await mkdir(join(folder, 'main'))
    await mkdir(join(folder, 'nested'))
    if (groups[0]?.version === 2) await enableControllers(join(folder, 'nested'))
  }
}

function nestedParents(groups: GroupParent[]): GroupParent[] {
  return groups.map((group) => ({ ...group, folder: join(group.folder, 'nested') }))
}

function openGroup(groups: GroupParent[]): ControlGroup {
  const folders = distinctFolders(groups)
  return {
    folders: folders.map((folder) => join(folder, 'main')),
    nested: folders.map((folder) => {
      const version2 = groups.find((group) => group.folder === folder)?.version === 2
      const controller = version2 ? 'unified' : groups.find((group) => group.folder === folder)?.controller
      return { controller: controller ?? 'unified', folder: join(folder, 'nested') }
    }),
    setLimits: async (limits) => {
      for (const group of groups) await limitGroup(group, limits)
    },
    createNested: (name) => createGroup(nestedParents(groups), name),
    readEvents: () => readGroupEvents(groups),
    remove: async () => {
      for (const folder of folders) await removeGroupTree(folder)
    },
  }
}

export async function createGroup(parents: GroupParent[], name: string): Promise<ControlGroup | undefined> {
  if (parents.length === 0) return undefined
  const groups = parents.map((parent) => ({ ...parent, folder: join(parent.folder, name) }))
  try {
    await prepareGroup(groups)
    return openGroup(groups)
  } catch {
    // Limits by cgroup come on top of those that always apply; an unwritable tree adds none.
    for (const folder of distinctFolders(groups))
      await rm(folder, { recursive: true, force: true }).catch(() => undefined)
    return undefined
  }
}

const joinScript = `IFS='
'
for group in $1; do echo 0 > "$group/cgroup.procs" || exit 126; done
shift
exec "$@"`

/** Runs `argv` in these cgroups (joined before anything of it starts). */
export function joinGroups(groups: string[], argv: string[]): string[] {
  return groups.length === 0 ? argv : ['/bin/sh', '-c', joinScript, 'sh', groups.join('\n'), ...argv]
}
