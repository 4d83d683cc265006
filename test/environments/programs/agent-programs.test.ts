// Agent programs that nobody here wrote, unmodified, run by the engine of the worker through the proxies of the real service,
// with a double of each vendor behind it.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { LLMock } from '@copilotkit/aimock'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { acpRuntime } from '../../../src/agents/acp/client.ts'
import type { AgentEvent, AgentJob, AgentProgram } from '../../../src/agents/agent-runtime.ts'
import { codehostCli } from '../../../src/agents/codehost-cli.ts'
import { llmaCli } from '../../../src/agents/llma-cli.ts'
import { llmoCli } from '../../../src/agents/llmo-cli.ts'
import { opencode } from '../../../src/agents/opencode.ts'
import type { ProgramSession } from '../../../src/contract/api/chat/program-sessions.ts'
import type { AssignedSkill } from '../../../src/contract/api/tasks/assignment.ts'
import { readLeftFiles } from '../../../src/runtime/folders/left-files.ts'
import { probeBubblewrap } from '../../../src/runtime/local/confinement/bubblewrap.ts'
import { createPrograms } from '../../../src/runtime/local/sandbox/programs.ts'
import { writeSkills } from '../../../src/worker/agent/agent-home.ts'
import { runAgentProgram } from '../../../src/worker/agent/agent-program.ts'
import { restoreSession, saveSession, startWithSession } from '../../../src/worker/agent/agent-session.ts'
import type { AgentEnd } from '../../../src/worker/agent/agent-verdict.ts'
import { canCloseNetwork, closeNetwork } from '../../fixtures/agents/closed-network.ts'
import { plainPrograms } from '../../fixtures/agents/plain-programs.ts'
import { makeJob } from '../../fixtures/agents/program-runs.ts'
import { type AskedModel, effortOf, listOffered, type Recorder, startRecorder } from '../../fixtures/agents/recorder.ts'
import { layTraps } from '../../fixtures/agents/traps.ts'
import { type Call, call, writeCalls } from '../../fixtures/agents/write-calls.ts'
import { addVendors } from '../../fixtures/proxy/vendors.ts'
import { removeFolder, type Service, startService } from '../../scenarios/service.ts'

const probe = await probeBubblewrap()
const usage = { prompt_tokens: 21, completion_tokens: 9, input_tokens: 21, output_tokens: 9 }
const clients = join(import.meta.dirname, '..', '..', 'clients')
/** The programs of another version are tried with the folder that has them. */
const programs = process.env.SVC_TEST_PROGRAMS ?? join(clients, 'node_modules', '.bin')
/** Some of them are programs of Node. */
const path = [programs, dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':')

let service: Service
let vendor: LLMock
let recorder: Recorder
beforeAll(async () => {
  service = await startService()
  vendor = new LLMock({ port: 0, chunkSize: 64 })
  await vendor.start()
  recorder = await startRecorder(vendor.url)
  await addVendors(service, recorder.url, { llma: 'llma-vendor', llmo: 'llmo-vendor' })
})
afterAll(async () => {
  await recorder?.stop()
  await vendor?.stop()
  await service?.stop()
  removeFolder(service?.folder)
})
beforeEach(() => {
  vendor.clearFixtures()
  recorder.bodies.length = 0
  vendor.resetMatchCounts()
})

const greeting = 'Good morning, proxy.\n'

/** What a program calls its tools, and how they are used. */
type Program = {
  runtime: AgentProgram
  model: string
  /** Writes the greeting over the file. */
  edit(file: string): Call
  read(file: string): Call
  run(command: string): Call
  /** What they are called in events. */
  names: { read: string; edit: string; run: string }
  /** Another tool that it has. */
  other: string
  /** What it offers to the model when only `read` and `edit` are allowed; absent: everything. */
  offered?: string[]
}

