// Advances the review of one pull request: its change is read, the validation commands run, then the reviewer.
import { Readable } from 'node:stream'
import type { MonitorValidationResult as Validation } from '../../contract/api/monitors/monitor-records.ts'
import { isTerminalPhase, type Task } from '../../contract/kinds/tasks/task.ts'
import { isSvcError, SvcError } from '../../errors.ts'
import { isCodeHostError, type PullRequestDetails, type PullRequestFile } from '../../ports/codehost/code-host.ts'
import type { ItemState, ReviewProgress } from '../../ports/monitors/monitors.ts'
import type { ResourceDraft } from '../../ports/resources/resources.ts'
import { createCheckLog, findValidationReason, readCheckCommand } from '../../rules/monitors/checks.ts'
import { joinPatches } from '../../rules/monitors/diff-lines.ts'
import { type ReviewInput, writeReviewFiles, writeReviewPrompt } from '../../rules/monitors/prompt.ts'
import {
  makeReviewTask,
  makeValidationTask,
  monitorLabel,
  nameReviewTask,
  nameValidationTask,
  type ReviewedPullRequest,
} from '../../rules/monitors/tasks.ts'
import { type MonitorWork, recordItemEvent, saveItem } from './settings.ts'

type PullRequestChange = { pullRequest: PullRequestDetails; files: PullRequestFile[]; diff: string }

/** A file that a task is given has at most 10 MiB. */
const maxDiffLength = 10 * 1024 * 1024

function cut(diff: string): string {
  if (Buffer.byteLength(diff) <= maxDiffLength) return diff
  const text = Buffer.from(diff).subarray(0, maxDiffLength).toString('utf8')
  return text.slice(0, text.lastIndexOf('\n') + 1)
}

async function readDiff({ host }: MonitorWork, number: number, files: readonly PullRequestFile[]): Promise<string> {
  try {
    return cut(await host.getDiff(number))
  } catch (error) {
    if (!isCodeHostError(error, 'TooLarge')) throw error
    return cut(joinPatches(files))
  }
}

/** Undefined when the head is another commit, before or after the change was read. */
export async function readChange(
  work: MonitorWork,
  number: number,
  headSHA: string,
): Promise<PullRequestChange | undefined> {
  const before = await work.host.getPullRequest(number)
  if (before.head.commit !== headSHA) return undefined
  const files = await work.host.listFiles(number)
  const diff = await readDiff(work, number, files)
  const pullRequest = await work.host.getPullRequest(number)
  return pullRequest.head.commit === headSHA ? { pullRequest, files, diff } : undefined
}

export type UnderWay = ItemState & { progress: ReviewProgress; headSHA: string }

export function isUnderWay(item: ItemState): item is UnderWay {
  return item.progress !== undefined && item.headSHA !== undefined
}

function toReviewed(
  item: UnderWay,
  { base, head, fork, title, author, draft, labels }: PullRequestDetails,
): ReviewedPullRequest {
  const { owner, name } = head.repository ?? {}
  const forked = owner === undefined || name === undefined ? undefined : { owner, name }
  return {
    number: item.number,
    title,
    author,
    draft,
    labels,
    baseBranch: base.branch,
    baseSHA: base.commit,
    headBranch: head.branch,
    headSHA: item.headSHA,
    ...(fork && { fork: { repository: forked && { host: '', ...forked } } }),
  }
}

function askingOf({ monitor, repository }: MonitorWork, item: UnderWay, pullRequest: PullRequestDetails) {
  const reviewed = toReviewed(item, pullRequest)
  const { fork } = reviewed
  const forkRef = fork?.repository && { repository: { ...fork.repository, host: repository.host } }
  const { runID } = item.progress
  return { monitor, repository, pullRequest: { ...reviewed, ...(forkRef && { fork: forkRef }) }, runID }
}

function nameOf({ monitor }: MonitorWork, item: UnderWay) {
  const pullRequest = { number: item.number, headSHA: item.headSHA } as ReviewedPullRequest
  return { monitor, pullRequest, runID: item.progress.runID }
}

/** Conflict for a task that somebody else made under that name: only the service sets this label. */
async function findTask({ deps, monitor }: MonitorWork, name: string): Promise<Task | undefined> {
  const { namespace, name: owner } = monitor.metadata
  const task = await deps.resources.get('Task', { namespace, name })
  if (task === undefined || task.metadata.labels?.[monitorLabel] === owner) return task
  throw new SvcError('Conflict', `task "${name}" is not of the monitor "${owner}"; delete it, and the review goes on`)
}

/** The task of that name, made unless it is there. */
async function ensureTask(work: MonitorWork, draft: ResourceDraft<'Task'>): Promise<Task> {
  const { name } = draft.metadata
  const found = await findTask(work, name)
  if (found !== undefined) return found
  try {
    return await work.deps.resources.create('Task', draft)
  } catch (error) {
    const made = isSvcError(error, 'AlreadyExists') ? await findTask(work, name) : undefined
    if (made === undefined) throw error
    return made
  }
}

/** `overtaken`: the head has moved; nothing of this review counts. */
type ReviewStep = 'waiting' | 'overtaken' | { ended: Task }

