// How a patch is tried: the same commands in three workspaces, and what their ends say about it.
import { createHash } from 'node:crypto'
import type { PatchProposal, RanCommand } from '../../contract/api/scans/findings.ts'
import type { ScanTests } from '../../contract/kinds/scans/repository-scan.ts'
import { redactText } from '../../observability/redaction.ts'
import { looksLikeTest } from './file-facts.ts'
import type { CheckedPatch } from './patch-check.ts'

/** At the commit that the patch is made against, with the patch, and with the tests of the patch alone. */
export type TestRound = 'before' | 'with' | 'without'

/** `problem`: the commands have not all been run. */
export type RoundResult = { commands: RanCommand[] } | { problem: string }
export type RoundResults = { before: RoundResult; with: RoundResult; without?: RoundResult }

/** Bytes of each command's output that are kept. */
const maxTailBytes = 1200
const maxTestPaths = 200

/** Tests among the files of a patch: by their names, and the one that its author names. */
export function listTestPaths({ changedFiles = [], regressionTest }: CheckedPatch): string[] {
  return changedFiles.filter((path) => path === regressionTest?.path || looksLikeTest(path)).slice(0, maxTestPaths)
}

/** A word of a round, by which its outcome is found in its output. */
export function wordOfRound(taskName: string): string {
  return createHash('sha256').update(taskName).digest('hex').slice(0, 16)
}

/**
 * Runs every command, whatever came of the ones before, and ends well: the last line reports the outcome. What a command says in
 * between can change only what is shown of its own round.
 */
export function makeTestCommand({ commands }: ScanTests, word: string): string[] {
  const script = `out=$(mktemp) && codes= && at=0 && for command; do sh -c "$command" >"$out" 2>&1 </dev/null; code=$?; printf '\\n%s %s\\n' "$0" "$at"; tail -c ${maxTailBytes} "$out"; codes="$codes $code"; at=$((at + 1)); done; printf '\\n%s ends%s\\n' "$0" "$codes"`
  return ['sh', '-c', script, word, ...commands]
}

export function readRound({ commands }: ScanTests, word: string, output: string): RoundResult {
  const end = new RegExp(`\\n${word} ends((?: \\d+)*)\\s*$`).exec(output)
  const codes = end?.[1]?.trim().split(' ').map(Number) ?? []
  if (end === null || codes.length !== commands.length) return { problem: 'it did not tell how they ended' }
  let rest = output.slice(0, end.index)
  const texts = commands.map((_command, at) => {
    const [, after = ''] = cutAt(rest, `\n${word} ${at}\n`)
    rest = after
    return cutAt(after, `\n${word} ${at + 1}\n`)[0].trim()
  })
  return { commands: commands.map((command, at) => describeEnd(command, codes[at] ?? 1, texts[at] ?? '')) }
}

function describeEnd(command: string, exitCode: number, text: string): RanCommand {
  return { command, exitCode, ...(text !== '' && { output: redactText(text) }) }
}

function cutAt(text: string, mark: string): [before: string, after: string | undefined] {
  const at = text.indexOf(mark)
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + mark.length)]
}

type Tried = Pick<PatchProposal, 'testsBefore' | 'testsRun' | 'regressionTest'>

const commandsOf = (round: RoundResult | undefined) =>
  round !== undefined && 'commands' in round ? round.commands : []

/** Whether some command fails with the tests of the patch alone that passes with the whole of it. */
function failsWithout(without: readonly RanCommand[], patched: readonly RanCommand[]): boolean {
  return without.some(({ exitCode }, at) => exitCode !== 0 && patched[at]?.exitCode === 0)
}

function describeRegression(patch: CheckedPatch, results: RoundResults): PatchProposal['regressionTest'] {
  const path = patch.regressionTest?.path ?? listTestPaths(patch)[0]
  if (path === undefined) return undefined
  return { path, failsWithout: failsWithout(commandsOf(results.without), commandsOf(results.with)) }
}

const times: [keyof RoundResults, string][] = [
  ['before', 'without the patch'],
  ['with', 'with the patch'],
]

function findProblem(results: RoundResults): string | undefined {
  for (const [round, when] of times) {
    const result = results[round]
    if (result !== undefined && 'problem' in result) return `the tests could not be run ${when}: ${result.problem}`
  }
  const at = commandsOf(results.with).findIndex(({ exitCode }) => exitCode !== 0)
  const failed = commandsOf(results.with)[at]
  if (failed === undefined) return undefined
  const problem = `a test fails with the patch: ${failed.command.slice(0, 200)} ended with ${failed.exitCode}`
  const before = commandsOf(results.before)[at]?.exitCode
  return before === 0
    ? problem
    : `${problem}; without the patch it ended with ${before}: repair it, or change spec.tests`
}

/** What is recorded, and the problem of a patch that does not pass. */
export function judgeRounds(patch: CheckedPatch, results: RoundResults): { tried: Tried; problem?: string } {
  const tried = {
    testsBefore: commandsOf(results.before),
    testsRun: commandsOf(results.with),
    regressionTest: describeRegression(patch, results),
  }
  const problem = findProblem(results)
  return problem === undefined ? { tried } : { tried, problem }
}
