// The reviews of a run: a task for each slice, some at a time; each one that ends is stored, whatever becomes of the others.
import type { DropLayer } from '../../contract/api/scans/runs.ts'
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import { isTerminalPhase, type Task } from '../../contract/kinds/tasks/task.ts'
import type { ReviewSlice, ScanRun } from '../../ports/scans/scans.ts'
import { reviewInstructions, writeSliceReviewPrompt } from '../../rules/scans/prompts.ts'
import { buildReviewContext, listContextPaths, type ReviewContext } from '../../rules/scans/review-context.ts'
import { ingestReview } from '../../rules/scans/review-ingest.ts'
import { nameScanTask } from '../../rules/scans/task-names.ts'
import { type ActiveRun, changeRun, type ScanContext, ScanRunFailure, scanKeyOf } from './context.ts'
import { budgetLeft, isShort, requireBudget } from './run-budget.ts'
import { ensureAgentTask, findAgent, listRunTasks, readOutcome, sumTaskUsage } from './tasks.ts'
import { readFiles, readSources } from './trees.ts'

const maxFindingsPerSlice = 3

type Reviewing = ActiveRun & { tasks: Map<string, Task> }

async function listPending({ records }: ScanContext, uid: string): Promise<ReviewSlice[]> {
  const slices: ReviewSlice[] = []
  let after: { order: string; id: string } | undefined
  do {
    const page = await records.scans.listSlices(uid, { status: 'pending', limit: 500, after })
    slices.push(...page.items)
    after = page.next
  } while (after !== undefined)
  return slices.sort((a, b) => (a.id < b.id ? -1 : 1))
}

const nameOf = ({ scan, run }: ActiveRun, slice: ReviewSlice) =>
  nameScanTask(scan.metadata.name, 'review', `${run.id}\0${slice.id}`)

/** What the reviewer is shown, which is made again from the tree when its answer is judged. */
async function openContext(context: ScanContext, { scan, run }: ActiveRun, slice: ReviewSlice) {
  const tree = await context.trees.open(context, scan, run, context.signal)
  const files = await readFiles(tree, listContextPaths(slice), context.signal)
  const { baseCommit } = run
  const changes = baseCommit === undefined ? undefined : await tree.changesSince(baseCommit, context.signal)
  const renamed: ReadonlyMap<string, string> = changes?.renamed ?? new Map()
  return { shown: buildReviewContext(slice, (path) => files.get(path)), files, renamed, tree }
}

async function beginReview(
  context: ScanContext,
  reviewing: Reviewing,
  slice: ReviewSlice,
  agent: Agent,
): Promise<void> {
  const { scan, run, policies, tasks } = reviewing
  const { budget } = scan.spec
  const left = budget && budgetLeft(budget, sumTaskUsage([...tasks.values()]))
  const { shown } = await openContext(context, reviewing, slice)
  const model = await context.records.scans.getThreatModel(scan.metadata.uid)
  const maxFindings = Math.min(scan.spec.maxFindingsPerRun, maxFindingsPerSlice)
  const name = nameOf(reviewing, slice)
  const task = await ensureAgentTask(context, scan, {
    name,
    stage: 'review',
    agent: async () => agent,
    labels: { run: run.id, slice: slice.id },
    instructions: reviewInstructions,
    prompt: writeSliceReviewPrompt({ context: shown, threatModel: model?.content, policies, maxFindings }),
    timeout: '2h',
    priority: 700,
    budget: async () => left,
  })
  tasks.set(name, task)
  await context.records.scans.changeSlice(scan.metadata.uid, slice.id, { taskName: name })
}

async function failSlice({ records }: ScanContext, { scan }: ActiveRun, slice: ReviewSlice, error: string) {
  await records.scans.changeSlice(scan.metadata.uid, slice.id, { status: 'failed', error: error.slice(0, 4096) })
}

/** Files of its own that the reviewer was shown whole. One whose quotes are wrong may have meant a known finding: it covers none. */
function listCovered(shown: ReviewContext, dropped: readonly { layer: DropLayer }[]): string[] {
  if (dropped.some(({ layer }) => layer === 'validation')) return []
  const whole = shown.includedFiles.filter(
    ({ role, truncated, readable }) => role === 'owned' && readable && !truncated,
  )
  return [...new Set(whole.map(({ path }) => path))]
}

