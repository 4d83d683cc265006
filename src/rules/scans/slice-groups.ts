// Which files are reviewed together: every file belongs to exactly one group.
import type { sliceKinds, sliceSources } from '../../contract/api/scans/runs.ts'
import type { Confidence } from '../../contract/kinds/scans/repository-scan.ts'
import type { FileFacts } from './file-facts.ts'
import { isScript, type Language, titleOf } from './languages.ts'
import { baseNameOf, parentFolderOf } from './tree-paths.ts'

export type SliceSource = (typeof sliceSources)[number]
export type SliceKind = (typeof sliceKinds)[number]

/** What is the same in all slices of a source. */
export type GroupShape = { source: SliceSource; kind: SliceKind; confidence: Confidence }

export type FileGroup = GroupShape & {
  title: string
  /** The folder of its package.json. */
  packageFolder?: string
  /** The command that runs its tests, where the language has one. */
  testCommand?: string
  /** Sorted by path. */
  files: FileFacts[]
}

/** The nearest folder with a package.json, of this folder and those around it. */
type Packages = (folder: string) => string | undefined

type Rule = (file: FileFacts, packages: Packages) => Omit<FileGroup, 'files'> | undefined

const show = (folder: string) => (folder === '' ? '.' : folder)

/** Looks at each folder once. */
function findPackages(files: readonly FileFacts[]): Packages {
  const own = files.filter(({ path }) => baseNameOf(path) === 'package.json').map(({ path }) => parentFolderOf(path))
  const around = new Map<string, string | undefined>(own.map((folder) => [folder, folder]))
  return function find(folder): string | undefined {
    if (around.has(folder)) return around.get(folder)
    const found = folder === '' ? undefined : find(parentFolderOf(folder))
    around.set(folder, found)
    return found
  }
}

const workflow: Rule = ({ role }) =>
  role === 'workflow'
    ? { source: 'deterministic-workflows', kind: 'workflow', confidence: 'high', title: 'CI workflows' }
    : undefined

const config: Rule = ({ path, role }) => {
  const [top = ''] = parentFolderOf(path).split('/')
  const shape = { source: 'deterministic-config', kind: 'config', confidence: 'medium' } as const
  return role === 'config' ? { ...shape, title: `Configuration ${show(top)}` } : undefined
}

const shell: Rule = ({ path, language }) => {
  const shape = { source: 'deterministic-scripts', kind: 'service', confidence: 'medium' } as const
  return language === 'shell' ? { ...shape, title: `Scripts ${show(parentFolderOf(path))}` } : undefined
}

const goPackage: Rule = ({ path, language }) => {
  if (language !== 'go') return undefined
  const folder = parentFolderOf(path)
  const shape = { source: 'deterministic-go-package', kind: 'package', confidence: 'high' } as const
  return { ...shape, title: `Go package ${show(folder)}`, testCommand: `go test ./${folder}` }
}

/** `app/` and `pages/` of a package hold what it answers. */
const nodeRoutes: Rule = ({ path, language }, packages) => {
  if (!isScript(language)) return undefined
  const root = packages(parentFolderOf(path)) ?? ''
  const inner = root === '' ? path : path.slice(root.length + 1)
  const found = /^(?:src\/)?(app|pages)\//.exec(inner)?.[1]
  const shape = { source: 'deterministic-node-routes', kind: 'route', confidence: 'medium' } as const
  return found === undefined
    ? undefined
    : { ...shape, title: `Node routes ${show(root)} ${found}`, packageFolder: root }
}

const nodePackage: Rule = ({ path, language }, packages) => {
  const root = isScript(language) ? packages(parentFolderOf(path)) : undefined
  if (root === undefined) return undefined
  const kind = /(^|\/)(apps|services)\//.test(`${root}/`) ? 'service' : 'library'
  const shape = { source: 'deterministic-node-package', kind, confidence: 'medium' } as const
  return { ...shape, title: `Node package ${show(root)}`, packageFolder: root }
}

const pythonPackage: Rule = ({ path, language }) => {
  if (language !== 'python') return undefined
  const folder = show(parentFolderOf(path))
  const shape = { source: 'deterministic-python-package', kind: 'service', confidence: 'medium' } as const
  return { ...shape, title: `Python package ${folder}`, testCommand: 'python -m pytest' }
}

const loose: readonly Language[] = ['sql', 'schema', 'powershell', 'settings', 'javascript', 'typescript', 'tsx']

const sourcePackage: Rule = ({ path, language }) => {
  if (loose.includes(language)) return undefined
  const shape = { source: 'deterministic-source-package', kind: 'package', confidence: 'medium' } as const
  return { ...shape, title: `${titleOf(language)} files ${show(parentFolderOf(path))}` }
}

const genericFolder: Rule = ({ path }) => {
  const [top = ''] = parentFolderOf(path).split('/')
  const shape = { source: 'deterministic-generic-directory', kind: 'unknown', confidence: 'low' } as const
  return { ...shape, title: `Directory ${show(top)}` }
}

/** The first that applies owns the file. */
const groupRules: Rule[] = [
  workflow,
  config,
  shell,
  goPackage,
  nodeRoutes,
  nodePackage,
  pythonPackage,
  sourcePackage,
  genericFolder,
]

/** `files` sorted by path; so are the groups, by source and title. */
export function groupFiles(files: readonly FileFacts[]): FileGroup[] {
  const packages = findPackages(files)
  const groups = new Map<string, FileGroup>()
  for (const file of files) {
    for (const rule of groupRules) {
      const group = rule(file, packages)
      if (group === undefined) continue
      const key = `${group.source}|${group.title}`
      const known = groups.get(key)
      if (known === undefined) groups.set(key, { ...group, files: [file] })
      else known.files.push(file)
      break
    }
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group)
}
