// Files that real scanners wrote, as test/fixtures/scans/scanners/README.md says.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ingestSarif } from '../../../test/fixtures/scans/sarif.ts'
import { makeSourceText } from './finding-evidence.ts'
import { readSarif } from './sarif-import.ts'

const folder = join(import.meta.dirname, '../../../test/fixtures/scans/scanners')
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const sources: Record<string, string> = { 'src/store.py': read('store.py'), 'web/run.js': read('run.js.txt') }

async function take(name: string, root?: string) {
  const found = await ingestSarif({
    text: read(name),
    ...(root !== undefined && { root }),
    paths: Object.keys(sources),
    run: { id: 'r', taskName: 't' },
    known: [],
    readSource: async (path) => (sources[path] === undefined ? undefined : makeSourceText(Buffer.from(sources[path]))),
  })
  if ('fault' in found) throw new Error(found.fault)
  return [...found.byTool].map(([tool, { accepted, dropped }]) => ({
    tool,
    kept: accepted.map(({ filePath, line, category, severity, confidence }) => ({
      place: `${filePath}:${line}`,
      category,
      grade: `${severity}, ${confidence}`,
    })),
    dropped: dropped.map(({ reason }) => reason),
  }))
}

it('takes what semgrep found', async () => {
  expect(await take('semgrep.sarif')).toEqual([
    {
      tool: 'Semgrep OSS',
      kept: [
        { place: 'src/store.py:6', category: 'CWE-89: SQL Injection', grade: 'high, high' },
        { place: 'src/store.py:10', category: 'shell-tainted', grade: 'medium, high' },
      ],
      dropped: [],
    },
  ])
})

it('takes what bandit found', async () => {
  expect(await take('bandit.sarif')).toEqual([
    {
      tool: 'Bandit',
      kept: [
        { place: 'src/store.py:2', category: 'blacklist', grade: 'low, high' },
        { place: 'src/store.py:6', category: 'hardcoded_sql_expressions', grade: 'medium, medium' },
        {
          place: 'src/store.py:10',
          category: 'subprocess_popen_with_shell_equals_true',
          grade: 'high, high',
        },
      ],
      dropped: [],
    },
  ])
})

it.each([undefined, '/home/ada/shop', 'file:///home/ada/shop/', '/home/bob/elsewhere'])(
  'takes what eslint found by absolute addresses, with the root %s',
  async (root) => {
    const [found] = await take('eslint.sarif', root)
    expect(found).toEqual({
      tool: 'ESLint',
      kept: [{ place: 'web/run.js:2', category: 'no-eval', grade: 'high, medium' }],
      dropped: [],
    })
  },
)

it('knows a scanner that failed although it says that it succeeded', () => {
  const states = ['semgrep.sarif', 'semgrep-broken-rule.sarif'].map((name) => {
    const report = readSarif(read(name))
    return 'tools' in report && report.tools[0]?.isComplete
  })
  expect(states).toEqual([true, false])
})
