// What every run of an attempt has: the worker API, a log that shows no secret, and last words when it is cancelled.
import type { WorkAssignment } from '../contract/api/tasks/assignment.ts'
import { endLimits } from '../contract/api/tasks/attempt-end.ts'
import type { StepReport } from '../contract/api/tasks/steps.ts'
import { listToolSecrets } from '../contract/api/tools/assigned-tool.ts'
import type { RunFailure } from '../contract/kinds/tasks/failures.ts'
import { dropUndefined } from '../lib/json.ts'
import { createTrace, type StepEnd, type Trace } from '../llm/trace/step-trace.ts'
import { compileForms, createOpenRedactor, createRedactor, type Redactor } from '../observability/redaction.ts'
import { createWorkerApi, type WorkerApi } from './api.ts'
import type { WorkerDeps } from './deps.ts'
import { type AttemptOutcome, explainCrash, type RunEnd } from './outcome.ts'
import { createTaskLog, dropMarks, type TaskLog } from './task-log.ts'

export type ReportedRun = {
  api: WorkerApi
  log: TaskLog
  trace: Trace
  /** Redacts what the model reads and writes, including its answer. */
  redact: Redactor
  /** For people who read about the run; here it does no harm to remove too much. */
  redactAll: Redactor
}

/** Never throws. Whatever leaves the worker contains none of the assignment's secrets. */
export async function runReported(
  assignment: WorkAssignment,
  { deps, signal }: { deps: WorkerDeps; signal: AbortSignal },
  execute: (run: ReportedRun) => Promise<RunEnd>,
): Promise<AttemptOutcome> {
  const { clock, ids } = deps
  const secrets = compileForms(listSecrets(assignment))
  const redact = createRedactor(secrets, 'tokens')
  const redactAll = createRedactor(secrets)
  const connection = {
    api: assignment.api,
    task: assignment.task,
    clock,
    random: () => ids.random(),
    fetch: deps.fetch,
  }
  const api = createWorkerApi({ ...connection, signal })
  // A cancelled run keeps its text: the attempt is live until the worker has ended.
  const lastWords = new AbortController()
  const ownApi = createWorkerApi({ ...connection, signal: lastWords.signal })
  let unsent = ''
  const log = createTaskLog({
    send: (text) => ownApi.appendLogs(text),
    redact: redactAll,
    redactBeginning: createOpenRedactor(secrets),
    clock,
    fallback: (text) => {
      unsent = (unsent + redactAll(text)).slice(-endLimits.log)
    },
  })
  const crash = (error: unknown): RunEnd => ({ outcome: explainCrash(error, signal) })
  const trace = createTrace({
    send: api.reportSteps,
    redact: redactAll,
    clock,
    name: `attempt ${assignment.task.attempt}`,
  })
  const end = await execute({ api, log, trace, redact, redactAll }).catch(crash)
  const outcome = redactOutcome(end.outcome, redactAll)
  if (!outcome.ok && !signal.aborted) writeFailure(log, outcome)
  const isHurried = signal.aborted || isReason(outcome, 'ServiceUnavailable')
  const timer = isHurried ? setTimeout(() => lastWords.abort(), lastWordsMs) : undefined
  const steps = await trace.finish(endOf(outcome))
  const rest = await log.finish()
  // Only now: what was on its way may have come back.
  const lines = unsent + rest
  try {
    await handIn(ownApi, { ...end, outcome, steps }, lines)
    deps.noteEnd?.()
    return outcome
  } catch (error) {
    deps.keepUnsent?.(dropMarks(lines))
    // Without what it was to hand in it is not what it says.
    return outcome.ok || isReason(outcome, 'Parked') ? explainCrash(error, signal) : outcome
  } finally {
    clearTimeout(timer)
  }
}

/** A cancelled run has little time, and its service may be gone; another has waited for it for minutes. */
const lastWordsMs = 2000

function isReason(outcome: AttemptOutcome, reason: RunFailure): boolean {
  return !outcome.ok && outcome.reason === reason
}

function endOf(outcome: AttemptOutcome): StepEnd {
  if (outcome.ok) return { outcome: 'ok' }
  return outcome.reason === 'Parked' ? { outcome: 'waiting' } : { outcome: 'failed', error: outcome.message }
}

function writeFailure(log: TaskLog, { reason, message }: Extract<AttemptOutcome, { ok: false }>): void {
  if (reason === 'Parked') log.write(`[${message}]`, 'info')
  else log.write(`[failed: ${message}]`, 'error')
}

/** All at once, but for what is too long. */
async function handIn(
  api: WorkerApi,
  { outcome, result, usage, waits, steps }: RunEnd & { steps: StepReport[] },
  lines: string,
): Promise<void> {
  const isLong = lines.length > endLimits.log
  if (isLong) await api.appendLogs(lines)
  const log = isLong || lines === '' ? {} : { log: lines, marked: true }
  const shared = dropUndefined({
    ...log,
    steps: steps.length === 0 ? undefined : steps,
    usage: usage?.length === 0 ? undefined : usage,
  })
  if (!outcome.ok) {
    const message = outcome.message.slice(0, endLimits.message)
    return api.submitEnd({ ...shared, ...outcome, message, ...(waits && { waits }) })
  }
  if (result === undefined || result.length <= endLimits.result)
    return api.submitEnd({ ok: true, ...shared, ...(result && { result }) })
  await api.submitResult(result)
  await api.submitEnd({ ok: true, ...shared })
}

function redactOutcome(outcome: AttemptOutcome, redact: Redactor): AttemptOutcome {
  return outcome.ok ? outcome : { ...outcome, message: redact(outcome.message) }
}

function listSecrets({ redact, api, model, customTools, search, propagation, agent }: WorkAssignment): string[] {
  const keys = model.choices.map(({ provider }) => provider.apiKey)
  const tokens = customTools.flatMap(listToolSecrets)
  const transaction = propagation?.mode === 'token' ? propagation.token : undefined
  const all = [...redact, api.token, agent?.token, search?.apiKey, transaction, ...keys, ...tokens]
  return all.filter((value) => value !== undefined)
}
