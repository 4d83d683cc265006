// Which files of the tree a file imports. Names that lead out of the tree, or to more than one place, lead nowhere.
import type { FileFacts } from './file-facts.ts'
import { PythonModules } from './import-python.ts'
import { type FoundPackage, findScript } from './import-scripts.ts'
import type { Specifier } from './import-specifiers.ts'
import { isScript } from './languages.ts'
import { PathIndex } from './path-index.ts'
import { folderOf, foldersUp, joinPath, nameOf } from './tree-paths.ts'

/** Files of one imported folder (a Go package) that count. */
const mostOfFolder = 8

const otherEndings = ['java', 'kt', 'scala', 'groovy', 'php', 'rb', 'rs', 'h', 'hpp', 'py', 'sh']

type Find = (from: FileFacts, name: string) => readonly (string | undefined)[]

export type ImportIndex = {
  /** Paths of the tree that the file names, sorted, without itself. */
  resolve(from: FileFacts): string[]
}

class Index implements ImportIndex {
  readonly #paths: PathIndex
  readonly #python: PythonModules
  /** Folder by the name that others import it by; of two, the one that sorts first. */
  readonly #packages = new Map<string, string>()

  constructor(files: readonly FileFacts[]) {
    this.#paths = new PathIndex(files.map(({ path }) => path))
    this.#python = new PythonModules(this.#paths)
    for (const { path, packageName } of files)
      if (packageName !== undefined && !this.#packages.has(packageName)) this.#packages.set(packageName, folderOf(path))
  }

  resolve(from: FileFacts): string[] {
    const found = new Set<string>()
    for (const { kind, name } of from.specifiers)
      for (const path of this.#finders[kind](from, name)) if (path !== undefined && path !== from.path) found.add(path)
    return [...found].sort()
  }

  readonly #finders: Record<Specifier['kind'], Find> = {
    folder: (_from, name) => this.#findFolder(name),
    file: (from, name) => [this.#findFile(from, name)],
    template: (_from, name) => [this.#paths.bySuffix(name)],
    module: (from, name) => this.#findModule(from, name),
  }

  /** A package of the tree that the name is, or lies in, and what of the name follows. */
  #findPackage = (name: string): FoundPackage | undefined => {
    const known = foldersUp(name).find((one) => this.#packages.has(one))
    if (known === undefined) return undefined
    return { folder: this.#packages.get(known) ?? '', rest: name.slice(known.length + 1) }
  }

  #findFolder(name: string): string[] {
    const found = this.#findPackage(name)
    const folder = found && joinPath(found.folder, found.rest)
    const files = folder === undefined ? [] : this.#paths.inFolder(folder)
    return files.filter((path) => path.endsWith('.go') && !path.endsWith('_test.go')).slice(0, mostOfFolder)
  }

  #findFile({ path }: FileFacts, name: string): string | undefined {
    const folder = folderOf(path)
    const plain = name.replace(/\$\{?[^/]*\}?\//g, '')
    const inner = `${nameOf(path).replace(/\.rs$/, '')}/${name}.rs`
    const near = [name, plain, `${name}.rb`, `${name}.rs`, `${name}/mod.rs`, inner]
    return this.#paths.firstOf(near.map((one) => joinPath(folder, one))) ?? this.#paths.bySuffix(plain)
  }

  #findModule({ path, language }: FileFacts, name: string): readonly (string | undefined)[] {
    if (language === 'python') return this.#python.find(path, name)
    if (isScript(language)) return [findScript(this.#paths, path, name, this.#findPackage)]
    const place = name.replace(/\\|::|\./g, '/')
    const bases = [place, folderOf(place)].filter((base) => base !== '')
    return [
      bases.map((base) => this.#paths.bySuffixWithEnding(base, otherEndings)).find((found) => found !== undefined),
    ]
  }
}

/** `files` sorted by path. */
export function createImportIndex(files: readonly FileFacts[]): ImportIndex {
  return new Index(files)
}
