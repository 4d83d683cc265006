// Patches of findings: a task each, in a working copy of its own, whose branch counts only once it was checked.

import { dropUndefined } from '../../contract/json.ts'
import type { RepositoryScan } from '../../contract/resources/repository-scan.ts'
import type { Finding, PatchProposal } from '../../ports/findings.ts'
import { openAgain } from '../../rules/scans/finding-state.ts'
import { checkPatch, type PatchVerdict } from '../../rules/scans/patch-check.ts'
import { askPatch, patchInstructions } from '../../rules/scans/prompts.ts'
import type { ScanContext } from './context.ts'
import { ensureTask, findAgent, readOutcome } from './tasks.ts'
import { explainUnfit, workspaceOf, workspaceTools } from './validations.ts'

async function write(
  context: ScanContext,
  scan: RepositoryScan,
  patch: PatchProposal,
): Promise<PatchVerdict | undefined> {
  const kept = await context.records.findings.get(patch.namespace, patch.findingID)
  if (kept === undefined) return { problem: 'its finding is gone' }
  const { forkRepo, prBaseBranch, patchAgentRef, analysisAgentRef } = scan.spec
  const push = dropUndefined({ forkRepo, prBaseBranch, pushBranch: patch.branch })
  const task = await ensureTask(context, scan, {
    name: patch.taskName,
    stage: 'patch',
    agent: await findAgent(context, scan, patchAgentRef ?? analysisAgentRef),
    labels: { finding: patch.findingID },
    instructions: patchInstructions,
    prompt: askPatch(kept.finding),
    timeout: '2h',
    priority: 750,
    tools: workspaceTools,
    workspace: { ...workspaceOf(scan, patch.baseCommit), ...push },
  })
  const outcome = await readOutcome(context, task)
  if (outcome.state === 'active') return undefined
  if (outcome.state === 'failed') return { problem: outcome.why }
  return checkPatch(outcome.text, { findingId: patch.findingID, branch: patch.branch })
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
    const verdict = await write(context, scan, patch).catch((error) => ({ problem: explainUnfit(error) }))
    if (verdict === undefined) {
      left += 1
      continue
    }
    const now = context.clock.now().toISOString()
    const isGood = 'patch' in verdict
    const change = isGood
      ? ({ ...verdict.patch, status: 'succeeded' } as const)
      : ({ failure: verdict.problem.slice(0, 4096), status: 'failed' } as const)
    await findings.decidePatch(patch.findingID, patch.id, (one, finding) => ({
      patch: one.status === 'pending' ? { ...one, ...change } : one,
      finding: settle(finding, patch, { isGood, now }),
    }))
  }
  return left
}
