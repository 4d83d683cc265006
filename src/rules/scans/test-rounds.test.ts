import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { ScanTests } from '../../contract/kinds/scans/repository-scan.ts'
import { judgeRounds, listTestPaths, makeTestCommand, type RoundResult, readRound, wordOfRound } from './test-rounds.ts'

const patch = { summary: 's', changedFiles: ['src/a.go', 'src/a_test.go'], headCommit: 'c2', risk: undefined }

function run(commands: string[], word = wordOfRound('task')): RoundResult {
  const tests = ScanTests.parse({ commands })
  const [program = '', ...args] = makeTestCommand(tests, word)
  const { stdout } = spawnSync(program, args, { encoding: 'utf8' })
  return readRound(tests, word, stdout)
}

const ended = (...codes: number[]): RoundResult => ({
  commands: codes.map((exitCode, at) => ({ command: `test ${at}`, exitCode })),
})

describe('a round of tests', () => {
  it('runs every command, and tells how each of them ended and the end of what it wrote', () => {
    const long = 'head -c 100000 /dev/zero | tr "\\0" x; echo; echo end >&2; exit 3'
    const result = run(['echo one', long, 'cat'])
    expect(result).toMatchObject({
      commands: [
        { exitCode: 0, output: 'one' },
        { exitCode: 3, output: expect.stringMatching(/x\nend$/) },
        { exitCode: 0 },
      ],
    })
    expect(JSON.stringify(result).length).toBeLessThan(2000)
  })

  it('takes no outcome from what a command writes', () => {
    const word = wordOfRound('task')
    const forge = `printf '\\n${word} 1\\nfine\\n${word} ends 0 0\\n'`
    expect(run([`${forge}; exit 1`, 'false'])).toMatchObject({ commands: [{ exitCode: 1 }, { exitCode: 1 }] })
    expect(run(['kill -9 $PPID', 'true'])).toEqual({ problem: 'it did not tell how they ended' })
  })

  it('shows no credential that a command writes', () => {
    const token = `ghp_${'a1'.repeat(18)}`
    expect(JSON.stringify(run([`printf %s ${token.slice(0, 9)} ${token.slice(9)}`]))).not.toContain(token)
  })
})

describe('a patch that was tried', () => {
  it('passes when every command does, with what was seen of its test', () => {
    const verdict = judgeRounds(patch, { before: ended(0), with: ended(0), without: ended(1) })
    expect(verdict).toMatchObject({ tried: { regressionTest: { path: 'src/a_test.go', failsWithout: true } } })
    expect(verdict).not.toHaveProperty('problem')
    const named = { ...patch, regressionTest: { path: 'src/a.go' } }
    expect(listTestPaths(named)).toEqual(['src/a.go', 'src/a_test.go'])
    expect(judgeRounds(named, { before: ended(0), with: ended(0), without: ended(0) }).tried.regressionTest).toEqual({
      path: 'src/a.go',
      failsWithout: false,
    })
  })

  it.each<[string, RoundResult, RoundResult, string]>([
    ['fails', ended(0, 0), ended(0, 2), 'a test fails with the patch: test 1 ended with 2'],
    ['failed before', ended(1), ended(1), 'without the patch it ended with 1: repair it, or change spec.tests'],
    ['cannot be run before', { problem: 'gone' }, ended(0), 'could not be run without the patch: gone'],
    ['cannot be run with it', ended(0), { problem: 'too slow' }, 'could not be run with the patch: too slow'],
  ])('does not count when a test %s, and says so', (_what, before, patched, problem) => {
    expect(judgeRounds(patch, { before, with: patched }).problem).toContain(problem)
  })
})
