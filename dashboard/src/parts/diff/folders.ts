// The changed files as a tree of folders.
import type { DiffFile } from './diff.ts'

/** `at`: the number of the file in the diff. */
type FolderEntry = { name: string; at: number; file: DiffFile }
export type Folder = { name: string; folders: Folder[]; files: FolderEntry[] }

/** Deeper folders are shown as one: a path of others may have thousands. */
const maxDepth = 20

function splitPath(path: string): string[] {
  const parts = path.split('/')
  if (parts.length <= maxDepth) return parts
  return [...parts.slice(0, maxDepth - 2), parts.slice(maxDepth - 2, -1).join('/'), parts.at(-1) ?? '']
}

function findFolder(root: Folder, names: readonly string[]): Folder {
  let folder = root
  for (const name of names) {
    let next = folder.folders.find((one) => one.name === name)
    if (next === undefined) {
      next = { name, folders: [], files: [] }
      folder.folders.push(next)
    }
    folder = next
  }
  return folder
}

/** A folder with nothing but one folder in it is one line with it: `src/lib`. */
function join(folder: Folder): Folder {
  const folders = folder.folders.map(join)
  const [only] = folders
  if (folder.files.length > 0 || folders.length !== 1 || only === undefined) return { ...folder, folders }
  return { ...only, name: [folder.name, only.name].filter(Boolean).join('/') }
}

export function buildFolders(files: readonly DiffFile[]): Folder {
  const root: Folder = { name: '', folders: [], files: [] }
  for (const [at, file] of files.entries()) {
    const names = splitPath(file.path)
    findFolder(root, names.slice(0, -1)).files.push({ name: names.at(-1) ?? '', at, file })
  }
  return join(root)
}
