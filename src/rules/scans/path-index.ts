// The paths of a tree, found by the ways in which files name each other.
import { folderOf, nameOf, normalizePath } from './tree-paths.ts'

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
      push(this.#byName, nameOf(path), path)
      push(this.#byFolder, folderOf(path), path)
      push(this.#byBase, base, path)
      push(this.#byBaseName, nameOf(base), path)
    }
    for (const folder of this.#byFolder.keys()) this.#aroundFolders.add(folderOf(folder))
  }

  has(path: string): boolean {
    return this.#paths.has(path)
  }

  /** Files of this folder itself, sorted. */
  inFolder(folder: string): readonly string[] {
    return this.#byFolder.get(folder) ?? []
  }

  /** Whether files lie in this folder, or in one of its folders. */
  holds(folder: string): boolean {
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
    return onlySuffix(this.#byName.get(nameOf(name)), name)
  }

  /** The one file whose path ends so, but for its ending: the first of these. */
  bySuffixWithEnding(base: string, endings: readonly string[]): string | undefined {
    const there = this.#byBaseName.get(nameOf(base))
    if (there === undefined) return undefined
    for (const ending of endings) {
      const found = onlySuffix(there, `${base}.${ending}`)
      if (found !== undefined) return found
    }
    return undefined
  }
}

/** More files of one name are not told apart by what stands before it: each file of a tree may name them. */
const mostNamesakes = 1000

function onlySuffix(paths: readonly string[] = [], name: string): string | undefined {
  if (paths.length === 0 || paths.length > mostNamesakes) return undefined
  const wanted = normalizePath(name.replace(/^[./]+/, '')) ?? ''
  const found = paths.filter((path) => path === wanted || path.endsWith(`/${wanted}`))
  return found.length === 1 ? found[0] : undefined
}
