// The folders of execution workspaces on this machine: each has what it was made for beside its files.
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tryParseJson } from '../../../contract/json.ts'
import type { WorkspaceClaim } from '../../../ports/execution-workspaces.ts'
import { removeTree } from '../../workspaces/removal.ts'

/** `wasReady`: something may have been put into it. */
export type FolderNote = { claim: WorkspaceClaim; createdAt: string; wasReady: boolean }

export type WorkspaceFolders = {
  /** Where the files of the workspace are. */
  filesOf(claim: WorkspaceClaim): string
  read(claim: Pick<WorkspaceClaim, 'namespace' | 'name'>): Promise<FolderNote | undefined>
  write(note: FolderNote): Promise<void>
  remove(claim: WorkspaceClaim): Promise<void>
  list(): AsyncIterable<FolderNote>
}

const noteName = 'workspace.json'

export function createWorkspaceFolders(root: string): WorkspaceFolders {
  const folderOf = ({ namespace, name }: Pick<WorkspaceClaim, 'namespace' | 'name'>) => join(root, namespace, name)

  async function read(claim: Pick<WorkspaceClaim, 'namespace' | 'name'>): Promise<FolderNote | undefined> {
    const text = await readFile(join(folderOf(claim), noteName), 'utf8').catch(() => undefined)
    return text === undefined ? undefined : (tryParseJson(text) as FolderNote | undefined)
  }

  return {
    filesOf: (claim) => join(folderOf(claim), 'files'),
    read,
    async write(note) {
      const folder = folderOf(note.claim)
      await mkdir(join(folder, 'files'), { recursive: true, mode: 0o700 })
      const file = join(folder, noteName)
      await writeFile(`${file}.new`, JSON.stringify(note), { mode: 0o600 })
      await rename(`${file}.new`, file)
    },
    async remove(claim) {
      const folder = folderOf(claim)
      // First what the folder is known by, then what takes time.
      await rm(join(folder, noteName), { force: true })
      await removeTree(folder)
    },
    async *list() {
      for (const namespace of await readdir(root).catch(() => [])) {
        for (const name of await readdir(join(root, namespace)).catch(() => [])) {
          const note = await read({ namespace, name })
          if (note !== undefined) yield note
          // A crash came between: there is nothing in it, or it was being removed.
          else await removeTree(join(root, namespace, name))
        }
      }
    },
  }
}
