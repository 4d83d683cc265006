// One attempt of an agent task: runs the agent program in the workspace, reports what it does, submits what it says.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentEvent, AgentJob, AgentProgram } from '../../agents/agent-runtime.ts'
import { findRuntime } from '../../agents/runtimes.ts'
import type { AssignedAgent, WorkAssignment } from '../../contract/api/tasks/assignment.ts'
import type { RunFailure } from '../../contract/kinds/tasks/failures.ts'
import { gatePort } from '../../contract/values/proxy-variables.ts'
import { messageOf } from '../../errors.ts'
import { dropUndefined } from '../../lib/json.ts'
import { removeTree } from '../../lib/tree-removal.ts'
import type { Programs } from '../../ports/workspaces/sandbox.ts'
import { uploadArtifacts } from '../artifacts.ts'
import type { WorkerDeps } from '../deps.ts'
import { type AttemptOutcome, failRun, type RunEnd } from '../outcome.ts'
import { createProgress } from '../progress.ts'
import { createAgentProgressLog } from '../progress-log.ts'
import { type ReportedRun, runReported } from '../reported-run.ts'
import type { TaskLog } from '../task-log.ts'
import { writeInputs } from '../workspace-files.ts'
import { type AgentApprovals, openApprovals } from './agent-approvals.ts'
import { type WrittenSkills, writeSkills } from './agent-home.ts'
import { runAgentProgram } from './agent-program.ts'
import { restoreSession, type SessionLocation, saveSession, startWithSession } from './agent-session.ts'
import { createAgentTrace } from './agent-trace.ts'
import type { AgentEnd, AgentFailure } from './agent-verdict.ts'
import { openServiceForwarder, type ServiceForwarder } from './service-forwarder.ts'

/** Never throws. */
export function runAgent(assignment: WorkAssignment, deps: WorkerDeps, signal: AbortSignal): Promise<AttemptOutcome> {
  return runReported(assignment, { deps, signal }, async (run) => {
    const { agent } = assignment
    if (agent === undefined) return refuse('The assignment of an agent task names no program.')
    const { programs } = deps
    if (programs === undefined) return refuse('This worker cannot start programs of agents.')
    const home = await mkdtemp(join(tmpdir(), 'agent-'))
    const note = (line: string) => run.log.write(line, 'info')
    const service = await openServiceForwarder({ url: assignment.api.url, clock: deps.clock, ids: deps.ids, note })
    try {
      return await execute(run, { assignment, agent, deps, programs, signal, home, service })
    } finally {
      await service.close()
      await removeTree(home)
    }
  })
}

type Execution = {
  assignment: WorkAssignment
  agent: AssignedAgent
  deps: WorkerDeps
  programs: Programs
  signal: AbortSignal
  home: string
  service: ServiceForwarder
}

async function execute({ api, log, trace, redact, redactAll }: ReportedRun, execution: Execution): Promise<RunEnd> {
  const { assignment, agent, deps, programs, signal } = execution
  const { workspaceRoot } = deps
  const inputs = await writeInputs(api, { paths: assignment.inputs, workspaceRoot, isFresh: true })
  log.write(describeAgent(agent), 'info')
  const gap = await programs.isolationGap()
  if (gap !== undefined) log.write(`[the program is not kept apart from its worker: ${gap}]`, 'warn')
  const known = findRuntime(agent)
  if (known === undefined) return refuse(`This worker has no program called ${agent.runtime}.`)
  const runtime = withVariables(known, assignment)
  const { clock } = deps
  const note = (line: string) => log.write(line, 'info')
  const logEvent = createAgentProgressLog({ log, clock, redact: redactAll }, agent.model)
  const approvals = await openApprovals(api, {
    task: assignment.task,
    folders: { workFolder: deps.workspaceRoot, home: execution.home },
    redact: redactAll,
    note,
  })
  const skills = await writeSkills(assignment.skills ?? [], execution.home)
  const job = describeJob(execution, { skills, answers: approvals.answers })
  const { maxTurns, workFolder } = job
  const progress = createProgress({ send: api.reportProgress, redact: redactAll, clock, maxTurns, workFolder })
  const traceEvent = createAgentTrace(trace)
  const emit = (event: AgentEvent) => {
    logEvent(event)
    traceEvent(event)
    progress.note(event)
  }
  const { home } = execution
  const location: SessionLocation = { runtime, model: agent.model, home, workFolder, note }
  const ports = await openPorts(execution, gap, (line) => log.write(line, 'warn'))
  const surroundings = {
    programs,
    ...(ports && { ports }),
    signal,
    path: agent.path,
    launch: agent.launch,
    emit,
    redact: redactAll,
    askPerson: approvals.ask,
    lastRefusal: execution.service.lastRefusal,
  }
  const start = (job: AgentJob) => runAgentProgram(runtime, job, surroundings)
  const resume = assignment.session && (await restoreSession(api, location))
  const resumed = resume === undefined ? undefined : { ...job, prompt: assignment.loop.prompt, resume }
  const end = await startWithSession(start, { job, resumed, note: location.note })
  const reported = progress.end()
  if (!end.ok && end.reason === 'Parked') return park(approvals, reported)
  const uploaded = uploadArtifacts(deps, { api, keep: assignment.keep, inputs, note })
  if (!end.ok) {
    writeLastLines(end, log)
    await uploaded.catch((error: unknown) => log.write(`[artifacts are lost: ${messageOf(error)}]`, 'error'))
    await reported
    return { outcome: explainEnd(end, execution.service) }
  }
  await uploaded
  if (assignment.session) await saveSession({ api, readLeftFiles: deps.readLeftFiles, redact }, location, end.sessionId)
  log.write(describeEnd(end), 'info')
  await reported
  return { outcome: { ok: true }, result: redact(end.result) }
}

