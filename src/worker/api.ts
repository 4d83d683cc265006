// The worker API from the worker's side: every call is for its own task, and repeated until the service accepts it.
import { createApiClient, readToEnd } from '../client/client.ts'
import { keepProgramSession, type ProgramSession, readProgramSession } from '../contract/api/chat/program-sessions.ts'
import { searchNamespaceTranscripts } from '../contract/api/chat/transcripts.ts'
import { callCodeHost } from '../contract/api/codehost/code-host-tools.ts'
import * as coordination from '../contract/api/coordination/coordination.ts'
import { proposeForTask, recallForTask } from '../contract/api/memory/memory-tools.ts'
import type { WorkAssignment } from '../contract/api/tasks/assignment.ts'
import { type EndSubmit, submitEnd } from '../contract/api/tasks/attempt-end.ts'
import * as routes from '../contract/api/tasks/internal.ts'
import { type ProgressReport, reportProgress } from '../contract/api/tasks/progress.ts'
import { reportSteps, type StepBatch } from '../contract/api/tasks/steps.ts'
import {
  type CodeAvailability,
  type CodeOutcome,
  type CodeRun,
  checkCode,
  runCode,
} from '../contract/api/workspaces/code-runs.ts'
import { isSvcError, SvcError } from '../errors.ts'
import { type Clock, monotonicMs } from '../lib/clock.ts'
import { isUnsent } from '../lib/error-code.ts'
import type { TranscriptSearch } from '../ports/chat/sessions.ts'
import type { TaskCodeHost } from '../ports/codehost/code-host.ts'
import type { TaskCoordination } from '../ports/coordination/coordination.ts'
import type { TaskMemory } from '../ports/memory/memories.ts'
import type { ResourceKey } from '../ports/resources/resources.ts'
import { pauseAfter } from './retries.ts'

export type ArtifactUpload = { filename: string; contentType: string; open(): AsyncIterable<Uint8Array> }

export interface WorkerApi {
  /** Asked once: without an answer the model is told so. */
  transcripts: TranscriptSearch
  coordination: TaskCoordination
  memory: TaskMemory
  /** Reaches the service once, because most calls must not be made twice. */
  codeHost: TaskCodeHost
  /**
   * Whole lines; what follows the last line end is the beginning of one, in place of the beginning that was sent
   * before.
   */
  appendLogs(text: string): Promise<void>
  /** The saved state and the changes since, in order; undefined when there is none. */
  loadCheckpoint(): Promise<unknown[] | undefined>
  saveCheckpoint(state: unknown): Promise<void>
  /** Appends to what this attempt saved; numbered from 1. */
  appendCheckpoint(number: number, change: unknown): Promise<void>
  submitUsage(usage: routes.UsageSubmit): Promise<void>
  takeLease(provider: ResourceKey, want: routes.LeaseRequest): Promise<routes.LeaseAnswer>
  /**
   * The provider's state, without taking a lease. Asked once, with a short limit: the call proceeds without the answer.
   */
  peekLimit(provider: ResourceKey, model: string): Promise<routes.LeaseAnswer>
  coolDown(provider: ResourceKey, pause: routes.CooldownRequest): Promise<void>
  /** How calls of the provider ended. Sent once, with a short limit: the run does not depend on it. */
  reportCalls(provider: ResourceKey, report: routes.CallsReport): Promise<void>
  /** A token for one call of the tool. Requested once: without it the call is not made, and the model is told. */
  takeToolToken(tool: string, signal: AbortSignal): Promise<string>
  /** Whether the service runs code, and in which languages. */
  checkCode(): Promise<CodeAvailability>
  /** Reaches the service once, because code must not run twice. */
  runCode(run: CodeRun, signal: AbortSignal): Promise<CodeOutcome>
  uploadArtifact(file: ArtifactUpload): Promise<void>
  /** A file that the task was given. */
  readInput(path: string): Promise<Uint8Array>
  /** The session as the program of an earlier task has kept it; undefined when there is none to go on with. */
  readProgramSession(model: string): Promise<ProgramSession | undefined>
  keepProgramSession(model: string, session: ProgramSession): Promise<void>
  /** NotConfigured without a plan store. */
  savePlan(plan: routes.PlanSave): Promise<void>
  /** One that is too long to come with the end. */
  submitResult(text: string): Promise<void>
  submitEnd(end: EndSubmit): Promise<void>
  /** Steps for the trace. */
  reportSteps(batch: StepBatch): Promise<void>
  /** Steps for the timeline. Sent once, with a short limit: the run does not depend on them. */
  reportProgress(report: ProgressReport): Promise<void>
}

