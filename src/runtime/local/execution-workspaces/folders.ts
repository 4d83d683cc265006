// The folders of execution workspaces on this machine: each has what it was made for beside its files. They appear and
// vanish as a whole: what a crash leaves half-way is nowhere among them.
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hasCode } from '../../../lib/error-code.ts'
import { tryParseJson } from '../../../lib/json.ts'
import { removeTree } from '../../../lib/tree-removal.ts'
import type { WorkspaceClaim } from '../../../ports/workspaces/execution-workspaces.ts'
import type { GatedAttempt } from '../../../ports/workspaces/network-gates.ts'

export type FolderNote = {
  claim: WorkspaceClaim
  createdAt: string
  /** Something may have been put into it. */
  wasReady: boolean
  /** Of the last worker; absent: that of the machine. */
  network?: GatedAttempt | undefined
}

type Named = Pick<WorkspaceClaim, 'namespace' | 'name'>

export type WorkspaceFolders = {
  /** Where the files of the workspace are. */
  filesOf(claim: Named): string
  read(claim: Named): Promise<FolderNote | undefined>
  /** Without effect when it exists. */
  make(note: FolderNote): Promise<void>
  change(note: FolderNote): Promise<void>
  remove(claim: Named): Promise<void>
  list(): AsyncIterable<FolderNote>
}

const noteName = 'workspace.json'
/** No namespace has such a name. */
const halfway = '.halfway'

async function writeNote(folder: string, note: FolderNote): Promise<void> {
  const file = join(folder, noteName)
  await writeFile(`${file}.new`, JSON.stringify(note), { mode: 0o600 })
  await rename(`${file}.new`, file)
}

const isThere = (error: unknown) => hasCode(error, 'ENOTEMPTY', 'EEXIST')

async function listNames(root: string): Promise<Named[]> {
  const namespaces = (await readdir(root).catch(() => [])).filter((namespace) => namespace !== halfway)
  const named = namespaces.map(async (namespace) => {
    const names = await readdir(join(root, namespace)).catch(() => [])
    return names.map((name) => ({ namespace, name }))
  })
  return (await Promise.all(named)).flat()
}

/** One process at a time uses the folder. */
export function createWorkspaceFolders(root: string): WorkspaceFolders {
  const folderOf = ({ namespace, name }: Named) => join(root, namespace, name)
  let count = 0
  let cleared: Promise<void> | undefined

  /** A folder for what is being made or removed; what an earlier process left there goes first. */
  async function makeTemporaryName(): Promise<string> {
    cleared ??= removeTree(join(root, halfway)).then(() => undefined)
    await cleared
    count += 1
    const temporary = join(root, halfway, String(count))
    await mkdir(dirname(temporary), { recursive: true, mode: 0o700 })
    return temporary
  }

  async function read(claim: Named): Promise<FolderNote | undefined> {
    const text = await readFile(join(folderOf(claim), noteName), 'utf8').catch(() => undefined)
    return text === undefined ? undefined : (tryParseJson(text) as FolderNote | undefined)
  }

  return {
    filesOf: (claim) => join(folderOf(claim), 'files'),
    read,
    async make(note) {
      const temporary = await makeTemporaryName()
      const folder = folderOf(note.claim)
      await mkdir(join(temporary, 'files'), { recursive: true, mode: 0o700 })
      await writeNote(temporary, note)
      await mkdir(dirname(folder), { recursive: true, mode: 0o700 })
      try {
        await rename(temporary, folder)
      } catch (error) {
        if (!isThere(error)) throw error
        await removeTree(temporary)
      }
    },
    change: (note) => writeNote(folderOf(note.claim), note),
    async remove(claim) {
      const temporary = await makeTemporaryName()
      try {
        await rename(folderOf(claim), temporary)
      } catch (error) {
        if (hasCode(error, 'ENOENT')) return
        throw error
      }
      await removeTree(temporary)
    },
    async *list() {
      for (const named of await listNames(root)) {
        const note = await read(named)
        if (note !== undefined) yield note
      }
    },
  }
}
