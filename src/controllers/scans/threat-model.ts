// The threat model of a run, and the slices that are cut after it.
import type { SliceDraft, SliceStatus } from '../../contract/api/scans/runs.ts'
import { redactText } from '../../observability/redaction.ts'
import type { ReviewSlice } from '../../ports/scans/scans.ts'
import type { SourceTree } from '../../ports/scans/source-trees.ts'
import { threatModelInstructions, writeThreatModelPrompt } from '../../rules/scans/prompts.ts'
import { selectSlices } from '../../rules/scans/slice-selection.ts'
import { nameScanTask } from '../../rules/scans/task-names.ts'
import { type ActiveRun, changeRun, type ScanContext, ScanRunFailure, scanKeyOf } from './context.ts'
import { remainingBudget } from './run-budget.ts'
import { ensureAgentTask, findAgent, readOutcome } from './tasks.ts'
import { cutTree, readFiles } from './trees.ts'

const maxPaths = 500
const maxReadmeBytes = 16_384
const maxModelLength = 262_144

async function describeTree(tree: SourceTree, signal: AbortSignal) {
  const entries = await tree.list(signal)
  const files = entries.filter(({ kind }) => kind === 'file').map(({ path }) => path)
  const readme = files.find((path) => /^readme(\.[a-z]+)?$/i.test(path))
  const contents = readme === undefined ? undefined : await readFiles(tree, [readme], signal)
  const text =
    contents
      ?.get(readme ?? '')
      ?.subarray(0, maxReadmeBytes)
      .toString('utf8') ?? ''
  return { files: files.sort().slice(0, maxPaths), readme: text }
}

/** An edited model stays, and an incremental or repeated run has one already. */
async function needsModel({ records }: ScanContext, { scan, run }: ActiveRun): Promise<boolean> {
  const model = await records.scans.getThreatModel(scan.metadata.uid)
  if (model === undefined) return true
  if (run.mode === 'incremental' || run.retryOf !== undefined) return false
  return model.source === 'generated' && model.generatedByScan !== run.id
}

/** The text of the model; undefined while its task works. */
async function generate(context: ScanContext, active: ActiveRun, tree: SourceTree): Promise<string | undefined> {
  const { scan, run, policies } = active
  const name = nameScanTask(scan.metadata.name, 'threat-model', run.id)
  const task = await ensureAgentTask(context, scan, {
    name,
    stage: 'threat-model',
    agent: () => findAgent(context, scan, scan.spec.analysisAgentRef),
    labels: { run: run.id },
    instructions: threatModelInstructions,
    prompt: writeThreatModelPrompt(
      { repoURL: scan.spec.repoURL, ...(await describeTree(tree, context.signal)) },
      policies,
    ),
    timeout: '2h',
    priority: 700,
    budget: () => remainingBudget(context, scan, run.id),
  })
  if (run.taskName !== name) await changeRun(context, active, { taskName: name })
  const outcome = await readOutcome(context, task)
  if (outcome.state === 'active') return undefined
  if (outcome.state === 'failed') throw new ScanRunFailure('ThreatModelFailed', `no threat model: ${outcome.why}`)
  const text = redactText(outcome.text.trim().slice(0, maxModelLength))
  if (text === '') throw new ScanRunFailure('ThreatModelFailed', 'no threat model: the answer of the agent is empty')
  return text
}

type Cut = SliceDraft & { status: SliceStatus }

/** Of a run that repeats what failed: the others stay as they are. */
async function keepReviewed({ records }: ScanContext, uid: string, slices: readonly SliceDraft[]): Promise<Cut[]> {
  const known = await Promise.all(slices.map(({ id }) => records.scans.getSlice(uid, id)))
  const isDone = (slice: ReviewSlice | undefined) => slice?.status === 'reviewed' || slice?.status === 'skipped'
  return slices.map((slice, at) => ({
    ...slice,
    status: isDone(known[at]) ? (known[at]?.status ?? 'pending') : 'pending',
  }))
}

async function chooseSlices(context: ScanContext, { scan, run }: ActiveRun, tree: SourceTree): Promise<Cut[]> {
  const { baseCommit, mode, retryOf } = run
  const { name, uid } = scan.metadata
  const changes = baseCommit === undefined ? undefined : await tree.changesSince(baseCommit, context.signal)
  const scope = { name, subPath: scan.spec.subPath, removed: changes?.removed ?? [] }
  const sliced = await cutTree(tree, scope, context.signal)
  const selected = selectSlices(sliced, changes, mode === 'incremental')
  if (retryOf !== undefined)
    return keepReviewed(
      context,
      uid,
      selected.map(({ slice }) => slice),
    )
  return selected.map(({ slice, review }) => ({ ...slice, status: review ? 'pending' : 'skipped' }))
}

export async function writeThreatModel(context: ScanContext, active: ActiveRun): Promise<boolean> {
  const { scan, run } = active
  const tree = await context.trees.open(context, scan, run, context.signal)
  const isRunning = (await context.records.scans.getRun(scan.metadata.uid, run.id))?.phase === 'running'
  if (!isRunning) return false
  const slices = await chooseSlices(context, active, tree)
  const isIdle = slices.every(({ status }) => status !== 'pending')
  if (!isIdle && (await needsModel(context, active))) {
    const content = await generate(context, active, tree)
    if (content === undefined) return false
    const model = { content, source: 'generated', generatedByScan: run.id }
    await context.records.scans.saveThreatModel(scanKeyOf(scan), model, run.startedAt)
  }
  await context.records.scans.cutSlices(scanKeyOf(scan), run.id, slices)
  const skipped = slices.filter(({ status }) => status === 'skipped').length
  await changeRun(context, active, { stage: 'review', sliceCount: slices.length, skippedSliceCount: skipped })
  return true
}
