// The source tree as data: which files there are and what they import. Shared by the checks of this folder.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

export const root = join(import.meta.dirname, '..', '..')

/** Files of the work tree below `folder` with one of the endings, tracked or new, as paths from the root. */
export function listFiles(folder: string, endings: string[]): string[] {
  const out = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', '--', folder],
    {
      cwd: root,
      encoding: 'utf8',
    },
  )
  const deleted = new Set(
    execFileSync('git', ['ls-files', '--deleted', '--', folder], { cwd: root, encoding: 'utf8' }).split('\n'),
  )
  return out
    .split('\n')
    .filter((path) => path !== '' && !deleted.has(path) && endings.some((ending) => path.endsWith(ending)))
}

export function readSource(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

export type Import = { from: string; to: string; typeOnly: boolean }

const importPattern =
  /(?:^|\n)\s*(import|export)\s+(type\s+)?(?:[^'"`;]*?\sfrom\s+)?['"](\.[^'"]+)['"]|import\(\s*['"](\.[^'"]+)['"]\s*\)/g

/** Relative imports of a file, static and dynamic, resolved to paths from the root. */
export function listImports(path: string): Import[] {
  return [...readSource(path).matchAll(importPattern)].map((match) => ({
    from: path,
    to: relative(root, join(root, dirname(path), match[3] ?? match[4] ?? '')),
    typeOnly: match[2] !== undefined,
  }))
}
