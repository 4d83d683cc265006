// One attempt of an ai task: continues an earlier attempt or starts from the beginning, runs the loop, submits the
// outcome.
import { readdir } from 'node:fs/promises'
import type { WorkAssignment } from '../../contract/api/tasks/assignment.ts'
import { maxWaits } from '../../contract/api/tasks/parking.ts'
import { messageOf } from '../../errors.ts'
import { monotonicMs } from '../../lib/clock.ts'
import { dropUndefined } from '../../lib/json.ts'
import { type LoopEvent, runLoop } from '../../llm/loop/loop.ts'
import type { LoopState } from '../../llm/loop/loop-state.ts'
import { createOutputCheck } from '../../llm/loop/output-check.ts'
import type { ToolHost } from '../../llm/loop/tool-host.ts'
import { createLoopTrace, type LoopTrace } from '../../llm/trace/loop-trace.ts'
import type { Redactor } from '../../observability/redaction.ts'
import { createCustomTools } from '../../tools/custom/custom-tools.ts'
import { createToolHost } from '../../tools/registry/registry.ts'
import { createLinks, type Links, type ModelTool, type TokenPropagation } from '../../tools/registry/tool.ts'
import { createSkillRead } from '../../tools/skills/skills.ts'
import type { WorkerApi } from '../api.ts'
import { uploadArtifacts, uploadRejected } from '../artifacts.ts'
import type { WorkerDeps } from '../deps.ts'
import { type AttemptOutcome, explainCrash, failRun, type RunEnd, readAttemptEnd } from '../outcome.ts'
import { createProgressLog } from '../progress-log.ts'
import { runReported } from '../reported-run.ts'
import { createServiceSandbox } from '../service-sandbox.ts'
import type { TaskLog } from '../task-log.ts'
import { restoreWorkspace, type WrittenInputs, writeInputs } from '../workspace-files.ts'
import { createRunSaver, loadRun, type SaveRun } from './checkpoint.ts'
import { openConversation } from './conversation.ts'
import { type CallReports, createCallReports, createUsageReports, type UsageReports } from './reports.ts'
import { createRunModel } from './run-model.ts'
import { joinCodeHost, joinFamily, joinMemory, openCoordination, openInbox, openSearch } from './tool-host.ts'

/** How often a stream that broke is requested again: only the log has shown its text. */
const maxInterruptions = 2
/** Long tool calls, such as a minute of code_exec, must not be cut off just before their own limit. */
const trustsToolTimeouts = true
/** Time before the deadline that is reserved for submitting: a share of the total, within bounds. */
const closingPart = 0.05
const closing = { minMs: 1000, maxMs: 15_000 }

type Run = {
  assignment: WorkAssignment
  deps: WorkerDeps
  api: WorkerApi
  log: TaskLog
  reports: CallReports
  trace: LoopTrace
  host: ToolHost
  /** Redacts what the model reads and writes, including its answer. */
  redact: Redactor
  /** For texts that nobody parses. */
  redactAll: Redactor
  signal: AbortSignal
}

/** Never throws. */
export function runAi(assignment: WorkAssignment, deps: WorkerDeps, signal: AbortSignal): Promise<AttemptOutcome> {
  return runReported(assignment, { deps, signal }, async ({ api, log, trace, redact, redactAll }) => {
    const reports = createCallReports({ send: api.reportCalls, redact: redactAll, clock: deps.clock })
    const links = createLinks()
    const host = createHost(assignment, deps, { api, log, links, redact })
    const run = { assignment, deps, api, log, reports, trace: createLoopTrace(trace), host, redact, redactAll, signal }
    const end = await execute(run).finally(links.close)
    if (!signal.aborted) await reports.settle()
    return end
  })
}

/** How the run's transaction is sent with the calls of its tools. */
function openPropagation({ propagation }: WorkAssignment, api: WorkerApi): TokenPropagation | undefined {
  switch (propagation?.mode) {
    case 'exchange':
      return { takeToken: (tool, signal) => api.takeToolToken(tool, signal) }
    case 'token':
      return { takeToken: async () => propagation.token }
    case 'none':
      return { takeToken: async () => undefined }
    case undefined:
      return undefined
  }
}