/** How the log is sent: whole lines with their marks, and what there is of the next. */
const marksAndRest = { unfinished: true, marked: true }

const callTimeoutMs = 30_000
const uploadTimeoutMs = 120_000
const questionTimeoutMs = 3000

/** The longest wait of a timer: whoever runs code ends it by a signal. */
const codeRun: Repetition = { timeoutMs: 2 ** 31 - 1, mayRepeat: isUnsent }

/** The attempt is over for the service: its token has expired, its task is gone, or a newer attempt is live. */
export function isSuperseded(error: unknown): boolean {
  return isSvcError(error) && ['Unauthenticated', 'Forbidden', 'NotFound', 'Conflict'].includes(error.reason)
}

type WorkerApiOptions = {
  api: WorkAssignment['api']
  task: Pick<WorkAssignment['task'], 'namespace' | 'name'>
  clock: Clock
  /** In [0, 1), since all workers notice at the same time that the service is away; default: the longest pauses. */
  random?: () => number
  signal: AbortSignal
  fetch?: typeof fetch | undefined
}

type ApiCall<T> = (signal: AbortSignal) => Promise<T>

type Repetition = {
  timeoutMs: number
  /** Whether an error may be answered by the same call; default: each call here may be made twice. */
  mayRepeat?: (error: unknown) => boolean
}

/** A call that hung is as good as one that reached nobody. */
function readFailure(error: unknown, timeout: AbortSignal): unknown {
  return timeout.aborted ? new SvcError('Unavailable', 'the service did not answer in time', { cause: error }) : error
}

/** Repeats the call for as long as its failure may pass. */
async function callWithRetries<T>(
  attempt: ApiCall<T>,
  { clock, random = () => 1, signal }: WorkerApiOptions,
  { timeoutMs, mayRepeat = () => true }: Repetition,
): Promise<T> {
  const since = monotonicMs(clock)
  for (let failures = 1; ; failures += 1) {
    const timeout = AbortSignal.timeout(timeoutMs)
    try {
      return await attempt(AbortSignal.any([signal, timeout]))
    } catch (cause) {
      signal.throwIfAborted()
      const error = readFailure(cause, timeout)
      const passedMs = monotonicMs(clock) - since
      const pauseMs = mayRepeat(error) ? pauseAfter(error, { failures, passedMs, random: random() }) : undefined
      if (pauseMs === undefined) throw error
      await clock.sleep(pauseMs, signal)
    }
  }
}

