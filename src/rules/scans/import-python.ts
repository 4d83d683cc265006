// Modules of Python as import statements name them: from the folder of the file, or from any folder around it.
import type { PathIndex } from './path-index.ts'
import { folderOf, foldersUp } from './tree-paths.ts'

/** `modules`: one with `names` of what is in it, or some without. */
type Statement = { modules: string[]; names: string[] }

const firstWord = (text: string) => text.trim().split(/[ \t]/, 1)[0] ?? ''

/** `a.b`, `.b`, or `a.b import c, d`. */
function readStatement(statement: string): Statement {
  const [head = '', names] = statement.split(/[ \t]+import[ \t]+/)
  if (names === undefined) return { modules: head.split(',').map(firstWord), names: [] }
  const words = names.replace(/[()]/g, '').split(',').map(firstWord)
  return { modules: [head.trim()], names: words.filter((name) => /^\w+$/.test(name)) }
}

const within = (folder: string, name: string) =>
  folder === '' || name === '' ? `${folder}${name}` : `${folder}/${name}`

export class PythonModules {
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
      const folder = folderOf(from)
      const roots = dots > 0 ? foldersUp(folder).slice(dots - 1, dots) : this.#rootsOf(folder)
      return this.#findIn(roots, module.slice(dots).replaceAll('.', '/'), names)
    })
  }

  #findIn(roots: readonly string[], module: string, names: readonly string[]): string[] {
    for (const root of roots) {
      const base = within(root, module)
      const inner = this.#paths.holds(base) ? names.flatMap((name) => this.#findAt(within(base, name))) : []
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
