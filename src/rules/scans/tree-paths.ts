// Paths within a tree: relative to its root, with `/`.

/** The last part of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** The folder of a path; empty for the root. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

/** What follows the last dot of the name, in lower case; empty without one. */
export function endingOf(path: string): string {
  const name = nameOf(path)
  const dot = name.lastIndexOf('.')
  return dot <= 0 ? '' : name.slice(dot + 1).toLowerCase()
}

/** An empty part, `.` or `..`. */
const oddPart = /(?:^|\/)\.{0,2}(?:\/|$)/

/** `a/b/../c` as `a/c`; undefined when it leads out of the tree. */
export function normalizePath(path: string): string | undefined {
  if (!oddPart.test(path)) return path
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return undefined
  }
  return parts.join('/')
}

/** The folder and those around it, the nearest first. */
export function foldersUp(folder: string): string[] {
  const found = [folder]
  for (let here = folder; here !== ''; ) {
    here = folderOf(here)
    found.push(here)
  }
  return found
}

/** What a name means from a folder on; undefined when it leads out of the tree. */
export function joinPath(folder: string, name: string): string | undefined {
  const plain = name.startsWith('./') ? name.slice(2) : name
  return normalizePath(folder === '' ? plain : `${folder}/${plain}`)
}
