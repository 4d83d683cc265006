// The test files that take longest, of the report of a run: `SVC_TEST_REPORT=run.json npm test`, then
// `npm run test:slow -- run.json`. With `--keep` their names are kept, and the next runs start with them.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const root = join(import.meta.dirname, '..')

type Report = { testResults: { name: string; startTime: number; endTime: number; assertionResults: unknown[] }[] }

const most = 40

type File = { name: string; seconds: number; tests: number }

/** The slowest first. */
function readFiles(path: string): File[] {
  const { testResults } = JSON.parse(readFileSync(path, 'utf8')) as Report
  const files = testResults.map(({ name, startTime, endTime, assertionResults }) => ({
    name: relative(root, name),
    seconds: (endTime - startTime) / 1000,
    tests: assertionResults.length,
  }))
  return files.toSorted((a, b) => b.seconds - a.seconds)
}

function listSlowest(files: File[]): string[] {
  const all = files.reduce((sum, { seconds }) => sum + seconds, 0)
  const lines = files
    .slice(0, most)
    .map(
      ({ name, seconds, tests }) => `${seconds.toFixed(1).padStart(8)} s ${String(tests).padStart(5)} tests  ${name}`,
    )
  return [...lines, `${all.toFixed(1).padStart(8)} s in all ${files.length} files`]
}

/** What test/longest-first.ts reads. */
const kept = join(root, 'test', 'slowest-files.txt')

function keepSlowest(files: File[]): void {
  const names = files.slice(0, most).map(({ name }) => `${name}\n`)
  writeFileSync(kept, names.join(''))
}

const given = process.argv.slice(2)
const isKept = given.includes('--keep')
const reports = given.filter((word) => word !== '--keep').map(readFiles)
if (reports.length === 0) {
  console.error('usage: npm run test:slow -- [--keep] REPORT.json  (made by `SVC_TEST_REPORT=REPORT.json npm test`)')
  process.exitCode = 1
}
for (const report of reports) console.log(listSlowest(report).join('\n'))
if (isKept && reports[0] !== undefined) keepSlowest(reports[0])
