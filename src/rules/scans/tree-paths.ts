// Paths within a tree: relative to its root, with `/`; and an index to find files by the end of their path.

/** The last part of a path. */
export function baseNameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** The folder of a path; empty for the root. */
export function parentFolderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

/** What follows the last dot of the name, in lower case; empty without one. */
export function endingOf(path: string): string {
  const name = baseNameOf(path)
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
    here = parentFolderOf(here)
    found.push(here)
  }
  return found
}

/** What a name means from a folder on; undefined when it leads out of the tree. */
export function joinTreePath(folder: string, name: string): string | undefined {
  const plain = name.startsWith('./') ? name.slice(2) : name
  return normalizePath(folder === '' ? plain : `${folder}/${plain}`)
}

/** A path without its ending. */
const baseOf = (path: string) => {
  const ending = path.lastIndexOf('.')
  return ending > path.lastIndexOf('/') ? path.slice(0, ending) : path
}

function push(map: Map<string, string[]>, key: string, value: string): void {
  const list = map.get(key)
  if (list === undefined) map.set(key, [value])
  else list.push(value)
}

export class PathIndex {
  readonly #paths: ReadonlySet<string>
  readonly #byName = new Map<string, string[]>()
  readonly #byFolder = new Map<string, string[]>()
  readonly #aroundFolders = new Set<string>()
  readonly #byBase = new Map<string, string[]>()
  /** Of files that have this name without its ending. */
  readonly #byBaseName = new Map<string, string[]>()

  /** `paths`: sorted. */
  constructor(paths: readonly string[]) {
    this.#paths = new Set(paths)
    for (const path of paths) {
      const base = baseOf(path)
      push(this.#byName, baseNameOf(path), path)
      push(this.#byFolder, parentFolderOf(path), path)
      push(this.#byBase, base, path)
      push(this.#byBaseName, baseNameOf(base), path)
    }
    for (const folder of this.#byFolder.keys()) this.#aroundFolders.add(parentFolderOf(folder))
  }

  has(path: string): boolean {
    return this.#paths.has(path)
  }

  /** Files of this folder itself, sorted. */
  inFolder(folder: string): readonly string[] {
    return this.#byFolder.get(folder) ?? []
  }

  /** Whether files lie in this folder, or in one of its folders. */
  hasFolder(folder: string): boolean {
    return this.#byFolder.has(folder) || this.#aroundFolders.has(folder)
  }

  firstOf(candidates: readonly (string | undefined)[]): string | undefined {
    return candidates.find((path) => path !== undefined && this.#paths.has(path))
  }

  /** `base` with the first of these endings that there is. */
  withEnding(base: string, endings: readonly string[]): string | undefined {
    const there = this.#byBase.get(base)
    return there && endings.map((ending) => `${base}.${ending}`).find((path) => there.includes(path))
  }

  /** The one file whose path ends so. */
  bySuffix(name: string): string | undefined {
    return onlySuffix(this.#byName.get(baseNameOf(name)), name)
  }

  /** The one file whose path ends so, but for its ending: the first of these. */
  bySuffixWithEnding(base: string, endings: readonly string[]): string | undefined {
    const there = this.#byBaseName.get(baseNameOf(base))
    if (there === undefined) return undefined
    for (const ending of endings) {
      const found = onlySuffix(there, `${base}.${ending}`)
      if (found !== undefined) return found
    }
    return undefined
  }
}

/** More files of one name are not told apart by what stands before it: each file of a tree may name them. */
const maxNamesakes = 1000

function onlySuffix(paths: readonly string[] = [], name: string): string | undefined {
  if (paths.length === 0 || paths.length > maxNamesakes) return undefined
  const wanted = normalizePath(name.replace(/^[./]+/, '')) ?? ''
  const found = paths.filter((path) => path === wanted || path.endsWith(`/${wanted}`))
  return found.length === 1 ? found[0] : undefined
}
