// Compares the requirement ids with the reports of test runs (SVC_TEST_REPORT=FILE npm test): a citation counts only from a
// test that passed. Prints which ids rest on tests that need more than this project; exits 1 when an id rests on nothing.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { pendingIds, readCitations, requiredIds } from '../test/checks/requirement-rows.ts'

/** What of vitest's JSON report counts here. */
export type Report = {
  testResults: { name: string; assertionResults: { fullName: string; status: string }[] }[]
}

/** What tests of a file need besides the packages; the first that matches counts. */
const needs: [RegExp, string][] = [
  [/\/test\/cluster\//, 'a Kubernetes cluster'],
  [/postgres|chat-replicas/, 'PostgreSQL'],
  [/proxy-clients/, 'a client that others wrote'],
  [/\/containers\.test/, 'a container engine'],
]

function findNeed(file: string): string {
  return needs.find(([pattern]) => pattern.test(file))?.[1] ?? ''
}

/** For each id that a passed test cites: what its tests need; an empty text means nothing. */
function listGrounds(reports: readonly Report[]): Map<string, Set<string>> {
  const grounds = new Map<string, Set<string>>()
  for (const { name, assertionResults } of reports.flatMap((report) => report.testResults)) {
    const passed = assertionResults.filter((test) => test.status === 'passed')
    for (const id of passed.flatMap((test) => readCitations(test.fullName))) {
      grounds.set(id, (grounds.get(id) ?? new Set()).add(findNeed(name)))
    }
  }
  return grounds
}

type Verdict = {
  /** Ids that no passed test of the reports cites, and that do not wait either. */
  unproved: string[]
  /** Ids by what each of their passed tests needs; those with a test that needs nothing are left out. */
  resting: Map<string, string[]>
}

export function judgeReports(required: readonly string[], pending: ReadonlySet<string>, reports: Report[]): Verdict {
  const grounds = listGrounds(reports)
  const resting = new Map<string, string[]>()
  for (const id of required) {
    const needed = grounds.get(id)
    if (needed === undefined || needed.has('')) continue
    const need = [...needed].toSorted().join(' or ')
    resting.set(need, [...(resting.get(need) ?? []), id])
  }
  return { unproved: required.filter((id) => !pending.has(id) && !grounds.has(id)), resting }
}

async function main(paths: string[]): Promise<void> {
  if (paths.length === 0) throw new Error('name the reports: npm run requirements -- REPORT.json [REPORT.json …]')
  const reports = await Promise.all(paths.map(async (path) => JSON.parse(await readFile(path, 'utf8')) as Report))
  const { unproved, resting } = judgeReports(requiredIds, new Set(pendingIds.keys()), reports)
  console.log(`${requiredIds.length} requirements, ${pendingIds.size} pending`)
  for (const [need, ids] of resting) console.log(`${ids.length} rest on tests that need ${need}: ${ids.join(' ')}`)
  if (unproved.length === 0) return
  console.error(`${unproved.length} are cited by no test that passed in these runs: ${unproved.join(' ')}`)
  process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2))
