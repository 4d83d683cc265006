// The files of a command beside its own folder, removed with the attempt: artifacts, Secrets, and the task's context
// token, which only the command can read.
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { mountedFiles } from '../../../contract/api/tasks/worker-pod.ts'
import { removeTree } from '../../../lib/tree-removal.ts'
import type { LeftFile, MountedSecret } from '../../../ports/tasks/workloads.ts'
import { tokenFileVariables } from '../../../rules/identity/token-propagation.ts'
import { workspaceInside } from '../../attempts/process-limits.ts'
import { readLeftFiles } from '../../folders/left-files.ts'
import type { BindMount } from '../confinement/root-folder.ts'

export type ArtifactsFolder = { path: string; read(): AsyncIterable<LeftFile>; remove(): Promise<void> }

/** Inside the workspace of a command without an image, and removed with it; undefined when none is requested. */
export async function makeInWorkspace(
  workspace: string,
  artifactsDir: string | undefined,
): Promise<ArtifactsFolder | undefined> {
  if (artifactsDir === undefined) return undefined
  const below = artifactsDir.slice(workspaceInside.length + 1)
  const path = join(workspace, below)
  await mkdir(path, { recursive: true, mode: 0o700 })
  return { path, read: () => readLeftFiles(workspace, below), remove: async () => undefined }
}

/** Beside a container's other files. The container has another user, so it is open to all, within a closed folder. */
export async function makeForContainer(
  workFolder: string,
  id: string,
  artifactsDir: string | undefined,
): Promise<ArtifactsFolder | undefined> {
  if (artifactsDir === undefined) return undefined
  const path = join(workFolder, `${id}.artifacts`)
  await mkdir(path)
  await chmod(path, 0o777)
  return { path, read: () => readLeftFiles(path, ''), remove: () => removeTree(path) }
}

export type SecretFiles = { binds: BindMount[]; remove(): Promise<void> }

/** A container has another user: its files are open to all, within a closed folder. */
export async function writeSecretFiles(
  { workFolder, isShared }: { workFolder: string; isShared: boolean },
  id: string,
  secrets: readonly MountedSecret[],
): Promise<SecretFiles> {
  const root = join(workFolder, `${id}.secrets`)
  const remove = () => (secrets.length === 0 ? Promise.resolve() : removeTree(root))
  const modes = isShared ? { folder: 0o755, file: 0o444 } : { folder: 0o700, file: 0o400 }
  const binds: BindMount[] = []
  try {
    for (const { folder, entries } of secrets) {
      const source = join(root, basename(folder))
      await mkdir(source, { recursive: true, mode: modes.folder })
      for (const [name, text] of Object.entries(entries)) {
        await writeFile(join(source, name), text, { mode: modes.file, flag: 'wx' })
      }
      binds.push({ source, target: folder })
    }
    return { binds, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

export type TokenFile = { path: string; remove(): Promise<void> }

/** Its path in a sandbox or a container. */
export const tokenInside = `${mountedFiles.transaction.folder}/${mountedFiles.transaction.name}`

/** Undefined without a token. A container has another user: its file is open to all, within a closed folder. */
export async function writeTokenFile(
  { workFolder, mode }: { workFolder: string; mode: 0o400 | 0o444 },
  id: string,
  token: string | undefined,
): Promise<TokenFile | undefined> {
  if (token === undefined) return undefined
  const path = join(workFolder, `${id}.token`)
  await writeFile(path, token, { mode, flag: 'wx' })
  return { path, remove: () => removeTree(path) }
}

/** The variables that name the file. */
export function nameTokenFile(path: string | undefined): Record<string, string> {
  return path === undefined ? {} : Object.fromEntries(tokenFileVariables.map((name) => [name, path]))
}