/** From the log, which a task that failed or took too long has as well. */
async function readValidation({ deps }: MonitorWork, { metadata, spec, status }: Task): Promise<Validation> {
  // Of the task: those of the monitor may be others by now.
  const { commands, fence } = readCheckCommand(spec.command ?? [])
  const log = createCheckLog(commands, fence)
  for await (const { text } of deps.records.logs.read(metadata.uid, { attempt: status?.attempts })) log.read(text)
  const { begun, outcomes } = log.end()
  if (status?.phase === 'Succeeded') return { status: 'passed', commands: outcomes }
  const reason = status?.message ?? 'the task says no more'
  return { status: begun ? 'failed' : 'not_run', reason, commands: outcomes }
}

async function goOn(work: MonitorWork, item: UnderWay, validation: Validation): Promise<UnderWay> {
  const progress: ReviewProgress = { ...item.progress, stage: 'reviewing', validation }
  return (await saveItem(work, { ...item, progress })) as UnderWay
}

async function validate(work: MonitorWork, item: UnderWay): Promise<UnderWay | 'waiting' | 'overtaken'> {
  const found = await findTask(work, nameValidationTask(nameOf(work, item)))
  if (found !== undefined) {
    if (!isTerminalPhase(found.status?.phase)) return 'waiting'
    return goOn(work, item, await readValidation(work, found))
  }
  const change = await readChange(work, item.number, item.headSHA)
  if (change === undefined) return 'overtaken'
  const paths = change.files.map(({ path }) => path)
  const reason = findValidationReason(work.monitor.spec, paths)
  if (reason !== undefined) return goOn(work, item, { status: 'not_run', reason, commands: [] })
  const draft = makeValidationTask(askingOf(work, item, change.pullRequest), item.progress.isTargeted)
  await recordTask(work, item, await ensureTask(work, draft))
  return 'waiting'
}

async function recordTask(work: MonitorWork, item: UnderWay, { metadata: { name } }: Task): Promise<void> {
  const { runID } = item.progress
  const metadata = { taskName: name, created: true }
  const summary = `task ${name} was created`
  await recordItemEvent(work, item, { runID, eventType: 'review_task_created', summary, metadata })
}

async function inputOf(work: MonitorWork, item: UnderWay, { pullRequest }: PullRequestChange): Promise<ReviewInput> {
  return {
    repository: work.repository,
    pullRequest: askingOf(work, item, pullRequest).pullRequest,
    mergeable: pullRequest.mergeable,
    spec: work.monitor.spec,
    validation: item.progress.validation ?? { status: 'not_run', commands: [] },
    known: await work.deps.records.monitors.listFindings(work.key, item.number),
  }
}

/** A task that waits for its files is given them, and then let go; what a crash cut off is done again. */
async function fill(work: MonitorWork, task: Task, files: Record<string, string>): Promise<void> {
  const { resources, records } = work.deps
  for (const [filename, text] of Object.entries(files)) {
    const body = Readable.from([Buffer.from(text)], { objectMode: false })
    await records.inputs.put({ taskUid: task.metadata.uid, attempt: 0 }, { filename, contentType: 'text/plain', body })
  }
  const now = await resources.get('Task', task.metadata)
  if (now !== undefined) await resources.update('Task', { ...now, spec: { ...now.spec, suspend: false } })
}

async function review(work: MonitorWork, item: UnderWay): Promise<ReviewStep> {
  const name = nameReviewTask(nameOf(work, item))
  const found = await findTask(work, name)
  if (found !== undefined && isTerminalPhase(found.status?.phase)) return { ended: found }
  if (found !== undefined && !found.spec.suspend) return 'waiting'
  const change = await readChange(work, item.number, item.headSHA)
  if (change === undefined) return 'overtaken'
  const input = await inputOf(work, item, change)
  const { isTargeted } = item.progress
  const draft = makeReviewTask(askingOf(work, item, change.pullRequest), {
    prompt: writeReviewPrompt(input),
    isTargeted,
  })
  const task = await ensureTask(work, draft)
  await saveItem(work, { ...item, lastReviewID: name })
  await fill(
    work,
    task,
    writeReviewFiles(
      input,
      change.diff,
      change.files.map(({ path }) => path),
    ),
  )
  if (found === undefined) await recordTask(work, item, task)
  return 'waiting'
}

/** One step further; rejects with the faults of the code host. */
export async function advanceReview(work: MonitorWork, item: UnderWay): Promise<ReviewStep> {
  if (item.progress.stage === 'reviewing') return review(work, item)
  const validated = await validate(work, item)
  return typeof validated === 'string' ? validated : review(work, validated)
}

/** The item without its review, whose tasks nobody needs any more. */
export async function stopReview(work: MonitorWork, item: ItemState): Promise<ItemState> {
  const { progress: _progress, ...rest } = item
  if (!isUnderWay(item)) return rest
  for (const name of [nameValidationTask(nameOf(work, item)), nameReviewTask(nameOf(work, item))]) {
    const task = await findTask(work, name)
    if (task === undefined || isTerminalPhase(task.status?.phase)) continue
    await work.deps.resources.remove('Task', task.metadata, { uid: task.metadata.uid })
  }
  return rest
}
