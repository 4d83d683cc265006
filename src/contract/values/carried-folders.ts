// Folders that tools can recreate; they are left out when files are copied to a task, kept from one, or committed.

const passedOver = new Set([
  '.git',
  '.hg',
  '.svn',
  'node_modules',
  'bower_components',
  '.venv',
  'venv',
  '__pycache__',
  '.cache',
  '.npm',
  '.local',
  '.eggs',
  '.nox',
  '.tox',
  '.mypy_cache',
  '.pytest_cache',
  '.ruff_cache',
  '.ipynb_checkpoints',
  '.gradle',
  '.terraform',
  '.next',
  '.nuxt',
  '.svelte-kit',
  '.turbo',
])

/** Names that mean something else as well: only beside one of these files are they made by a build. */
const besideBuilds: Partial<Record<string, readonly string[]>> = {
  target: ['Cargo.toml', 'pom.xml', 'build.sbt', 'project.clj'],
  _build: ['mix.exs', 'dune-project', 'rebar.config'],
}

/** Whether such a folder is left out, at any depth. `hasSibling`: whether a file of the name lies beside it. */
export function isPassedOver(folder: string, hasSibling: (name: string) => boolean): boolean {
  return passedOver.has(folder) || (besideBuilds[folder] ?? []).some(hasSibling)
}

/** The outermost folder of the path that is left out: `api/node_modules` of `api/node_modules/a/b.js`. */
export function findPassedOver(path: string, hasFile: (path: string) => boolean): string | undefined {
  const folders = path.split('/').slice(0, -1)
  const at = folders.findIndex((folder, index) =>
    isPassedOver(folder, (name) => hasFile([...folders.slice(0, index), name].join('/'))),
  )
  return at < 0 ? undefined : folders.slice(0, at + 1).join('/')
}

/** Paths that a repository does not track yet, without what builds left. */
export type NewPaths = {
  paths: string[]
  /** The folders that the others lie in. */
  leftOut: string[]
}

/** Of paths that a repository does not track, those that its builds have not left; a folder of which it tracks anything stays. */
export function keepNewPaths(added: readonly string[], tracked: readonly string[]): NewPaths {
  const files = new Set([...tracked, ...added])
  const hasFile = (path: string) => files.has(path)
  const folderOf = new Map(added.map((path) => [path, findPassedOver(path, hasFile)]))
  const found = new Set([...folderOf.values()].filter((folder) => folder !== undefined))
  const own = new Set(found.size === 0 ? [] : tracked.map((path) => findPassedOver(path, hasFile)))
  const leftOut = new Set([...found].filter((folder) => !own.has(folder)))
  const isKept = (path: string) => !leftOut.has(folderOf.get(path) ?? '')
  return { paths: added.filter(isKept), leftOut: [...leftOut].sort() }
}
