// One attempt of an agent task: runs the agent program in the workspace, tells what it does, submits what it says.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentEvent, AgentJob, AgentRuntime } from '../../agents/runtime.ts'
import { findRuntime } from '../../agents/runtimes.ts'
import type { AssignedAgent, WorkAssignment } from '../../contract/api/tasks/assignment.ts'
import type { RunFailure } from '../../contract/kinds/tasks/failures.ts'
import { dropUndefined } from '../../contract/schema/json.ts'
import { messageOf } from '../../errors.ts'
import type { Programs } from '../../ports/workspaces/programs.ts'
import { uploadArtifacts } from '../artifacts.ts'
import type { WorkerDeps } from '../deps.ts'
import { placeInputs } from '../inputs.ts'
import { type AttemptOutcome, failRun } from '../outcome.ts'
import { createProgress } from '../progress.ts'
import { type ReportedRun, runReported } from '../reported-run.ts'
import type { TaskLog } from '../task-log.ts'
import { type AgentApprovals, openApprovals } from './agent-approvals.ts'
import { createTeller } from './agent-narrator.ts'
import { runAgentProgram } from './agent-program.ts'
import { keepSession, laySession, type SessionPlace, startWithSession } from './agent-session.ts'
import { type LaidSkills, laySkills } from './agent-skills.ts'
import type { AgentEnd, AgentFailure } from './agent-verdict.ts'

/** Never throws. */
export function runAgent(assignment: WorkAssignment, deps: WorkerDeps, signal: AbortSignal): Promise<AttemptOutcome> {
  return runReported(assignment, { deps, signal }, async (run) => {
    const { agent } = assignment
    if (agent === undefined) return failRun('UnsupportedTask', 'The assignment of an agent task names no program.')
    const { programs } = deps
    if (programs === undefined) return failRun('UnsupportedTask', 'This worker cannot start programs of agents.')
    const home = await mkdtemp(join(tmpdir(), 'agent-'))
    try {
      return await execute(run, { assignment, agent, deps, programs, signal, home })
    } finally {
      await rm(home, { recursive: true, force: true })
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
}

async function execute({ api, log, redact, redactAll }: ReportedRun, execution: Execution): Promise<AttemptOutcome> {
  const { assignment, agent, deps, programs, signal } = execution
  const { workspaceRoot } = deps
  const given = await placeInputs(api, { paths: assignment.inputs, workspaceRoot, isFresh: true })
  log.write(`[${agent.runtime}, model ${agent.model}]`)
  const weakness = await programs.findWeakness()
  if (weakness !== undefined) log.write(`[the program is not kept apart from its worker: ${weakness}]`)
  const known = findRuntime(agent)
  if (known === undefined) return failRun('UnsupportedTask', `This worker has no program called ${agent.runtime}.`)
  const runtime = withVariables(known, assignment)
  const { clock } = deps
  const tell = createTeller({ log, clock, redact: redactAll })
  const approvals = await openApprovals(api, {
    task: assignment.task,
    places: { workFolder: deps.workspaceRoot, home: execution.home },
    redact: redactAll,
    note: (line) => log.write(line),
  })
  const skills = await laySkills(assignment.skills ?? [], execution.home)
  const job = describeJob(execution, { skills, answers: approvals.answers })
  const { maxTurns, workFolder } = job
  const progress = createProgress({ send: api.reportProgress, redact: redactAll, clock, maxTurns, workFolder })
  const emit = (event: AgentEvent) => {
    tell(event)
    progress.note(event)
  }
  const { home } = execution
  const place: SessionPlace = { runtime, model: agent.model, home, workFolder, note: (line) => log.write(line) }
  const surroundings = { programs, signal, path: agent.path, emit, redact: redactAll, askPerson: approvals.ask }
  const start = (asked: AgentJob) => runAgentProgram(runtime, asked, surroundings)
  const resume = assignment.session && (await laySession(api, place))
  const resumed = resume === undefined ? undefined : { ...job, prompt: assignment.loop.prompt, resume }
  const end = await startWithSession(start, { job, resumed, note: place.note })
  const told = progress.end()
  if (!end.ok && end.reason === 'Parked') return park(approvals, { told, log })
  const kept = uploadArtifacts(deps, { api, keep: assignment.keep, given, note: (line) => log.write(line) })
  if (!end.ok) {
    await kept.catch((error: unknown) => log.write(`[artifacts are lost: ${messageOf(error)}]`))
    await told
    return failRun(reasons[end.reason], end.message)
  }
  await kept
  if (assignment.session) await keepSession({ api, readLeftFiles: deps.readLeftFiles, redact }, place, end.sessionId)
  log.write(describeEnd(end))
  await Promise.all([api.submitResult(redact(end.result)), log.flush(), told])
  return { ok: true }
}

/** What the run waits for is stored last, and proves that it parked. */
async function park({ park }: AgentApprovals, { told, log }: { told: Promise<void>; log: TaskLog }) {
  await Promise.all([told, log.flush()])
  await park()
  return failRun('Parked', 'the run waits for a person, and begins again after the answer')
}

type Given = {
  skills: LaidSkills
  /** What people have answered to earlier attempts. */
  answers: string
}

function describeJob({ assignment, agent, deps, home }: Execution, { skills, answers }: Given): AgentJob {
  const { runtime: _runtime, command: _command, path: _path, token, ...limits } = agent
  const systemPrompt = [assignment.loop.systemPrompt, skills.listed].filter((text) => text !== '').join('\n\n')
  return dropUndefined({
    ...limits,
    prompt: [describePrompt(assignment), answers].filter((text) => text !== '').join('\n\n'),
    systemPrompt: systemPrompt === '' ? undefined : systemPrompt,
    trustsFolder: false,
    workFolder: deps.workspaceRoot,
    readFolders: skills.folders,
    home,
    proxy: { url: assignment.api.url, token },
  })
}

/** What was said before stands above the prompt of a program that begins without its own session. */
function describePrompt({ loop, session }: WorkAssignment): string {
  const past = (session?.messages ?? []).filter(({ role, content }) => role !== 'tool' && content.trim() !== '')
  if (past.length === 0) return loop.prompt
  const said = past.map(({ role, content }) => `<${role}>\n${content}\n</${role}>`).join('\n')
  return `This conversation comes before:\n${said}\n\n${loop.prompt}`
}

/** The task's own variables; what the program needs goes before them. */
function withVariables(runtime: AgentRuntime, { task }: WorkAssignment): AgentRuntime {
  return {
    ...runtime,
    prepare(job) {
      const start = runtime.prepare(job)
      return { ...start, env: { ...task.variables, ...start.env } }
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