async function ingest(context: ScanContext, active: ActiveRun, { slice, task, text }: Answered) {
  const { scan, run } = active
  const { scans, findings } = context.records
  const { uid } = scan.metadata
  const { shown, files, renamed, tree } = await openContext(context, active, slice)
  const { added } = await scans.reviewTotals(uid, run.id)
  const max = scan.spec.maxFindingsPerRun
  const ingested = await ingestReview({
    text,
    sliceId: slice.id,
    context: shown,
    run: { id: run.id, taskName: task.metadata.name },
    cap: { max, left: Math.max(0, max - added) },
    known: await findings.listKnown(uid, [...files.keys(), ...renamed.values()]),
    renamed,
    readSource: readSources(context, tree, files),
  })
  return 'fault' in ingested ? ingested : { ...ingested, covered: listCovered(shown, ingested.dropped) }
}

type Answered = { slice: ReviewSlice; task: Task; text: string }

async function takeReview(context: ScanContext, active: ActiveRun, slice: ReviewSlice, task: Task): Promise<void> {
  const { scan, run, digest } = active
  const outcome = await readOutcome(context, task)
  if (outcome.state === 'active') return
  if (outcome.state === 'failed') return failSlice(context, active, slice, outcome.why)
  const ingested = await ingest(context, active, { slice, task, text: outcome.text })
  if ('fault' in ingested) return failSlice(context, active, slice, ingested.fault)
  const origin = { commitSHA: run.headCommit, model: task.spec.ai?.model, policyDigest: digest }
  // A run that repeats another one is about the commit of that one.
  const startedAt = run.retryOf === undefined ? run.startedAt : undefined
  const review = { run: run.id, slice: slice.id, taskName: task.metadata.name, startedAt, ...ingested, origin }
  await context.records.findings.recordReview(scanKeyOf(scan), review)
}

/** Stores the reviews that have ended; returns their slices. One that its budget ended has reviewed nothing. */
async function takeEnded(context: ScanContext, reviewing: Reviewing, pending: readonly ReviewSlice[]) {
  const ended: ReviewSlice[] = []
  for (const slice of pending) {
    const task = reviewing.tasks.get(nameOf(reviewing, slice))
    if (task === undefined || !isTerminalPhase(task.status?.phase) || isShort(task)) continue
    await takeReview(context, reviewing, slice, task)
    ended.push(slice)
  }
  return ended
}

/** Stores what has ended, and begins as many as there is room for; returns how many are left. */
async function moveOn(context: ScanContext, reviewing: Reviewing, pending: readonly ReviewSlice[]): Promise<number> {
  const { scan, tasks } = reviewing
  const ended = await takeEnded(context, reviewing, pending)
  requireBudget(reviewing, [...tasks.values()])
  const left = pending.filter((slice) => !ended.includes(slice))
  const waiting = left.filter((slice) => !tasks.has(nameOf(reviewing, slice)))
  const room = scan.spec.maxParallelReviews - (left.length - waiting.length)
  if (waiting.length > 0 && room > 0) {
    const agent = await findAgent(context, scan, scan.spec.analysisAgentRef)
    for (const slice of waiting.slice(0, room)) await beginReview(context, reviewing, slice, agent)
  }
  return left.length
}

async function noteProgress(context: ScanContext, { tasks, ...active }: Reviewing): Promise<void> {
  const { scan, run } = active
  const totals = await context.records.scans.reviewTotals(scan.metadata.uid, run.id)
  const counts = { acceptedFindings: totals.accepted, droppedFindings: totals.dropped }
  await changeRun(context, active, {
    ...counts,
    ...sumTaskUsage([...tasks.values()]),
    reviewedSliceCount: totals.reviews,
  } satisfies Partial<ScanRun>)
}

export async function reviewSlices(context: ScanContext, active: ActiveRun): Promise<boolean> {
  const { scan, run } = active
  const tasks = await listRunTasks(context, scan, run.id)
  const reviewing = { ...active, tasks: new Map(tasks.map((task) => [task.metadata.name, task])) }
  const pending = await listPending(context, scan.metadata.uid)
  try {
    if ((await moveOn(context, reviewing, pending)) > 0) return false
    await changeRun(context, active, { stage: 'done' })
    return true
  } catch (error) {
    // What the others have found is stored before the run ends.
    if (error instanceof ScanRunFailure)
      await takeEnded(context, reviewing, await listPending(context, scan.metadata.uid))
    throw error
  } finally {
    await noteProgress(context, reviewing)
  }
}
