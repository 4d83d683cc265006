// What every run of an attempt has: the worker API, a log that shows no secret, and last words when it is cancelled.
import type { WorkAssignment } from '../contract/api/tasks/assignment.ts'
import { listToolSecrets } from '../contract/api/tools/assigned-tool.ts'
import { createOpenRedactor, createRedactor, type Redactor } from '../observability/redaction.ts'
import { createWorkerApi, type WorkerApi } from './api.ts'
import type { WorkerDeps } from './deps.ts'
import { type AttemptOutcome, explainCrash } from './outcome.ts'
import { createTaskLog, type TaskLog } from './task-log.ts'

export type ReportedRun = {
  api: WorkerApi
  log: TaskLog
  /** Redacts what the model reads and writes, including its answer. */
  redact: Redactor
  /** For people who read about the run; here it does no harm to remove too much. */
  redactAll: Redactor
}

/** Never throws. Whatever leaves the worker contains none of the assignment's secrets. */
export async function runReported(
  assignment: WorkAssignment,
  { deps, signal }: { deps: WorkerDeps; signal: AbortSignal },
  execute: (run: ReportedRun) => Promise<AttemptOutcome>,
): Promise<AttemptOutcome> {
  const { clock, ids } = deps
  const secrets = listSecrets(assignment)
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
  const ownLog = createWorkerApi({ ...connection, signal: lastWords.signal })
  const fallback = (text: string) => signal.aborted || deps.keepUnsent(redactAll(text))
  const log = createTaskLog({
    send: (text) => ownLog.appendLogs(text),
    redact: redactAll,
    redactBeginning: createOpenRedactor(secrets),
    clock,
    fallback,
  })
  const run = execute({ api, log, redact, redactAll }).catch((error: unknown) => explainCrash(error, signal))
  const outcome = redactOutcome(await run, redactAll)
  if (signal.aborted) {
    await handInLastWords(log, lastWords)
    return outcome
  }
  if (!outcome.ok) log.write(outcome.reason === 'Parked' ? `[${outcome.message}]` : `[failed: ${outcome.message}]`)
  if (!outcome.ok && outcome.reason === 'ServiceUnavailable') await handInLastWords(log, lastWords)
  else await log.flush()
  return outcome
}

/** A cancelled run has little time, and its service may be gone; another has waited for it for minutes. */
const lastWordsMs = 2000

async function handInLastWords(log: TaskLog, lastWords: AbortController): Promise<void> {
  const timer = setTimeout(() => lastWords.abort(), lastWordsMs)
  await log.flush()
  clearTimeout(timer)
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
