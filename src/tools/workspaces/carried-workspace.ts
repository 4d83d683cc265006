// Workspaces for sandboxes on other machines: the files are sent with the command, and its changes come back.
import { isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import { open, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { WorkspacePath, workspaceLimits } from '../../contract/api/workspaces/code-runs.ts'
import { SvcError } from '../../errors.ts'
import { removeTree } from '../../lib/tree-removal.ts'
import { walkTree } from '../../lib/tree-walk.ts'
import type { Sandbox, SandboxChanges, WorkspaceFile } from '../../ports/workspaces/sandbox.ts'
import { openWorkspaceFolder } from './workspace-file.ts'

function refuseSize(): SvcError {
  const { bytes, files } = workspaceLimits
  const limit = `${files} files or ${bytes / 1024 ** 2} MiB`
  return new SvcError(
    'TooLarge',
    `the workspace has more than ${limit}, and code could not see it; make its files smaller`,
  )
}

/** Regular files by path; leaves out links, and what has no path that can be sent. */
async function listPaths(root: string): Promise<string[]> {
  const paths: string[] = []
  for await (const { path: bytes, stats } of walkTree(root)) {
    const path = Buffer.from(bytes, 'latin1')
    if (!stats?.isFile() || !isUtf8(path) || !WorkspacePath.safeParse(path.toString()).success) continue
    paths.push(path.toString())
    if (paths.length > workspaceLimits.files) throw refuseSize()
  }
  return paths.sort()
}

async function readFile(root: string, path: string, left: number): Promise<Buffer> {
  const handle = await open(join(root, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    if ((await handle.stat()).size > left) throw refuseSize()
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

/** Everything in the workspace; TooLarge when that is more than can be sent. */
async function readWorkspace(root: string): Promise<WorkspaceFile[]> {
  const files: WorkspaceFile[] = []
  let left: number = workspaceLimits.bytes
  for (const path of await listPaths(root)) {
    const bytes = await readFile(root, path, left)
    left -= bytes.length
    if (left < 0) throw refuseSize()
    files.push({ path, bytes })
  }
  return files
}

async function writeOne(root: string, { path, bytes }: WorkspaceFile): Promise<void> {
  const parts = path.split('/')
  const folder = await openWorkspaceFolder(root, parts.slice(0, -1), true)
  try {
    const address = folder.pathOf(parts.at(-1) ?? '')
    await removeTree(address)
    const handle = await open(address, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW)
    await handle.writeFile(bytes).finally(() => handle.close())
  } finally {
    await folder.close()
  }
}

async function removeOne(root: string, path: string): Promise<void> {
  const folder = await openWorkspaceFolder(root, path.split('/').slice(0, -1), false)
  await rm(folder.pathOf(path.split('/').at(-1) ?? ''), { force: true }).finally(() => folder.close())
}

/** Applies to the workspace what the code did remotely: removals first, because a file may have become a folder. */
async function applyChanges(workspaceRoot: string, { written, removed }: SandboxChanges): Promise<void> {
  const root = await realpath(workspaceRoot)
  for (const path of removed.filter((name) => WorkspacePath.safeParse(name).success)) await removeOne(root, path)
  for (const file of written.filter(({ path }) => WorkspacePath.safeParse(path).success)) await writeOne(root, file)
}

/** Lets a sandbox that cannot mount folders of this machine accept commands with a workspace. */
export function carryWorkspace(sandbox: Sandbox): Sandbox {
  return {
    check: () => sandbox.check(),
    async run({ workspace, ...command }, signal) {
      if (workspace === undefined) return await sandbox.run(command, signal)
      const { changes, ...outcome } = await sandbox.run(
        { ...command, workspaceFiles: await readWorkspace(workspace) },
        signal,
      )
      if (changes !== undefined) await applyChanges(workspace, changes)
      return outcome
    },
  }
}
