// Files of JavaScript and TypeScript as imports name them.
import type { PathIndex } from './path-index.ts'
import { folderOf, foldersUp, joinPath } from './tree-paths.ts'

/** The first that there is. */
const endings = ['ts', 'tsx', 'js', 'jsx', 'mjs', 'cjs', 'mts', 'vue', 'svelte']
const indexEndings = ['ts', 'tsx', 'js', 'jsx', 'mjs']
/** Where the code of a package may begin. */
const entries = ['src', 'src/index', 'lib', 'index']

/** A package of the tree, and what of a name follows its own. */
export type FoundPackage = { folder: string; rest: string }

/** Whole, without its ending, with the ending that it is compiled to, or by its folder. */
function findAt(paths: PathIndex, place: string | undefined): string | undefined {
  if (place === undefined) return undefined
  for (const base of new Set([place, place.replace(/\.(m|c)?jsx?$/, '')])) {
    if (paths.has(base)) return base
    const index = base === '' ? 'index' : `${base}/index`
    const found = paths.withEnding(base, endings) ?? paths.withEnding(index, indexEndings)
    if (found !== undefined) return found
  }
  return undefined
}

function findFirst(paths: PathIndex, places: Iterable<string | undefined>): string | undefined {
  for (const place of places) {
    const found = findAt(paths, place)
    if (found !== undefined) return found
  }
  return undefined
}

/** `findPackage`: of a name that is no path. */
export function findScript(
  paths: PathIndex,
  from: string,
  name: string,
  findPackage: (name: string) => FoundPackage | undefined,
): string | undefined {
  if (name.startsWith('.')) return findAt(paths, joinPath(folderOf(from), name))
  const known = findPackage(name)
  if (known !== undefined)
    return findFirst(
      paths,
      [known.rest, ...entries].map((entry) => joinPath(known.folder, entry)),
    )
  const alias = /^[@~#]\/(.+)$/.exec(name)?.[1]
  if (alias === undefined) return undefined
  const places = foldersUp(folderOf(from)).flatMap((folder) =>
    [`src/${alias}`, alias].map((at) => joinPath(folder, at)),
  )
  return findFirst(paths, places)
}
