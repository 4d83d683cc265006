// The test files that take longest, of the report of a run: `SVC_TEST_REPORT=run.json npm test`, then
// `npm run test:slow -- run.json`.
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const root = join(import.meta.dirname, '..')

type Report = { testResults: { name: string; startTime: number; endTime: number; assertionResults: unknown[] }[] }

const most = 20

function listSlowest(path: string): string[] {
  const { testResults } = JSON.parse(readFileSync(path, 'utf8')) as Report
  const files = testResults.map(({ name, startTime, endTime, assertionResults }) => ({
    name: relative(root, name),
    seconds: (endTime - startTime) / 1000,
    tests: assertionResults.length,
  }))
  const all = files.reduce((sum, { seconds }) => sum + seconds, 0)
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, most)
  const lines = slowest.map(
    ({ name, seconds, tests }) => `${seconds.toFixed(1).padStart(8)} s ${String(tests).padStart(5)} tests  ${name}`,
  )
  return [...lines, `${all.toFixed(1).padStart(8)} s in all ${files.length} files`]
}

const reports = process.argv.slice(2)
if (reports.length === 0) {
  console.error('usage: npm run test:slow -- REPORT.json  (made by `SVC_TEST_REPORT=REPORT.json npm test`)')
  process.exitCode = 1
}
for (const path of reports) console.log(listSlowest(path).join('\n'))
