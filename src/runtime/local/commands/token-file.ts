// The file with a task's own context token, beside its folder: readable only for the command, removed with the attempt.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { mountedFiles } from '../../../contract/api/tasks/worker-pod.ts'
import { tokenFileVariables } from '../../../rules/identity/token-propagation.ts'
import { removeWorkFolder } from '../confinement/work-folder.ts'

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
  return { path, remove: () => removeWorkFolder(path) }
}

/** The variables that name the file. */
export function nameTokenFile(path: string | undefined): Record<string, string> {
  return path === undefined ? {} : Object.fromEntries(tokenFileVariables.map((name) => [name, path]))
}
