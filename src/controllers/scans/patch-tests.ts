// Tries a patch: the service itself runs the tests of the scan, each time in a fresh workspace.
import { readStructuredResult } from '../../contract/api/tasks/structured-result.ts'
import type { RepositoryScan, ScanTests } from '../../contract/kinds/scans/repository-scan.ts'
import { type Task, TaskSpec } from '../../contract/kinds/tasks/task.ts'
import type { PatchProposal } from '../../ports/scans/findings.ts'
import type { CheckedPatch } from '../../rules/scans/patch-check.ts'
import { nameScanTask } from '../../rules/scans/task-names.ts'
import {
  judgeRounds,
  listTestPaths,
  makeTestCommand,
  type RoundResult,
  readRound,
  type TestRound,
  wordOfRound,
} from '../../rules/scans/test-rounds.ts'
import { networkAnnotation, priorPathsAnnotation } from '../../rules/tasks/task-bounds.ts'
import type { ScanContext } from './context.ts'
import { ensureTask, readOutcome } from './tasks.ts'
import { workspaceOf } from './workspace.ts'

type Trial = { scan: RepositoryScan; tests: ScanTests; patch: PatchProposal; checked: CheckedPatch }

/** Other commands are other rounds. */
function nameRound({ scan, tests, patch }: Trial, round: TestRound): string {
  return nameScanTask(scan.metadata.name, 'test', [patch.id, round, JSON.stringify(tests)].join('\0'))
}

function describeSpec(trial: Trial, round: TestRound): TaskSpec {
  const { scan, tests, patch } = trial
  const { image, timeout } = tests
  const workspace = workspaceOf(scan, patch.baseCommit)
  const command = makeTestCommand(tests, wordOfRound(nameRound(trial, round)))
  const prior = round === 'before' ? {} : { priorTaskRef: { name: patch.taskName } }
  return TaskSpec.parse({
    type: 'container',
    command,
    timeout,
    priority: 750,
    workspace,
    ...(image && { image }),
    ...prior,
  })
}

function boundsOf({ tests, checked }: Trial, round: TestRound): Record<string, string> {
  return {
    ...(tests.network === 'none' && { [networkAnnotation]: 'none' }),
    ...(round === 'without' && { [priorPathsAnnotation]: JSON.stringify(listTestPaths(checked)) }),
  }
}

async function readResult(context: ScanContext, { tests }: Trial, task: Task): Promise<RoundResult | undefined> {
  const outcome = await readOutcome(context, task)
  if (outcome.state === 'active') return undefined
  if (outcome.state === 'failed') return { problem: outcome.why }
  return readRound(tests, wordOfRound(task.metadata.name), readStructuredResult(outcome.text).summary)
}

/** Undefined while it is under way. */
async function takeRound(context: ScanContext, trial: Trial, round: TestRound): Promise<RoundResult | undefined> {
  const { scan, patch } = trial
  const name = nameRound(trial, round)
  const annotations = boundsOf(trial, round)
  const task = { name, stage: 'test', labels: { finding: patch.findingID }, annotations } as const
  return readResult(context, trial, await ensureTask(context, scan, task, async () => describeSpec(trial, round)))
}

type TriedPatch = ReturnType<typeof judgeRounds>

/** Undefined while it is under way. A patch without tests of its own has none to be run alone. */
export async function tryPatch(context: ScanContext, trial: Trial): Promise<TriedPatch | undefined> {
  const before = await takeRound(context, trial, 'before')
  const patched = await takeRound(context, trial, 'with')
  const hasTests = listTestPaths(trial.checked).length > 0
  const alone = hasTests ? await takeRound(context, trial, 'without') : { problem: 'the patch has no tests' }
  if (before === undefined || patched === undefined || alone === undefined) return undefined
  return judgeRounds(trial.checked, { before, with: patched, without: alone })
}
