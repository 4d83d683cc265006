// The tests that failed, of the reports of runs, each with what it said: `npm run test:failed -- run.json`. At the end of a
// long log they are found where people look first.
import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

const root = join(import.meta.dirname, '..')

/** A test of a file, or the file itself when it could not be read. */
type Failure = { name: string; message: string }

type Report = {
  testResults: {
    name: string
    status: string
    message: string
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[]
  }[]
}

const longestMessage = 2000

function findFailures({ testResults }: Report): Failure[] {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name)
    const tests = assertionResults
      .filter((test) => test.status === 'failed')
      .map(({ fullName, failureMessages }) => ({ name: `${file} > ${fullName}`, message: failureMessages.join('\n') }))
    return tests.length > 0 || status !== 'failed' ? tests : [{ name: file, message }]
  })
}

const reports = process.argv.slice(2).filter((path) => existsSync(path))
for (const path of reports) {
  for (const { name, message } of findFailures(JSON.parse(readFileSync(path, 'utf8')) as Report)) {
    console.info(`FAILED ${name}\n${stripVTControlCharacters(message).slice(0, longestMessage)}\n`)
  }
}
