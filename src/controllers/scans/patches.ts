// Patches of findings: a task each, in a working copy of its own, whose branch counts only once it was checked and tried.
import { Readable } from 'node:stream'
import { readStructuredResult } from '../../contract/api/tasks/structured-result.ts'
import type { RepositoryScan, ScanTests } from '../../contract/kinds/scans/repository-scan.ts'
import { type Task, TaskSpec } from '../../contract/kinds/tasks/task.ts'
import { contentTypeOf } from '../../contract/values/content-type.ts'
import { messageOf } from '../../errors.ts'
import { dropUndefined } from '../../lib/json.ts'
import type { Finding, PatchProposal } from '../../ports/scans/findings.ts'
import { openAgain } from '../../rules/scans/finding-state.ts'
import {
  type CheckedPatch,
  type CheckedSummary,
  checkPatch,
  listPatchFiles,
  type PatchFile,
} from '../../rules/scans/patch-check.ts'
import { patchInstructions, writePatchPrompt } from '../../rules/scans/prompts.ts'
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
import { networkAnnotation, priorPathsAnnotation } from '../../rules/tasks/bounds.ts'
import type { ScanContext } from './context.ts'
import { countRunUsage, remainingBudget } from './run-budget.ts'
import { ensureAgentTask, ensureTask, findAgent, readOutcome, workspaceOf, workspaceTools } from './tasks.ts'
import { explainUnfit } from './validations.ts'

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
  return readResult(
    context,
    trial,
    await ensureTask(context, scan, task, async () => ({ spec: describeSpec(trial, round) })),
  )
}

type TriedPatch = ReturnType<typeof judgeRounds>

/** Undefined while it is under way. A patch without tests of its own has none to be run alone. */
async function tryPatch(context: ScanContext, trial: Trial): Promise<TriedPatch | undefined> {
  const before = await takeRound(context, trial, 'before')
  const patched = await takeRound(context, trial, 'with')
  const hasTests = listTestPaths(trial.checked).length > 0
  const alone = hasTests ? await takeRound(context, trial, 'without') : { problem: 'the patch has no tests' }
  if (before === undefined || patched === undefined || alone === undefined) return undefined
  return judgeRounds(trial.checked, { before, with: patched, without: alone })
}

type StoredFiles = Pick<PatchProposal, PatchFile['field']>
type Written = CheckedSummary & { tried?: Partial<PatchProposal>; stored?: StoredFiles }

async function writePatch(context: ScanContext, scan: RepositoryScan, patch: PatchProposal, finding: Finding) {
  const { forkRepo, prBaseBranch, patchAgentRef, analysisAgentRef, tests } = scan.spec
  const push = dropUndefined({ forkRepo, prBaseBranch, pushBranch: patch.branch })
  const task = await ensureAgentTask(context, scan, {
    name: patch.taskName,
    stage: 'patch',
    agent: () => findAgent(context, scan, patchAgentRef ?? analysisAgentRef),
    labels: { run: finding.scanRunID, finding: patch.findingID },
    instructions: patchInstructions,
    prompt: writePatchPrompt(finding, tests?.commands ?? []),
    timeout: '2h',
    priority: 750,
    budget: () => remainingBudget(context, scan, finding.scanRunID),
    tools: workspaceTools,
    workspace: { ...workspaceOf(scan, patch.baseCommit), ...push },
  })
  return { task, outcome: await readOutcome(context, task) }
}

/** What the text of the task comes to; undefined while its tests are under way. */
async function judgePatch(
  context: ScanContext,
  scan: RepositoryScan,
  patch: PatchProposal,
  text: string,
): Promise<Written | undefined> {
  const { tests } = scan.spec
  const isTried = tests !== undefined
  const checked = checkPatch(text, { findingId: patch.findingID, branch: patch.branch, isTried })
  if ('problem' in checked || tests === undefined) return checked
  const verdict = await tryPatch(context, { scan, tests, patch, checked: checked.patch })
  if (verdict === undefined) return undefined
  const { tried, problem } = verdict
  return problem === undefined ? { patch: { ...checked.patch, ...tried } } : { problem, tried }
}

/** Keeps the change and what was said of it beside the task, and says under which names; a patch counts without them. */
async function storeFiles({ records, log }: ScanContext, task: Task, files: PatchFile[]): Promise<StoredFiles> {
  const stored: StoredFiles = {}
  const key = { taskUid: task.metadata.uid, attempt: task.status?.attempts ?? 0 }
  for (const { field, filename, text } of files) {
    const body = Readable.from([Buffer.from(text)])
    try {
      await records.artifacts.put(key, { filename, contentType: contentTypeOf(filename), body })
      stored[field] = filename
    } catch (error) {
      log.warn({ task: task.metadata.name, filename, error: messageOf(error) }, 'a file of a patch is not stored')
    }
  }
  return stored
}

/** The patch once it is written and tried; undefined while that is under way. */
async function takePatch(
  context: ScanContext,
  scan: RepositoryScan,
  patch: PatchProposal,
): Promise<Written | undefined> {
  const found = await context.records.findings.get(patch.namespace, patch.findingID)
  if (found === undefined) return { problem: 'its finding is gone' }
  const { task, outcome } = await writePatch(context, scan, patch, found.finding)
  if (outcome.state === 'active') return undefined
  await countRunUsage(context, scan, found.finding.scanRunID)
  if (outcome.state === 'failed') return { problem: outcome.why }
  const verdict = await judgePatch(context, scan, patch, outcome.text)
  if (verdict === undefined) return undefined
  const files = listPatchFiles(outcome.text, patch.findingID)
  return { ...verdict, stored: await storeFiles(context, task, files) }
}

/** A finding that was decided otherwise meanwhile stays as it is. */
function settle(finding: Finding, patch: PatchProposal, { isGood, now }: { isGood: boolean; now: string }): Finding {
  if (finding.state !== 'patch_pending' || finding.patchProposalID !== patch.id) return finding
  return isGood ? { ...finding, state: 'patch_ready', updatedAt: now } : openAgain(finding, now, 'its patch failed')
}

/** Goes on with every patch that was asked for; returns how many are left. */
export async function decidePatches(context: ScanContext, scan: RepositoryScan): Promise<number> {
  const { findings } = context.records
  const { patches } = await findings.listUndecided(scan.metadata.uid)
  let left = 0
  for (const patch of patches) {
    const verdict = await takePatch(context, scan, patch).catch((error): Written => ({ problem: explainUnfit(error) }))
    if (verdict === undefined) {
      left += 1
      continue
    }
    const now = context.clock.now().toISOString()
    const isGood = 'patch' in verdict
    const change = isGood
      ? ({ ...verdict.patch, ...verdict.stored, status: 'succeeded' } as const)
      : ({ ...verdict.tried, ...verdict.stored, failure: verdict.problem.slice(0, 4096), status: 'failed' } as const)
    await findings.decidePatch(patch.findingID, patch.id, (one, finding) => ({
      patch: one.status === 'pending' ? { ...one, ...change } : one,
      finding: settle(finding, patch, { isGood, now }),
    }))
  }
  return left
}
