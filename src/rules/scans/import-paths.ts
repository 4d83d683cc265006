// Which files of the tree a file imports. Names that lead out of the tree, or to more than one place, lead nowhere.
import type { FileFacts } from './file-facts.ts'
import type { Specifier } from './import-specifiers.ts'
import { isScript } from './languages.ts'
import { baseNameOf, foldersUp, joinTreePath, PathIndex, parentFolderOf } from './tree-paths.ts'

/** `modules`: one with `names` of what is in it, or some without. */
type Statement = { modules: string[]; names: string[] }

const firstWord = (text: string) => text.trim().split(/[ \t]/, 1)[0] ?? ''

/** `a.b`, `.b`, or `a.b import c, d`. */
function readStatement(statement: string): Statement {
  const [head = '', names] = statement.split(/[ \t]import[ \t]+/)
  if (names === undefined) return { modules: head.split(',').map(firstWord), names: [] }
  const words = names.replace(/[()]/g, '').split(',').map(firstWord)
  return { modules: [head.trim()], names: words.filter((name) => /^\w+$/.test(name)) }
}

const within = (folder: string, name: string) =>
  folder === '' || name === '' ? `${folder}${name}` : `${folder}/${name}`

class PythonModules {
  readonly #paths: PathIndex
  /** By folder of the importing file: where a module may begin, the nearest first. */
  readonly #roots = new Map<string, string[]>()

  constructor(paths: PathIndex) {
    this.#paths = paths
  }

  #rootsOf(folder: string): string[] {
    const roots = this.#roots.get(folder) ?? foldersUp(folder).flatMap((up) => [up, up === '' ? 'src' : `${up}/src`])
    this.#roots.set(folder, roots)
    return roots
  }

  /** Files that the statement of a file names. */
  find(from: string, statement: string): string[] {
    const { modules, names } = readStatement(statement)
    return modules.flatMap((module) => {
      const dots = /^\.*/.exec(module)?.[0].length ?? 0
      const folder = parentFolderOf(from)
      const roots = dots > 0 ? foldersUp(folder).slice(dots - 1, dots) : this.#rootsOf(folder)
      return this.#findIn(roots, module.slice(dots).replaceAll('.', '/'), names)
    })
  }

  #findIn(roots: readonly string[], module: string, names: readonly string[]): string[] {
    for (const root of roots) {
      const base = within(root, module)
      const inner = this.#paths.hasFolder(base) ? names.flatMap((name) => this.#findAt(within(base, name))) : []
      const found = [...inner, ...this.#findAt(base)]
      if (found.length > 0) return found
    }
    return []
  }

  #findAt(module: string): string[] {
    const path = this.#paths.firstOf([`${module}.py`, `${module}/__init__.py`])
    return path === undefined ? [] : [path]
  }
}

/** The first that there is. */
const endings = ['ts', 'tsx', 'js', 'jsx', 'mjs', 'cjs', 'mts', 'vue', 'svelte']
const indexEndings = ['ts', 'tsx', 'js', 'jsx', 'mjs']
/** Where the code of a package may begin. */
const entries = ['src', 'src/index', 'lib', 'index']

/** A package of the tree, and what of a name follows its own. */
type FoundPackage = { folder: string; rest: string }

/** Whole, without its ending, with the ending that it is compiled to, or by its folder. */
function findAt(paths: PathIndex, candidate: string | undefined): string | undefined {
  if (candidate === undefined) return undefined
  for (const base of new Set([candidate, candidate.replace(/\.(m|c)?jsx?$/, '')])) {
    if (paths.has(base)) return base
    const index = base === '' ? 'index' : `${base}/index`
    const found = paths.withEnding(base, endings) ?? paths.withEnding(index, indexEndings)
    if (found !== undefined) return found
  }
  return undefined
}

function findFirst(paths: PathIndex, candidates: Iterable<string | undefined>): string | undefined {
  for (const candidate of candidates) {
    const found = findAt(paths, candidate)
    if (found !== undefined) return found
  }
  return undefined
}

/** `findPackage`: of a name that is no path. */
function findScript(
  paths: PathIndex,
  from: string,
  name: string,
  findPackage: (name: string) => FoundPackage | undefined,
): string | undefined {
  if (name.startsWith('.')) return findAt(paths, joinTreePath(parentFolderOf(from), name))
  const known = findPackage(name)
  if (known !== undefined)
    return findFirst(
      paths,
      [known.rest, ...entries].map((entry) => joinTreePath(known.folder, entry)),
    )
  const alias = /^[@~#]\/(.+)$/.exec(name)?.[1]
  if (alias === undefined) return undefined
  const candidates = foldersUp(parentFolderOf(from)).flatMap((folder) =>
    [`src/${alias}`, alias].map((at) => joinTreePath(folder, at)),
  )
  return findFirst(paths, candidates)
}

/** Files of one imported folder (a Go package) that count. */
const maxFilesOfFolder = 8

const otherEndings = ['java', 'kt', 'scala', 'groovy', 'php', 'rb', 'rs', 'h', 'hpp', 'py', 'sh']

type Find = (from: FileFacts, name: string) => readonly (string | undefined)[]

type ImportIndex = {
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
      if (packageName !== undefined && !this.#packages.has(packageName))
        this.#packages.set(packageName, parentFolderOf(path))
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
    const folder = found && joinTreePath(found.folder, found.rest)
    const files = folder === undefined ? [] : this.#paths.inFolder(folder)
    return files.filter((path) => path.endsWith('.go') && !path.endsWith('_test.go')).slice(0, maxFilesOfFolder)
  }

  #findFile({ path }: FileFacts, name: string): string | undefined {
    const folder = parentFolderOf(path)
    const plain = name.replace(/\$[^/]{0,300}\//g, '')
    const inner = `${baseNameOf(path).replace(/\.rs$/, '')}/${name}.rs`
    const near = [name, plain, `${name}.rb`, `${name}.rs`, `${name}/mod.rs`, inner]
    return this.#paths.firstOf(near.map((one) => joinTreePath(folder, one))) ?? this.#paths.bySuffix(plain)
  }

  #findModule({ path, language }: FileFacts, name: string): readonly (string | undefined)[] {
    if (language === 'python') return this.#python.find(path, name)
    if (isScript(language)) return [findScript(this.#paths, path, name, this.#findPackage)]
    const candidate = name.replace(/\\|::|\./g, '/')
    const bases = [candidate, parentFolderOf(candidate)].filter((base) => base !== '')
    return [
      bases.map((base) => this.#paths.bySuffixWithEnding(base, otherEndings)).find((found) => found !== undefined),
    ]
  }
}

/** `files` sorted by path. */
export function createImportIndex(files: readonly FileFacts[]): ImportIndex {
  return new Index(files)
}
