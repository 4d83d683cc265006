// A command's artifact folder, as this machine and as the command see it.

import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { LeftFile } from '../../../ports/tasks/left-files.ts'
import { workspaceInside } from '../../attempts/inside.ts'
import { readLeftFiles } from '../../folders/left-files.ts'
import { removeWorkFolder } from '../confinement/work-folder.ts'

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
  return { path, read: () => readLeftFiles(path, ''), remove: () => removeWorkFolder(path) }
}
