// Validations of findings: a task each, in a working copy of its own.
import { readStructuredResult } from '../../contract/api/tasks/structured-result.ts'
import type { RepositoryScan } from '../../contract/kinds/scans/repository-scan.ts'
import { isSvcError, messageOf } from '../../errors.ts'
import { readPolicies } from '../../lookup/scans.ts'
import type { Finding } from '../../ports/scans/findings.ts'
import type { PageCursor } from '../../ports/scans/scans.ts'
import { validationInstructions, writeValidationPrompt } from '../../rules/scans/prompts.ts'
import { nameScanTask } from '../../rules/scans/task-names.ts'
import {
  chooseForValidation,
  type FindingValidation,
  readValidation,
  skipValidation,
} from '../../rules/scans/validation-answer.ts'
import { type ActiveRun, type ScanContext, ScanRunFailure } from './context.ts'
import { countRunUsage, remainingBudget } from './run-budget.ts'
import { ensureAgentTask, findAgent, readOutcome, workspaceOf, workspaceTools } from './tasks.ts'

const pageSize = 500

/** The findings that the run reported: they changed last, so that the rest need not be read. */
async function listReported({ records }: ScanContext, { scan, run }: ActiveRun): Promise<Finding[]> {
  const reported: Finding[] = []
  let after: PageCursor | undefined
  for (;;) {
    const page = await records.findings.list(scan.metadata.uid, { limit: pageSize, after })
    const own = page.items.filter(({ scanRunID }) => scanRunID === run.id)
    reported.push(...own)
    if (own.length === 0 || page.next === undefined) return reported
    after = page.next
  }
}

/** Marks the findings of the run that its scan has validated without being asked. */
export async function chooseValidations(context: ScanContext, active: ActiveRun): Promise<void> {
  const { scan, run } = active
  const { namespace, name } = scan.metadata
  if (scan.spec.validationMode === 'off') return
  const now = context.clock.now().toISOString()
  for (const { id } of chooseForValidation(await listReported(context, active), scan.spec)) {
    const validationTaskName = nameScanTask(name, 'validation', `${run.id}\0${id}`)
    await context.records.findings.change(namespace, id, (finding) =>
      finding.validationStatus === 'unvalidated'
        ? { ...finding, validationStatus: 'pending', validationTaskName, updatedAt: now }
        : finding,
    )
  }
}

async function validate(
  context: ScanContext,
  scan: RepositoryScan,
  finding: Finding,
): Promise<FindingValidation | undefined> {
  const { validationTaskName } = finding
  if (validationTaskName === undefined) return skipValidation('the validation has no task')
  const { policies } = await readPolicies(context.configMaps, scan.metadata.namespace, scan.spec)
  const task = await ensureAgentTask(context, scan, {
    name: validationTaskName,
    stage: 'validation',
    agent: () => findAgent(context, scan, scan.spec.analysisAgentRef),
    labels: { run: finding.scanRunID, finding: finding.id },
    instructions: validationInstructions,
    prompt: writeValidationPrompt(finding, policies),
    timeout: '90m',
    priority: 725,
    budget: () => remainingBudget(context, scan, finding.scanRunID),
    tools: workspaceTools,
    workspace: workspaceOf(scan, finding.commitSHA),
  })
  const outcome = await readOutcome(context, task)
  if (outcome.state === 'active') return undefined
  if (outcome.state === 'failed') return skipValidation(outcome.why)
  return readValidation(readStructuredResult(outcome.text).summary, finding.id)
}

/** Why something cannot be done at all; others are thrown again. */
export function explainUnfit(error: unknown): string {
  if (error instanceof ScanRunFailure || isSvcError(error, 'InvalidRequest') || isSvcError(error, 'NotFound'))
    return messageOf(error)
  throw error
}

/** Goes on with every validation that was asked for; returns how many are left. */
export async function decideValidations(context: ScanContext, scan: RepositoryScan): Promise<number> {
  const { findings } = context.records
  const { validating } = await findings.listUndecided(scan.metadata.uid)
  let left = 0
  for (const finding of validating) {
    const validation = await validate(context, scan, finding).catch((error) => skipValidation(explainUnfit(error)))
    if (validation === undefined) {
      left += 1
      continue
    }
    await countRunUsage(context, scan, finding.scanRunID)
    const { status: validationStatus, json: validationJSON } = validation
    const updatedAt = context.clock.now().toISOString()
    await findings.change(finding.namespace, finding.id, (one) =>
      one.validationStatus === 'pending' && one.validationTaskName === finding.validationTaskName
        ? { ...one, validationStatus, validationJSON, updatedAt }
        : one,
    )
  }
  return left
}