function openSkills({ skills = [] }: WorkAssignment): ModelTool[] {
  return skills.length === 0 ? [] : [createSkillRead(skills)]
}

type Surroundings = { api: WorkerApi; log: TaskLog; links: Links; redact: Redactor }

function createHost(assignment: WorkAssignment, deps: WorkerDeps, { api, log, links, redact }: Surroundings): ToolHost {
  const { allowNetworks, deny } = assignment.egress
  const host = createToolHost({
    builtin: assignment.loop.tools,
    custom: [
      ...assignment.customTools.flatMap((tool) => createCustomTools(tool, deps.clock)),
      ...openSkills(assignment),
      ...openCoordination(assignment, { api, redact }),
      ...openSearch(assignment, api),
    ],
    context: {
      workspaceRoot: deps.workspaceRoot,
      sharesWorkspace: true,
      sandbox: deps.sandbox ?? createServiceSandbox(api),
      egress: deps.egress,
      egressPolicy: { allowNetworks, deny },
      search: assignment.search,
      propagation: openPropagation(assignment, api),
      trace: assignment.task,
      links,
      onProgress: (line) => log.write(`[${line}]`, 'info'),
      variables: assignment.task.variables,
      files: assignment.task.files,
    },
  })
  const remembering = joinCodeHost(joinMemory(host, assignment, api.memory), assignment, api.codeHost)
  return openForCalls(joinFamily(remembering, assignment, { api: api.coordination, redact }), deps)
}

/** Most runs never need their workspace. */
function openForCalls(host: ToolHost, { openWorkspace }: WorkerDeps): ToolHost {
  if (openWorkspace === undefined) return host
  return {
    list: host.list,
    async call(call, signal) {
      await openWorkspace()
      return host.call(call, signal)
    },
  }
}

/** One that was never made is empty. */
async function isEmpty({ workspaceRoot, hasWorkspace = () => true }: WorkerDeps): Promise<boolean> {
  return !hasWorkspace() || (await readdir(workspaceRoot).catch(ignoreMissing)).length === 0
}

function ignoreMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return []
  throw error
}

async function execute(run: Run): Promise<RunEnd> {
  const spending = createUsageReports(run.api, run.assignment.task.attempt)
  try {
    const end = await converse(run, spending)
    return { ...end, usage: spending.rest() }
  } catch (error) {
    return { outcome: explainCrash(error, run.signal), usage: spending.rest() }
  }
}

async function converse(run: Run, spending: UsageReports): Promise<RunEnd> {
  const started = monotonicMs(run.deps.clock)
  const { state: opened, inputs } = await openRun(run)
  const saveRun = createRunSaver(run.api)
  const state = await runConversation(run, opened, { saveRun, spending })
  if (state.finished?.reason === 'parked') return park(state)
  const ending = readAttemptEnd(state)
  const hasFiles = inputs !== undefined || !(await isEmpty(run.deps))
  if ('failure' in ending) {
    await spending.settle()
    await keepRemains(run, inputs, ending.rejected).catch((error: unknown) =>
      run.log.write(`[artifacts are lost: ${messageOf(error)}]`, 'error'),
    )
    return { outcome: ending.failure }
  }
  if (hasFiles) {
    // That takes time, in which neither the answer nor what it has cost may be lost.
    await spending.settle()
    await saveRun(state)
    await keepArtifacts(run, inputs)
  }
  run.log.write(describeRun(state, monotonicMs(run.deps.clock) - started), 'info')
  return { outcome: { ok: true }, result: run.redact(ending.answer) }
}

/** The conversation is saved; what the task waits for comes with the end, and proves that it parked. */
function park({ pending }: LoopState): RunEnd {
  const waits = pending.flatMap(({ state, wait }) => (state === 'waiting' && wait !== undefined ? [wait] : []))
  // The others ask again when the first of these is over.
  return { outcome: failRun('Parked', 'the run waits, and goes on later'), waits: waits.slice(0, maxWaits) }
}

function keepArtifacts({ assignment, deps, api, log }: Run, inputs: WrittenInputs | undefined): Promise<void> {
  return uploadArtifacts(deps, { api, keep: assignment.keep, inputs, note: (line) => log.write(line, 'info') })
}