export function createWorkerApi(options: WorkerApiOptions): WorkerApi {
  const { api, fetch } = options
  const client = createApiClient({ url: api.url, token: api.token, fetch })
  const params = { namespace: options.task.namespace, taskName: options.task.name }
  const call = <T>(attempt: ApiCall<T>, timeoutMs = callTimeoutMs) => callWithRetries(attempt, options, { timeoutMs })
  const callOnce = <T>(attempt: ApiCall<T>, timeoutMs: number) =>
    callWithRetries(attempt, options, { timeoutMs, mayRepeat: isUnsent })
  const send: typeof client.call = (route, input) => call((signal) => client.call(route, { ...input, signal }))
  const within = (ms: number, ...signals: AbortSignal[]) =>
    AbortSignal.any([options.signal, AbortSignal.timeout(ms), ...signals])
  const plain = 'text/plain; charset=utf-8'
  return {
    transcripts: {
      search: (query, callSignal) => {
        const { namespace } = options.task
        const flatQuery = { ...query, roles: query.roles?.join(',') }
        const signal = within(callTimeoutMs, callSignal)
        return client.call(searchNamespaceTranscripts, { params: { namespace }, query: flatQuery, signal })
      },
    },
    coordination: createCoordinationApi(client, params, call),
    memory: {
      recall: (args) => send(recallForTask, { params, body: { args } }),
      propose: (named, args) => send(proposeForTask, { params, body: { call: named, args } }),
    },
    codeHost: {
      call: (body) => callOnce((signal) => client.call(callCodeHost, { params, body, signal }), uploadTimeoutMs),
    },
    appendLogs: (text) =>
      send(routes.appendLogs, { params, query: marksAndRest, raw: { body: text, contentType: 'text/plain' } }),
    loadCheckpoint: () => call((signal) => client.call(routes.readCheckpoint, { params, signal }).catch(ignoreMissing)),
    saveCheckpoint: (body) => send(routes.saveCheckpoint, { params, body }),
    appendCheckpoint: (number, body) => send(routes.appendCheckpoint, { params, query: { number }, body }),
    submitUsage: (body) => send(routes.submitUsage, { params, body }),
    takeLease: ({ namespace, name }, body) => send(routes.takeLease, { params: { namespace, provider: name }, body }),
    peekLimit: ({ namespace, name }, model) => {
      const signal = within(questionTimeoutMs)
      const body = { requests: 0, tokens: 0, ...(model === '' ? {} : { model }) }
      return client.call(routes.takeLease, { params: { namespace, provider: name }, body, signal })
    },
    coolDown: ({ namespace, name }, body) => send(routes.coolDown, { params: { namespace, provider: name }, body }),
    reportCalls: ({ namespace, name }, body) =>
      client.call(routes.reportCalls, {
        params: { namespace, provider: name },
        body,
        signal: within(questionTimeoutMs),
      }),
    takeToolToken: async (tool, callSignal) => {
      const signal = within(callTimeoutMs, callSignal)
      return (await client.call(routes.takeToolToken, { params: { ...params, tool }, signal })).token
    },
    checkCode: () => send(checkCode, { params }),
    runCode: (body, callSignal) => {
      const signal = AbortSignal.any([options.signal, callSignal])
      // The call has its own limit, and is cut off by none of ours.
      return callWithRetries(() => client.call(runCode, { params, body, signal }), { ...options, signal }, codeRun)
    },
    uploadArtifact: ({ filename, contentType, open }) =>
      call(
        (signal) =>
          client.call(routes.uploadArtifact, {
            params: { ...params, filename },
            raw: { body: open(), contentType },
            signal,
          }),
        uploadTimeoutMs,
      ),
    readInput: (filename) =>
      call(async (signal) => {
        const response = await client.open(routes.readInput, { params: { ...params, filename }, signal })
        return new Uint8Array(await readToEnd(() => response.arrayBuffer(), signal))
      }, uploadTimeoutMs),
    readProgramSession: (model) =>
      call(
        (signal) => client.call(readProgramSession, { params, query: { model }, signal }).catch(ignoreMissing),
        uploadTimeoutMs,
      ),
    keepProgramSession: (model, body) =>
      call((signal) => client.call(keepProgramSession, { params, query: { model }, body, signal }), uploadTimeoutMs),
    savePlan: (body) => send(routes.savePlan, { params, body }),
    submitResult: (text) => send(routes.submitResult, { params, raw: { body: text, contentType: plain } }),
    submitEnd: (body) => send(submitEnd, { params, body }),
    reportSteps: (body) => send(reportSteps, { params, body }),
    reportProgress: (body) => client.call(reportProgress, { params, body, signal: within(questionTimeoutMs) }),
  }
}

function ignoreMissing(error: unknown): undefined {
  if (isSvcError(error, 'NotFound')) return undefined
  throw error
}

type WithRetries = <T>(attempt: (signal: AbortSignal) => Promise<T>) => Promise<T>

function createCoordinationApi(
  client: ReturnType<typeof createApiClient>,
  params: { namespace: string; taskName: string },
  withRetries: WithRetries,
): TaskCoordination {
  return {
    delegate: (call, args, step) =>
      withRetries((signal) => client.call(coordination.delegateTask, { params, body: { call, step, args }, signal })),
    runContainer: (call, args, step) =>
      withRetries((signal) =>
        client.call(coordination.delegateContainer, { params, body: { call, step, args }, signal }),
      ),
    waitFor: (call, args, until) =>
      withRetries((signal) =>
        client.call(coordination.waitForChildren, { params, body: { call, until, args }, signal }),
      ),
    cancel: (args) =>
      withRetries((signal) => client.call(coordination.cancelChild, { params, body: { args }, signal })),
    createAgent: (args) =>
      withRetries((signal) => client.call(coordination.createHelper, { params, body: { args }, signal })),
    deleteAgent: (args) =>
      withRetries((signal) => client.call(coordination.deleteHelper, { params, body: { args }, signal })),
    askApproval: (call, args) =>
      withRetries((signal) => client.call(coordination.askApproval, { params, body: { call, args }, signal })),
    send: async (args) => {
      await withRetries((signal) => client.call(coordination.sendToFamily, { params, body: { args }, signal }))
    },
    readMessages: (body) => withRetries((signal) => client.call(coordination.readInbox, { params, body, signal })),
  }
}
