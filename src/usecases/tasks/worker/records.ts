// What a running attempt stores and reads back: result, artifacts, logs, plan, checkpoint.
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { PlanSave } from '../../../contract/api/tasks/internal.ts'
import { maxMarkLength, splitMarkedLine } from '../../../contract/api/tasks/log-marks.ts'
import { type ProgressReport, progressLimits } from '../../../contract/api/tasks/progress.ts'
import { type StepBatch, type StepReport, stepLimits } from '../../../contract/api/tasks/steps.ts'
import { SvcError } from '../../../errors.ts'
import { dropUndefined } from '../../../lib/json.ts'
import { redactText } from '../../../observability/redaction.ts'
import type { WorkerIdentity } from '../../../ports/identity/identity.ts'
import type { ArtifactInfo, LogDraft, Plan, Plans, ResultInfo } from '../../../ports/tasks/outputs.ts'
import type { AttemptKey } from '../../../ports/tasks/workloads.ts'
import { isOfEarlierIteration } from '../../../rules/tasks/iteration.ts'
import { stepSubjectOf } from '../../../rules/tasks/step-spans.ts'
import type { UsecaseDeps } from '../../service/deps.ts'
import { requireLiveAttempt, requireRunningTask, type TaskPath } from './live-attempt.ts'

type Upload = { body: Readable; contentType: string }

/** Every call throws Forbidden for a task other than the token's own, and for an attempt that is not the live one. */
export type WorkerRecords = {
  /** TooLarge, InvalidRequest when empty. */
  submitResult(identity: WorkerIdentity, path: TaskPath, upload: Upload): Promise<ResultInfo>
  uploadArtifact(identity: WorkerIdentity, path: TaskPath & { filename: string }, upload: Upload): Promise<ArtifactInfo>
  /** A file that the task was given. NotFound. */
  readInput(identity: WorkerIdentity, path: TaskPath & { filename: string }): Promise<Readable>
  /**
   * Appends lines as they come, until the body ends. `unfinished`: what has no line end will be sent again, and is no
   * line yet. `isMarked`: each line comes after its mark.
   */
  appendLogs(
    identity: WorkerIdentity,
    path: TaskPath,
    { body, unfinished, isMarked }: { body: AsyncIterable<Uint8Array>; unfinished: boolean; isMarked: boolean },
  ): Promise<void>
  /** Adds to the timeline, as long as the task has had fewer events than it may have. */
  reportProgress(identity: WorkerIdentity, path: TaskPath, report: ProgressReport): Promise<void>
  /** Adds to the trace. */
  reportSteps(identity: WorkerIdentity, path: TaskPath, batch: StepBatch): Promise<void>
  /** NotConfigured without a plan store. */
  savePlan(identity: WorkerIdentity, path: TaskPath, plan: PlanSave): Promise<Plan>
  readPlan(identity: WorkerIdentity, path: TaskPath): Promise<Plan>
  saveCheckpoint(identity: WorkerIdentity, path: TaskPath, state: string): Promise<void>
  /** Appends a change to the state that this attempt has saved. */
  appendCheckpoint(
    identity: WorkerIdentity,
    path: TaskPath,
    { number, change }: { number: number; change: string },
  ): Promise<void>
  /** A JSON list: the state, then its changes. NotFound when nothing was saved in the present iteration. */
  readCheckpoint(identity: WorkerIdentity, path: TaskPath): Promise<string>
}

function keyOf({ taskUid, attempt }: WorkerIdentity): AttemptKey {
  return { taskUid, attempt }
}

function requirePlans(plans: Plans | undefined): Plans {
  if (plans !== undefined) return plans
  throw new SvcError('NotConfigured', 'plan store not configured')
}

