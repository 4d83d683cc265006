// Which files of the tree a file imports. Names that lead out of the tree, or to more than one place, lead nowhere.
import type { FileFacts } from './file-facts.ts'
import type { Specifier } from './import-specifiers.ts'
import { folderOf, foldersUp, nameOf, normalizePath } from './tree-paths.ts'

/** Files of one imported folder (a Go package, a Java package) that count. */
const mostOfFolder = 8

const scriptEndings = ['', '.ts', '.tsx', '.js', '.jsx', '.mjs', '.cjs', '.mts', '.vue', '.svelte']
const indexNames = ['/index.ts', '/index.tsx', '/index.js', '/index.jsx', '/index.mjs']
const otherEndings = ['.java', '.kt', '.scala', '.groovy', '.php', '.rb', '.rs', '.h', '.hpp', '.py', '.sh']

type Find = (from: FileFacts, name: string) => string[]

const join = (folder: string, name: string) => normalizePath(folder === '' ? name : `${folder}/${name}`)

export type ImportIndex = {
  /** Paths of the tree that the file names, sorted, without itself. */
  resolve(from: FileFacts): string[]
}

class Index implements ImportIndex {
  readonly #paths: Set<string>
  readonly #byName = new Map<string, string[]>()
  readonly #byFolder = new Map<string, string[]>()
  /** Folder by the name that others import it by; of two, the one that sorts first. */
  readonly #packages = new Map<string, string>()

  constructor(files: readonly FileFacts[]) {
    this.#paths = new Set(files.map((file) => file.path))
    for (const { path, packageName } of files) {
      push(this.#byName, nameOf(path), path)
      push(this.#byFolder, folderOf(path), path)
      if (packageName !== undefined && !this.#packages.has(packageName)) this.#packages.set(packageName, folderOf(path))
    }
  }

  resolve(from: FileFacts): string[] {
    const found = new Set<string>()
    for (const { kind, name } of from.specifiers)
      for (const path of this.#finders[kind](from, name)) if (path !== from.path) found.add(path)
    return [...found].sort()
  }

  readonly #finders: Record<Specifier['kind'], Find> = {
    folder: (_from, name) => this.#findFolder(name),
    file: (from, name) => this.#findFile(from, name),
    template: (_from, name) => this.#bySuffix(name),
    module: (from, name) => this.#findModule(from, name),
  }

  #existing(candidates: (string | undefined)[]): string[] {
    const path = candidates.find((one) => one !== undefined && this.#paths.has(one))
    return path === undefined ? [] : [path]
  }

  /** The one file whose path ends so. */
  #bySuffix(name: string): string[] {
    const wanted = normalizePath(name.replace(/^[./]+/, '')) ?? ''
    const found = (this.#byName.get(nameOf(wanted)) ?? []).filter(
      (path) => path === wanted || path.endsWith(`/${wanted}`),
    )
    return found.length === 1 ? found : []
  }

  /** A package of the tree that the name is, or lies in, and what of the name follows. */
  #findPackage(name: string): { folder: string; rest: string } | undefined {
    const known = foldersUp(name).find((one) => this.#packages.has(one))
    if (known === undefined) return undefined
    return { folder: this.#packages.get(known) ?? '', rest: name.slice(known.length + 1) }
  }

  #findFolder(name: string): string[] {
    const found = this.#findPackage(name)
    const folder = found && join(found.folder, found.rest)
    const files = folder === undefined ? [] : (this.#byFolder.get(folder) ?? [])
    return files.filter((path) => path.endsWith('.go') && !path.endsWith('_test.go')).slice(0, mostOfFolder)
  }

  #findFile({ path }: FileFacts, name: string): string[] {
    const folder = folderOf(path)
    const plain = name.replace(/\$\{?[^/]*\}?\//g, '')
    const near = [
      name,
      plain,
      `${name}.rb`,
      `${name}.rs`,
      `${name}/mod.rs`,
      `${nameOf(path).replace(/\.rs$/, '')}/${name}.rs`,
    ]
    const found = this.#existing(near.map((one) => join(folder, one)))
    return found.length > 0 ? found : this.#bySuffix(plain)
  }

  #findModule(from: FileFacts, name: string): string[] {
    if (from.language === 'python') return this.#findPython(from, name)
    if (['javascript', 'typescript', 'tsx'].includes(from.language)) return this.#findScript(from, name)
    const path = name.replace(/\\|::|\./g, '/')
    const found = [path, folderOf(path)].flatMap((one) =>
      one === '' ? [] : otherEndings.flatMap((ending) => this.#bySuffix(`${one}${ending}`)),
    )
    return found.slice(0, 1)
  }

  #findScript({ path }: FileFacts, name: string): string[] {
    const within = (folder: string | undefined): string[] => {
      if (folder === undefined) return []
      const bare = folder.replace(/\.(m|c)?jsx?$/, '')
      const bases = bare === folder ? [folder] : [folder, bare]
      return this.#existing(bases.flatMap((base) => [...scriptEndings, ...indexNames].map((end) => `${base}${end}`)))
    }
    if (name.startsWith('.')) return within(join(folderOf(path), name))
    const known = this.#findPackage(name)
    if (known)
      return [known.rest, 'src', 'src/index', 'lib', 'index']
        .flatMap((rest) => within(join(known.folder, rest)))
        .slice(0, 1)
    const alias = /^[@~#]\/(.+)$/.exec(name)?.[1]
    if (alias === undefined) return []
    return foldersUp(folderOf(path))
      .flatMap((folder) => [...within(join(folder, `src/${alias}`)), ...within(join(folder, alias))])
      .slice(0, 1)
  }

  /** `a.b`, `.b`, or `a.b import c, d` (Python's import statements). */
  #findPython({ path }: FileFacts, statement: string): string[] {
    const [head = '', names] = statement.split(/[ \t]+import[ \t]+/)
    const modules =
      names === undefined ? head.split(',').map((one) => one.trim().split(/[ \t]/)[0] ?? '') : [head.trim()]
    const within = (names ?? '')
      .replace(/[()]/g, '')
      .split(',')
      .map((one) => one.trim().split(/[ \t]/)[0] ?? '')
    return modules.flatMap((module) => {
      const dots = /^\.*/.exec(module)?.[0].length ?? 0
      const rest = module.slice(dots).replaceAll('.', '/')
      const up = foldersUp(folderOf(path))
      const roots =
        dots > 0 ? up.slice(dots - 1, dots) : up.flatMap((root) => [root, root === '' ? 'src' : `${root}/src`])
      return this.#findInRoots(
        roots,
        rest,
        within.filter((name) => /^\w+$/.test(name)),
      )
    })
  }

  #findInRoots(roots: string[], module: string, names: string[]): string[] {
    for (const root of roots) {
      const base = [root, module].filter((part) => part !== '').join('/')
      const inner = names.flatMap((name) => this.#existing([`${base}/${name}.py`, `${base}/${name}/__init__.py`]))
      const found = [...inner, ...this.#existing([`${base}.py`, `${base}/__init__.py`])]
      if (found.length > 0) return found
    }
    return []
  }
}

function push(map: Map<string, string[]>, key: string, value: string): void {
  const list = map.get(key)
  if (list === undefined) map.set(key, [value])
  else list.push(value)
}

/** `files` sorted by path. */
export function createImportIndex(files: readonly FileFacts[]): ImportIndex {
  return new Index(files)
}