/** Undefined: the program has the network of its worker. */
async function openPorts(
  { assignment, service, home }: Execution,
  gap: string | undefined,
  note: (line: string) => void,
) {
  const { network } = assignment
  if (network === undefined) return undefined
  if (gap !== undefined && !network.isRequired) {
    note(`[the network of the program is not limited: ${gap}]`)
    return undefined
  }
  const own = join(home, 'service')
  await service.listenAt(own)
  return { [gatePort]: network.socket, [service.port]: own }
}

function refuse(message: string): RunEnd {
  return { outcome: failRun('UnsupportedTask', message) }
}

/** A program whose last call found no service for minutes has not failed by itself. */
function explainEnd({ reason, message }: Extract<AgentEnd, { ok: false }>, service: ServiceForwarder): AttemptOutcome {
  const isInterrupted = service.isAway() && (reason === 'AgentFailed' || reason === 'NoResult')
  return failRun(isInterrupted ? 'ServiceUnavailable' : reasons[reason], message)
}

function describeAgent({ runtime, launch, model }: AssignedAgent): string {
  return `[${[runtime, launch?.version].filter((part) => part !== undefined).join(' ')}, model ${model}]`
}

function writeLastLines(end: Extract<AgentEnd, { ok: false }>, log: TaskLog): void {
  for (const line of end.lastLines ?? []) log.write(`[printed last: ${line}]`, 'error')
}

/** What the run waits for comes with the end, and proves that it parked. */
async function park({ save }: AgentApprovals, reported: Promise<void>): Promise<RunEnd> {
  await reported
  const waits = await save()
  return { outcome: failRun('Parked', 'the run waits for a person, and begins again after the answer'), waits }
}

type JobParts = {
  skills: WrittenSkills
  /** What people have answered to earlier attempts. */
  answers: string
}

function describeJob({ assignment, agent, deps, home, service }: Execution, { skills, answers }: JobParts): AgentJob {
  const { runtime: _runtime, command: _command, launch: _launch, path: _path, token, ...limits } = agent
  const systemPrompt = [assignment.loop.systemPrompt, skills.listed].filter((text) => text !== '').join('\n\n')
  return dropUndefined({
    ...limits,
    prompt: [describePrompt(assignment), answers].filter((text) => text !== '').join('\n\n'),
    systemPrompt: systemPrompt === '' ? undefined : systemPrompt,
    trustsFolder: agent.trustsFolder ?? false,
    workFolder: deps.workspaceRoot,
    readFolders: skills.folders,
    home,
    proxy: { url: service.url, token },
  })
}

/** What was said before stands above the prompt of a program that begins without its own session. */
function describePrompt({ loop, session }: WorkAssignment): string {
  const past = (session?.messages ?? []).filter(({ role, content }) => role !== 'tool' && content.trim() !== '')
  if (past.length === 0) return loop.prompt
  const turns = past.map(({ role, content }) => `<${role}>\n${content}\n</${role}>`).join('\n')
  return `This conversation comes before:\n${turns}\n\n${loop.prompt}`
}

/** The task's own variables; what the program needs goes before them. */
function withVariables(runtime: AgentProgram, { task }: WorkAssignment): AgentProgram {
  return {
    ...runtime,
    prepare(job) {
      const start = runtime.prepare(job)
      const trace = dropUndefined({ TRACEPARENT: task.traceparent })
      return { ...start, env: { ...trace, ...task.variables, ...start.env } }
    },
  }
}

const reasons: Record<AgentFailure, RunFailure> = {
  ProgramMissing: 'ProgramMissing',
  StartFailed: 'AgentFailed',
  TurnLimit: 'TurnLimit',
  NoResult: 'AgentFailed',
  AgentFailed: 'AgentFailed',
  TooMuchOutput: 'AgentFailed',
  Killed: 'AgentKilled',
  Stopped: 'Stopped',
  Parked: 'Parked',
}

function describeEnd({ turns }: AgentEnd): string {
  return `[done: ${turns === 1 ? '1 turn' : `${turns} turns`}]`
}
