// The Secrets that a command finds as files: folders beside its own, removed with the attempt.
import { mkdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { MountedSecret } from '../../../ports/tasks/workloads.ts'
import type { Bind } from '../confinement/root-folder.ts'
import { removeWorkFolder } from '../confinement/work-folder.ts'

export type SecretFiles = { binds: Bind[]; remove(): Promise<void> }

/** A container has another user: its files are open to all, within a closed folder. */
export async function writeSecretFiles(
  { workFolder, isShared }: { workFolder: string; isShared: boolean },
  id: string,
  secrets: readonly MountedSecret[],
): Promise<SecretFiles> {
  const root = join(workFolder, `${id}.secrets`)
  const remove = () => (secrets.length === 0 ? Promise.resolve() : removeWorkFolder(root))
  const modes = isShared ? { folder: 0o755, file: 0o444 } : { folder: 0o700, file: 0o400 }
  const binds: Bind[] = []
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
