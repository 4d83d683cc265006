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

/** `a/b/../c` as `a/c`; undefined when it leads out of the tree. */
export function normalizePath(path: string): string | undefined {
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