const programsOfAll: Record<string, Program> = {
  'llma-cli': {
    runtime: llmaCli,
    model: 'llma-vendor/test-model',
    read: (file) => call('Read', { file_path: file }),
    edit: (file) => writeCalls['llma-cli'](file, greeting),
    run: (command) => call('Bash', { command, description: 'runs it' }),
    names: { read: 'Read', edit: 'Write', run: 'Bash' },
    other: 'Agent',
    offered: ['Read', 'DeferredToolPlaceholder', 'Write'],
  },
  'llmo-cli': {
    runtime: llmoCli,
    model: 'llmo-vendor/test-model',
    read: (file) => call('exec_command', { cmd: `cat ${file}` }),
    edit: (file) => writeCalls['llmo-cli'](file, greeting),
    run: (cmd) => call('exec_command', { cmd }),
    names: { read: 'command_execution', edit: 'command_execution', run: 'command_execution' },
    other: 'view_image',
  },
  'codehost-cli': {
    runtime: codehostCli,
    model: 'llmo-vendor/test-model',
    read: (path) => call('view', { path }),
    edit: (file) => writeCalls['codehost-cli'](file, greeting),
    run: (command) => call('bash', { command, description: 'runs it' }),
    names: { read: 'view', edit: 'create', run: 'bash' },
    other: 'task',
    offered: ['view', 'create'],
  },
  opencode: {
    runtime: opencode,
    model: 'llmo-vendor/test-model',
    read: (filePath) => call('read', { filePath }),
    edit: (file) => writeCalls.opencode(file, greeting),
    run: (command) => call('bash', { command, description: 'runs it' }),
    names: { read: 'read', edit: 'write', run: 'bash' },
    other: 'task',
    offered: ['edit', 'read', 'write'],
  },
  acp: {
    runtime: acpRuntime([process.execPath, join(clients, 'acp-agent.mjs')]),
    model: 'llmo-vendor/test-model',
    read: (path) => call('read_file', { path }),
    edit: (file) => writeCalls.acp(file, greeting),
    run: (command) => call('run_command', { command }),
    names: { read: 'read_file', edit: 'write_file', run: 'run_command' },
    other: 'run_command',
  },
}

const greetings: AssignedSkill = {
  name: 'greetings',
  description: 'How we greet.',
  inline: 'Greet in English.',
  files: { 'examples/short.md': 'A greeting ends with a stop.' },
}

type Place = { folder: string; job: AgentJob; file: string }

function makePlace(name: string, { model }: Program): Place {
  const folder = mkdtempSync(join(service.folder, 'agent-'))
  // Some unpack themselves into a new home, for seconds.
  const job = makeJob(service, { folder, home: join(service.folder, `home-${name}`), prompt: '', model })
  return { folder, job, file: join(job.workFolder, 'greeting.txt') }
}

async function run(
  runtime: AgentProgram,
  job: AgentJob,
  programs = plainPrograms,
): Promise<{ end: AgentEnd; events: AgentEvent[] }> {
  const events: AgentEvent[] = []
  const signal = AbortSignal.timeout(60_000)
  const end = await runAgentProgram(runtime, job, {
    path,
    programs,
    signal,
    emit: (event) => events.push(event),
    redact: (text) => text,
  })
  return { end, events }
}

function script(about: RegExp, { calls, answer }: { calls: Call[]; answer: string }): void {
  calls.forEach((each, turn) => {
    vendor.on({ userMessage: about, turnIndex: turn }, { toolCalls: [each], usage })
  })
  vendor.on({ userMessage: about, turnIndex: calls.length }, { content: answer, usage })
  // Titles, and whatever else a program asks for in passing.
  vendor.on({ userMessage: /.*/ }, { content: 'ok', usage })
}

function listAsked(): AskedModel[] {
  return recorder.bodies.map((body) => JSON.parse(body) as AskedModel)
}

/** The effort that was wanted, and tools that are allowed. */
function checkAsked(name: string, { offered }: Program): void {
  const asked = listAsked()
  expect([...new Set(asked.map(effortOf))]).toEqual([name === 'acp' ? undefined : 'low'])
  const tools = [...new Set(asked.flatMap(listOffered))]
  if (offered !== undefined) expect(tools).toEqual(offered)
  // Tools of the service are not offered beside the program's own, which asks so where it can.
  if (name !== 'acp') expect(tools).not.toContain('code_exec')
}

