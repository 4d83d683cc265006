// Patches of findings: a task each, in a working copy of its own, whose branch counts only once it was checked and tried.
import { Readable } from 'node:stream'
import type { RepositoryScan } from '../../contract/kinds/scans/repository-scan.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { dropUndefined } from '../../contract/schema/json.ts'
import { contentTypeOf } from '../../contract/values/content-type.ts'
import { messageOf } from '../../errors.ts'
import type { Finding, PatchProposal } from '../../ports/scans/findings.ts'
import { openAgain } from '../../rules/scans/finding-state.ts'
import { type CheckedSummary, checkPatch, listPatchFiles, type PatchFile } from '../../rules/scans/patch-check.ts'
import { askPatch, patchInstructions } from '../../rules/scans/prompts.ts'
import { ensureAgentTask, findAgent } from './agent-tasks.ts'
import type { ScanContext } from './context.ts'
import { tryPatch } from './patch-tests.ts'
import { countUsage, remainingBudget } from './run-budget.ts'
import { readOutcome } from './tasks.ts'
import { explainUnfit } from './validations.ts'
import { workspaceOf, workspaceTools } from './workspace.ts'

type KeptFiles = Pick<PatchProposal, PatchFile['field']>
type Written = CheckedSummary & { tried?: Partial<PatchProposal>; kept?: KeptFiles }

async function writePatch(context: ScanContext, scan: RepositoryScan, patch: PatchProposal, finding: Finding) {
  const { forkRepo, prBaseBranch, patchAgentRef, analysisAgentRef, tests } = scan.spec
  const push = dropUndefined({ forkRepo, prBaseBranch, pushBranch: patch.branch })
  const task = await ensureAgentTask(context, scan, {
    name: patch.taskName,
    stage: 'patch',
    agent: () => findAgent(context, scan, patchAgentRef ?? analysisAgentRef),
    labels: { run: finding.scanRunID, finding: patch.findingID },
    instructions: patchInstructions,
    prompt: askPatch(finding, tests?.commands ?? []),
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
async function keepFiles({ records, log }: ScanContext, task: Task, files: PatchFile[]): Promise<KeptFiles> {
  const kept: KeptFiles = {}
  const key = { taskUid: task.metadata.uid, attempt: task.status?.attempts ?? 0 }
  for (const { field, filename, text } of files) {
    const body = Readable.from([Buffer.from(text)])
    try {
      await records.artifacts.put(key, { filename, contentType: contentTypeOf(filename), body })
      kept[field] = filename
    } catch (error) {
      log.warn({ task: task.metadata.name, filename, error: messageOf(error) }, 'a file of a patch is not kept')
    }
  }
  return kept
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
  await countUsage(context, scan, found.finding.scanRunID)
  if (outcome.state === 'failed') return { problem: outcome.why }
  const verdict = await judgePatch(context, scan, patch, outcome.text)
  if (verdict === undefined) return undefined
  const files = listPatchFiles(outcome.text, patch.findingID)
  return { ...verdict, kept: await keepFiles(context, task, files) }
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
      ? ({ ...verdict.patch, ...verdict.kept, status: 'succeeded' } as const)
      : ({ ...verdict.tried, ...verdict.kept, failure: verdict.problem.slice(0, 4096), status: 'failed' } as const)
    await findings.decidePatch(patch.findingID, patch.id, (one, finding) => ({
      patch: one.status === 'pending' ? { ...one, ...change } : one,
      finding: settle(finding, patch, { isGood, now }),
    }))
  }
  return left
}
