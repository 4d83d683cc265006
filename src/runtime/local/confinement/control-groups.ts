// Finds where control groups for local processes can be created: cgroup v1, v2, or those passed in by an enclosing
// sandbox.
import { mkdir, readdir, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type ControlGroup,
  createGroup,
  distinctFolders,
  enableControllers,
  type GroupParent,
  limitedControllers,
  readControlFile,
  removeGroupTree,
  writeSetting,
} from './control-group.ts'

export type ControlGroups = {
  /** What can be limited: `memory`, `pids`, `cpu`; may be empty. */
  controllers: string[]
  create(name: string): Promise<ControlGroup | undefined>
  /** Removes groups that an earlier run of the service left, with what still runs in them. */
  reap(isLeft: (name: string) => boolean): Promise<void>
}

export type ControlGroupsOptions = {
  /** Where the kernel's file system is mounted. */
  mount?: string
  /** The file that names this process's own groups. */
  membership?: string
  /** Folders passed in by an enclosing sandbox, which take precedence. */
  delegated?: string
}

export const delegatedGroups = '/run/svc/cgroup'

async function canMakeFolder(folder: string): Promise<boolean> {
  const trial = join(folder, `svc-trial-${process.pid}`)
  try {
    await mkdir(trial)
    await rmdir(trial)
    return true
  } catch {
    return false
  }
}

async function findDelegated(folder: string): Promise<GroupParent[]> {
  const names = await readdir(folder).catch(() => [])
  return names.flatMap((name): GroupParent[] => {
    if (name === 'unified')
      return limitedControllers.map((controller) => ({ controller, folder: join(folder, name), version: 2 }))
    return limitedControllers.includes(name) ? [{ controller: name, folder: join(folder, name), version: 1 }] : []
  })
}

/** Lines of /proc/self/cgroup: `hierarchy:controllers:path`; version 2 has no controllers. */
async function findOwn(options: { mount: string; membership: string }): Promise<GroupParent[]> {
  const lines = (await readControlFile(options.membership)).split('\n').map((line) => line.split(':'))
  const parents: GroupParent[] = []
  for (const [, names = '', path = ''] of lines) {
    for (const controller of names.split(',').filter((name) => limitedControllers.includes(name))) {
      parents.push({ controller, folder: join(options.mount, names, path), version: 1 })
    }
  }
  const unified = lines.find(([hierarchy, names]) => hierarchy === '0' && names === '')?.[2]
  if (parents.length > 0 || unified === undefined) return parents
  return findUnified(join(options.mount, unified))
}

/**
 * In version 2 a group with processes of its own cannot limit groups below it ("no internal processes", kernel
 * documentation cgroup-v2), so the service, when it is alone in its group, first moves into a leaf beside the others.
 */
async function findUnified(folder: string): Promise<GroupParent[]> {
  const members = (await readControlFile(join(folder, 'cgroup.procs'))).split('\n').filter(Boolean)
  if (members.length === 1 && members[0] === String(process.pid)) {
    const leaf = join(folder, 'svc-service')
    await mkdir(leaf, { recursive: true }).catch(() => undefined)
    await writeSetting(join(leaf, 'cgroup.procs'), String(process.pid))
  }
  await enableControllers(folder)
  const enabled = (await readControlFile(join(folder, 'cgroup.subtree_control'))).trim().split(/\s+/)
  return limitedControllers
    .filter((name) => enabled.includes(name))
    .map((controller) => ({ controller, folder, version: 2 }))
}

async function reapGroups(parents: GroupParent[], isLeft: (name: string) => boolean): Promise<void> {
  for (const folder of distinctFolders(parents)) {
    const names = await readdir(folder).catch(() => [])
    for (const name of names.filter(isLeft)) await removeGroupTree(join(folder, name))
  }
}

/**
 * Finds once where groups can be created: below the service's own group, so that its limits also apply to its tasks.
 */
export async function findControlGroups(options: ControlGroupsOptions = {}): Promise<ControlGroups> {
  const delegated = await findDelegated(options.delegated ?? delegatedGroups)
  const own = { mount: options.mount ?? '/sys/fs/cgroup', membership: options.membership ?? '/proc/self/cgroup' }
  const candidates = delegated.length > 0 ? delegated : await findOwn(own)
  const parents: GroupParent[] = []
  for (const parent of candidates) if (await canMakeFolder(parent.folder)) parents.push(parent)
  return {
    controllers: parents.map((parent) => parent.controller),
    create: (name) => createGroup(parents, name),
    reap: (isLeft) => reapGroups(parents, isLeft),
  }
}

/** Mounts for a sandbox whose program may limit what it starts itself. */
export function delegateBinds(group: ControlGroup): { source: string; target: string; writable: boolean }[] {
  return group.nested.map(({ controller, folder }) => ({
    source: folder,
    target: join(delegatedGroups, controller),
    writable: true,
  }))
}