/** What is offered to the model when a tool is not; whatever there is where tools cannot be limited. */
function listLeft({ offered }: Program, tool: string): unknown {
  return offered?.filter((each) => each !== tool).sort() ?? expect.anything()
}

function expectParts(text: string | undefined, parts: string[]): void {
  for (const part of parts) expect(text).toContain(part)
}

/** From one home to another, as from one task to the next. */
async function carrySession(
  { runtime }: Program,
  { job, session }: { job: AgentJob; session: string },
  next: AgentJob,
): Promise<{ id: string | undefined; text: string | undefined }> {
  const kept: ProgramSession[] = []
  const api = {
    keepProgramSession: async (_model: string, one: ProgramSession) => void kept.push(one),
    readProgramSession: async () => kept[0],
  }
  const place = { runtime, model: job.model, note: () => undefined }
  await saveSession({ api, readLeftFiles, redact: (text) => text }, { ...place, ...job }, session)
  return { id: await restoreSession(api, { ...place, ...next }), text: kept[0]?.text }
}

function findProgram({ command }: AgentProgram): string {
  return command.includes('/') ? command : join(programs, command)
}

type World = { runtime: AgentProgram; close(): Promise<void> }

/**
 * A home of the user and a work folder that are full of traps, and a network in which only the service answers; checked
 * when it closes. Where that cannot be made the program runs in the open.
 */
async function enterWorld({ runtime }: Program, { folder, job }: Omit<Place, 'file'>): Promise<World> {
  if (!canCloseNetwork) return { runtime, close: () => Promise.resolve() }
  const [home, work] = [join(folder, 'user'), job.workFolder]
  const traps = layTraps({ home, work }, join(folder, 'traces'))
  const { refusedNames = [] } = runtime.prepare(job)
  if (refusedNames.length > 0) {
    const { end } = await run(runtime, job)
    const message = expect.stringContaining('would start code')
    expect(end).toMatchObject({ ok: false, reason: 'StartFailed', message })
  }
  for (const name of refusedNames) rmSync(join(work, name), { recursive: true, force: true })
  const net = await closeNetwork(folder, service.url, home)
  return {
    runtime: { ...runtime, command: net.wrap(findProgram(runtime)) },
    async close() {
      await net.close()
      expect(traps.sprung()).toEqual([])
      expect(recorder.bodies.join()).not.toContain(traps.mark)
      expect(net.attempts()).toEqual([])
    },
  }
}

/** Where the run is a report's, a program that is missing is a failure. */
function describeProgram(name: string, body: (program: Program) => void): void {
  const program = programsOfAll[name]
  if (program === undefined) throw new Error(name)
  const what = name === 'acp' ? join(clients, 'node_modules', '@agentclientprotocol', 'sdk') : program.runtime.command
  const isMissing = !existsSync(resolve(programs, what))
  const title = `the program of ${name}${isMissing ? ' (sh scripts/install-clients.sh installs it)' : ''}`
  describe.skipIf(isMissing && process.env.SVC_TEST_REPORT === undefined)(title, () => body(program))
}

