// The layout of the house (ADR 63): the same capabilities at the second level of every layer, and documents that match the tree.
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { listFiles, readSource } from './source-tree.ts'

const capabilities = [
  'agents',
  'budgets',
  'chat',
  'codehost',
  'coordination',
  'identity',
  'memory',
  'monitors',
  'providers',
  'resources',
  'scans',
  'service',
  'tasks',
  'tools',
  'workspaces',
]

/** Layers, with the folders that they have beside the capabilities. */
const layers: Record<string, string[]> = {
  'src/rules': [],
  'src/ports': [],
  'src/usecases': [],
  'src/controllers': ['engine'],
  'src/http/routes': [],
  'src/cli/commands': [],
  'src/contract/api': [],
  'src/contract/kinds': [],
  // Tools by what they do, where that is no capability of the service.
  'src/tools': ['custom', 'registry', 'skills', 'web'],
}

const sources = listFiles('src', ['.ts']).filter((path) => !path.endsWith('.test.ts'))

/** What lies directly in a layer: folders, and files that lie flat. */
function listEntries(layer: string): string[] {
  const below = sources.filter((path) => path.startsWith(`${layer}/`))
  return [...new Set(below.map((path) => path.slice(layer.length + 1).split('/')[0] ?? ''))]
}

describe.each(Object.entries(layers))('%s', (layer, more) => {
  it('has the folders of capabilities, and flat at most its index', () => {
    const known = [...capabilities, ...more, 'index.ts']
    expect(listEntries(layer).filter((entry) => !known.includes(entry))).toEqual([])
  })

  it('names no folder in vain', () => {
    expect(more.filter((folder) => !listEntries(layer).includes(folder))).toEqual([])
  })
})

describe('documents about the house', () => {
  const documents = ['CONTRIBUTING.md', 'README.md', ...listFiles('docs', ['.md']), ...listFiles('dashboard', ['.md'])]
  const tracked = ['src', 'test', 'scripts', 'bench', 'dashboard', 'deploy', 'docs', 'examples', 'bin'].flatMap(
    (folder) => listFiles(folder, ['']),
  )

  const isThere = (name: string) =>
    tracked.some((file) => file === name || file === `${name}.ts` || file.startsWith(`${name}/`))
  // Names of a README begin at its own folder, too; `src/main.py` and the like are files of somebody else's repository.
  const named = documents.flatMap((path) =>
    [...readSource(path).matchAll(/`((?:src|test|scripts|bench|dashboard|deploy)\/[\w./-]+)`/g)]
      .map(([, name = '']) => name.replace(/\/$/, ''))
      .filter((name) => !/\.(py|go|js|txt)$/.test(name))
      .map((name) => ({ path, name })),
  )

  it('name files and folders of the tree that are there', () => {
    const missing = named.filter(({ path, name }) => !isThere(name) && !isThere(join(dirname(path), name)))
    expect(named.length).toBeGreaterThan(50)
    expect(missing.map(({ path, name }) => `${path}: ${name}`)).toEqual([])
  })
})