/** What a failed run leaves: its files, and an answer that was not accepted. */
async function keepRemains(run: Run, inputs: WrittenInputs | undefined, rejected: string | undefined): Promise<void> {
  if (rejected !== undefined && rejected.trim() !== '') await uploadRejected(run.api, run.redact(rejected))
  await keepArtifacts(run, inputs)
}

type Opened = { state: LoopState; inputs: WrittenInputs | undefined }

async function openRun(run: Run): Promise<Opened> {
  const { assignment, api, log, host, deps, signal } = run
  const { workspaceRoot } = deps
  const saved = await loadRun(api, assignment.task)
  // A repository is checked out for each attempt.
  const isFresh = assignment.checkout !== undefined || (await isEmpty(deps))
  if (assignment.inputs !== undefined) await deps.openWorkspace?.()
  const inputs = await writeInputs(api, { paths: assignment.inputs, workspaceRoot, isFresh })
  if (saved === undefined) return { state: openConversation(assignment), inputs }
  deps.noteHeld?.(JSON.stringify(saved).length)
  const writes = await restoreWorkspace(saved, host, { isFresh, signal })
  const restored = writes === 0 ? '' : `, ${writes} file writes done again in the new workspace`
  log.write(`[attempt ${assignment.task.attempt} goes on after model call ${saved.iteration}${restored}]`, 'info')
  return { state: saved, inputs }
}

type Keeping = { saveRun: SaveRun; spending: UsageReports }

async function runConversation(run: Run, state: LoopState, { saveRun, spending }: Keeping): Promise<LoopState> {
  const { assignment, deps, api, reports, trace } = run
  const { maxIterations, maxToolCalls, toolTimeoutMs, maxTokens, temperature, outputSchema } = assignment.loop
  const checkOutput = outputSchema && createOutputCheck(outputSchema)
  const progressLog = createProgressLog({ log: run.log, clock: deps.clock, redact: run.redactAll })
  const deadline = readDeadline(assignment, deps.clock.now())
  return await runLoop({
    state,
    model: createRunModel(assignment, deps, { api, reports, trace, onWait: (wait) => progressLog.writeWait(wait) }),
    spending: {
      require: spending.require,
      count: (call) => {
        spending.count(call)
        trace.noteServed(call)
      },
    },
    tools: run.host,
    stepOf: trace.stepOf,
    inbox: openInbox(assignment, api.coordination, run.redact),
    clock: deps.clock,
    signal: run.signal,
    limits: {
      maxIterations,
      maxToolCalls,
      toolTimeoutMs,
      trustsToolTimeouts,
      retryBlankAnswer: true,
      maxInterruptions,
      ...deadline,
      ...dropUndefined({ checkOutput }),
    },
    settings: dropUndefined({ maxTokens, temperature, outputSchema }),
    save: async (next) => {
      // What the last call has cost comes with the end.
      if (next.finished !== undefined) return
      await spending.settle()
      await trace.save(() => saveRun(next))
    },
    redact: run.redact,
    emit: (event) => {
      progressLog.write(event)
      trace.note(event)
      if (isKept(event)) deps.noteHeld?.(JSON.stringify(event).length)
    },
  }).finally(() => progressLog.end())
}

/** What the conversation has from now on. */
function isKept({ type }: LoopEvent): boolean {
  return type === 'turn' || type === 'tool_result' || type === 'prompt'
}

function readDeadline({ deadline }: WorkAssignment, now: Date): { deadline?: Date } {
  if (deadline === undefined) return {}
  const end = Date.parse(deadline)
  const left = end - now.getTime()
  const closingMs = Math.min(closing.maxMs, Math.max(closing.minMs, left * closingPart))
  return { deadline: new Date(left > 3 * closingMs ? end - closingMs : end) }
}

function describeRun(state: LoopState, ms: number): string {
  const { inputTokens, outputTokens } = state.usage
  return `[done: ${state.llmCalls} model calls, ${inputTokens} tokens in, ${outputTokens} out, ${(ms / 1000).toFixed(1)} s]`
}