describe.each(Object.keys(programsOfAll))('%s', (name) => {
  describeProgram(name, (program) => {
    let earlier: { job: AgentJob; session: string }

    it('reads a skill, edits a file and tells what it does, as it was told to', async () => {
      const { folder, job, file } = makePlace(name, program)
      const { listed, folders } = await writeSkills([greetings], job.home)
      const skill = join(job.home, 'skills', 'greetings', 'examples', 'short.md')
      const world = await enterWorld(program, { folder, job })
      script(/greet the proxy/, {
        calls: [program.read(skill), program.edit(file)],
        answer: 'The file greets the proxy.',
      })
      const { names, other } = program
      const rules = { allowedTools: [names.read, names.edit, other], disallowedTools: [other] }
      const { end, events } = await run(world.runtime, {
        ...job,
        ...(name !== 'llmo-cli' && rules),
        prompt: 'greet the proxy',
        systemPrompt: `Be brief as a haiku.\n\n${listed}`,
        readFolders: folders,
        reasoningEffort: 'low',
      })
      await world.close()
      expect(end).toMatchObject({ ok: true, result: 'The file greets the proxy.', turns: 3 })
      expect(readFileSync(file, 'utf8')).toBe(greeting)
      // Not every program names its session at the beginning, and on a slow machine one is silent for long.
      const told = events.filter(({ type }) => type !== 'session' && type !== 'silent')
      expect(told).toMatchObject([
        { type: 'turn' },
        { type: 'tool_started', name: program.names.read },
        { type: 'tool_ended', isError: false },
        { type: 'turn' },
        { type: 'tool_started', name: program.names.edit },
        { type: 'tool_ended', isError: false },
        { type: 'turn' },
        { type: 'text', text: 'The file greets the proxy.' },
        { type: 'result', text: 'The file greets the proxy.' },
      ])
      expect(recorder.bodies.join()).toContain('Be brief as a haiku.')
      expect(recorder.bodies.join()).toContain('A greeting ends with a stop.')
      checkAsked(name, program)
      earlier = { job, session: end.sessionId ?? '' }
    })

    const { sessionFile } = program.runtime
    it.skipIf(sessionFile === undefined)(
      'goes on with its session in another home, within limits of its own',
      async () => {
        const { folder, job } = makePlace(name, program)
        const next = { ...job, home: join(folder, 'home') }
        const { id: resume } = await carrySession(program, earlier, next)
        expect(resume).toBe(earlier.session)
        script(/greet again/, { calls: [], answer: 'It has been greeted.' })
        const { read, edit } = program.names
        const { end } = await run(program.runtime, {
          ...next,
          ...(name !== 'llmo-cli' && { allowedTools: [read] }),
          prompt: 'greet again',
          systemPrompt: 'Be loud as a storm.',
          ...(resume !== undefined && { resume }),
        })
        expect(end).toMatchObject({ ok: true, result: 'It has been greeted.', turns: 1, sessionId: resume })
        const asked = recorder.bodies.join()
        expectParts(asked, ['greet the proxy', 'ends with a stop.', 'The file greets the proxy.', 'loud as a storm'])
        // Instructions of the first run hold for that run alone; Copilot has no place for them but its prompt.
        if (name !== 'codehost-cli') expect(asked).not.toContain('Be brief as a haiku.')
        expect([...new Set(listAsked().flatMap(listOffered))].sort()).toEqual(listLeft(program, edit))
        const third = { ...job, home: join(folder, 'third') }
        const { text } = await carrySession(program, { job: next, session: earlier.session }, third)
        expectParts(text, ['greet the proxy', 'greet again', 'It has been greeted.'])
      },
    )

    it.skipIf(sessionFile === undefined)('begins with the text of a session that it cannot read', async () => {
      const { job, folder } = makePlace(name, program)
      const place = { runtime: program.runtime, model: job.model, note: () => undefined }
      const home = join(folder, 'home')
      const api = { readProgramSession: async () => ({ id: earlier.session, text: '{"type":"half a li' }) }
      const resume = (await restoreSession(api, { ...place, ...job, home })) ?? ''
      script(/from the text/, { calls: [], answer: 'So it begins.' })
      const asked = { ...job, home }
      const notes: string[] = []
      const end = await startWithSession(async (one) => (await run(program.runtime, one)).end, {
        job: { ...asked, prompt: 'from the text' },
        resumed: { ...asked, prompt: 'from its own session', resume },
        note: (line) => void notes.push(line),
      })
      expect(end).toMatchObject({ ok: true, result: 'So it begins.' })
      expect(notes).toEqual([expect.stringContaining('begins with the text')])
      expect(recorder.bodies.join()).not.toContain('from its own session')
    })

    // Codex and programs of one's own have no rules for it: their sandbox alone holds them to it.
    it.runIf(['llma-cli', 'codehost-cli', 'opencode'].includes(name))(
      'reads nothing beside its folder where it may read only',
      async () => {
        const { folder, job } = makePlace(name, program)
        const outside = join(folder, 'outside.txt')
        writeFileSync(outside, 'what lies beside it')
        script(/look around/, { calls: [program.read(outside)], answer: 'That is all.' })
        const rules = { allowedTools: [program.names.read], allowBash: false }
        const { end } = await run(program.runtime, { ...job, ...rules, prompt: 'look around' })
        expect(end).toMatchObject({ ok: true, result: 'That is all.' })
        expect(recorder.bodies.join()).toContain(outside)
        expect(recorder.bodies.join()).not.toContain('what lies beside it')
      },
    )

    // Programs of one's own are shown as their owner says.
    it.runIf(probe.available && name !== 'acp')(
      'reads nothing of the machine in its sandbox, whatever it runs',
      async () => {
        const { folder, job } = makePlace(name, program)
        const outside = join(folder, 'outside.txt')
        writeFileSync(outside, 'what lies beside it')
        const look = `echo ran-$((6 * 7)); cat ${outside} ~/.ssh/* /etc/shadow /etc/passwd-; ls -R /root /home /var ${folder}; exit 0\n`
        writeFileSync(join(job.workFolder, 'look.sh'), look)
        script(/look everywhere/, { calls: [program.run('sh look.sh 2>&1')], answer: 'That is all.' })
        const sandboxed = createPrograms({ nodePath: process.execPath, bubblewrap: Promise.resolve(probe) })
        const { end } = await run(program.runtime, { ...job, prompt: 'look everywhere' }, sandboxed)
        expect(end).toMatchObject({ ok: true, result: 'That is all.' })
        const asked = recorder.bodies.join()
        expect(asked).toContain('ran-42')
        expect(/what lies beside it|root:[x*!$]/.exec(asked)?.[0]).toBeUndefined()
      },
    )

    it('goes on with its session, is stopped at its limit of turns, and runs no command where none is allowed', async () => {
      const { job, session } = earlier
      const file = join(job.workFolder, 'touched')
      const command = program.run(`touch ${file}`)
      script(/be busy/, { calls: Array.from({ length: 9 }, () => command), answer: 'never said' })
      const isAllowed = name === 'llmo-cli'
      const rules = isAllowed ? {} : { allowBash: false, allowedTools: [program.names.run] }
      const { end, events } = await run(program.runtime, {
        ...job,
        ...rules,
        prompt: 'be busy',
        maxTurns: 3,
        resume: session,
      })
      expect(end).toMatchObject({ ok: false, reason: 'TurnLimit', turns: 3 })
      expect(events.filter(({ type }) => type === 'turn')).toHaveLength(3)
      expect(recorder.bodies.join()).toContain('greet the proxy')
      expect(existsSync(file)).toBe(isAllowed)
      if (program.offered !== undefined) expect(listAsked().flatMap(listOffered)).not.toContain(program.names.run)
    })
  })
})

describeProgram('opencode', (program) => {
  it('installs nothing when it starts in a new home', async () => {
    const { job } = makePlace('opencode-new', program)
    script(/say little/, { calls: [], answer: 'Little.' })
    // Of a short run its log file has nothing: it is written once a second.
    const { runtime } = program
    const telling: AgentProgram = {
      ...runtime,
      prepare(one) {
        const prepared = runtime.prepare(one)
        return { ...prepared, args: [...prepared.args, '--print-logs'] }
      },
    }
    let log = ''
    const programs: typeof plainPrograms = {
      ...plainPrograms,
      async start(...launch) {
        const running = await plainPrograms.start(...launch)
        running.stderr.on('data', (chunk) => {
          log += chunk
        })
        return running
      },
    }
    const { end } = await run(telling, { ...job, prompt: 'say little' }, programs)
    expect(end).toMatchObject({ ok: true, result: 'Little.' })
    expect(log).toContain('creating instance')
    expect(log).not.toContain('install')
  })
})