export function createWorkerRecords({ ports, settings }: UsecaseDeps): WorkerRecords {
  const { records, resources } = ports

  return {
    async submitResult(identity, path, { body, contentType }) {
      await requireRunningTask(resources, identity, path)
      return records.results.put(keyOf(identity), body, contentType)
    },
    async uploadArtifact(identity, path, upload) {
      await requireRunningTask(resources, identity, path)
      return records.artifacts.put(keyOf(identity), { ...upload, filename: path.filename })
    },
    async readInput(identity, path) {
      await requireRunningTask(resources, identity, path)
      const found = await records.inputs.open(identity.taskUid, path.filename)
      if (found === undefined) throw new SvcError('NotFound', `the task was given no file "${path.filename}"`)
      return found.open()
    },
    async appendLogs(identity, path, { body, unfinished, isMarked }) {
      await requireRunningTask(resources, identity, path)
      let last = ''
      for await (const { lines, rest } of readLines(body, isMarked)) {
        await requireLiveAttempt(resources, identity)
        await records.logs.append(keyOf(identity), lines, unfinished ? rest : undefined)
        last = unfinished ? '' : rest
      }
      if (last !== '') await records.logs.append(keyOf(identity), readLine(last, isMarked))
    },
    async reportProgress(identity, path, { events }) {
      const { uid: taskUid, namespace, name: taskName } = (await requireRunningTask(resources, identity, path)).metadata
      const { attempt } = identity
      const drafts = events.map(({ type, message }) => {
        return { taskUid, attempt, namespace, taskName, type, message: redactText(message) }
      })
      await records.events.appendAll(drafts, progressLimits.perTask)
    },
    async reportSteps(identity, path, { steps }) {
      const task = await requireRunningTask(resources, identity, path)
      const clean = steps.map(redactStep)
      await records.steps.write(keyOf(identity), clean)
      settings.onSteps?.(stepSubjectOf(task), identity.attempt, clean)
    },
    async savePlan(identity, path, plan) {
      const task = await requireRunningTask(resources, identity, path)
      const { taskUid, attempt, namespace, taskName } = identity
      const saved = await requirePlans(records.plans).save({
        taskUid,
        namespace,
        taskName,
        iteration: task.status?.iteration ?? 0,
        summary: plan.summary,
        progressPct: plan.progress_pct,
        goalComplete: plan.goal_complete,
        planDocument: plan.plan_document,
      })
      const message = redactText(`${plan.progress_pct} %: ${plan.summary}`).slice(0, progressLimits.messageLength)
      const event = { taskUid, attempt, namespace, taskName, type: 'PlanSaved', message: message.toWellFormed() }
      await records.events.appendAll([event], progressLimits.perTask)
      return saved
    },
    async readPlan(identity, path) {
      await requireRunningTask(resources, identity, path)
      const plan = await requirePlans(records.plans).get(identity.taskUid)
      if (plan === undefined) throw new SvcError('NotFound', 'plan not found')
      return plan
    },
    async saveCheckpoint(identity, path, state) {
      await requireRunningTask(resources, identity, path)
      await records.checkpoints.save(keyOf(identity), state)
    },
    async appendCheckpoint(identity, path, { number, change }) {
      await requireRunningTask(resources, identity, path)
      await records.checkpoints.append(keyOf(identity), number, change)
    },
    async readCheckpoint(identity, path) {
      const task = await requireRunningTask(resources, identity, path)
      const saved = await records.checkpoints.load(identity.taskUid)
      // Each iteration of an autonomous agent begins with an empty conversation.
      if (saved === undefined || isOfEarlierIteration(task, saved.attempt))
        throw new SvcError('NotFound', 'no checkpoint was saved for this task')
      return `[${[saved.state, ...saved.changes].join(',')}]`
    },
  }
}

/** Text of keys and tokens is removed, as in the log. */
export function redactStep(step: StepReport): StepReport {
  const clean = (text: string | undefined, max: number) => text && redactText(text).slice(0, max).toWellFormed()
  const { detail, error } = stepLimits
  const cleaned = {
    error: clean(step.error, error),
    input: clean(step.input, detail),
    output: clean(step.output, detail),
  }
  return { ...step, ...dropUndefined(cleaned) }
}

/** A line without an end is cut at this length, so that nothing is held back forever. */
const maxLineBytes = 64 * 1024

/** In pieces that are not too long, one at least; each has the mark that the line came with. */
export function readLine(line: string, isMarked: boolean): LogDraft[] {
  if (!isMarked) return splitLong(line)
  const { text, mark } = splitMarkedLine(line)
  return splitLong(text).map((part) => ({ text: part, ...mark }))
}

function splitLong(line: string): string[] {
  const parts: string[] = []
  for (let at = 0; at < line.length; at += maxLineBytes) parts.push(line.slice(at, at + maxLineBytes))
  return parts.length === 0 ? [''] : parts
}

async function* readLines(body: AsyncIterable<Uint8Array>, isMarked: boolean) {
  const maxLength = maxLineBytes + (isMarked ? maxMarkLength : 0)
  for await (const { lines, rest } of cutLines(body, maxLength)) {
    yield { lines: lines.flatMap((line) => readLine(line, isMarked)), rest }
  }
}

/** Whole lines without their line ends, and what has come of the next. */
export type CutText = { lines: string[]; rest: string }

/** One for each piece of the body, also for one that ends no line. */
export async function* cutLines(
  body: AsyncIterable<Uint8Array>,
  maxLength: number = maxLineBytes,
): AsyncGenerator<CutText> {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  for await (const chunk of body) {
    const lines = (rest + decoder.write(Buffer.from(chunk))).split('\n')
    rest = lines.pop() ?? ''
    const whole = lines.map((line) => line.replace(/\r$/, ''))
    while (rest.length >= maxLength) {
      whole.push(rest.slice(0, maxLength))
      rest = rest.slice(maxLength)
    }
    yield { lines: whole, rest }
  }
  const broken = decoder.end()
  if (broken !== '') yield { lines: [], rest: rest + broken }
}
