// Agent programs that nobody here wrote, unmodified, run by the engine of the worker through the proxies of the real service,
// with a double of each vendor behind it.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { LLMock } from '@copilotkit/aimock'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { acpRuntime } from '../../src/agents/acp/command.ts'
import { codehostCli } from '../../src/agents/codehost-cli/command.ts'
import { llmaCli } from '../../src/agents/llma-cli/command.ts'
import { llmoCli } from '../../src/agents/llmo-cli/command.ts'
import { opencode } from '../../src/agents/opencode/command.ts'
import type { AgentEvent, AgentJob, AgentRuntime } from '../../src/agents/runtime.ts'
import { runAgentProgram } from '../../src/worker/agent-program.ts'
import type { AgentEnd } from '../../src/worker/agent-verdict.ts'
import { canCloseNetwork, closeNetwork } from '../fixtures/agents/closed-network.ts'
import { plainPrograms } from '../fixtures/agents/plain-programs.ts'
import { layTraps } from '../fixtures/agents/traps.ts'
import { removeFolder, type Service, startService } from './service.ts'

const usage = { prompt_tokens: 21, completion_tokens: 9, input_tokens: 21, output_tokens: 9 }
const clients = join(import.meta.dirname, '..', 'clients')
const programs = join(clients, 'node_modules', '.bin')
/** Some of them are programs of Node. */
const path = [programs, dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':')

let service: Service
let vendor: LLMock
beforeAll(async () => {
  service = await startService()
  vendor = new LLMock({ port: 0, chunkSize: 64 })
  await vendor.start()
  await service.call('POST', '/api/v1/secrets', { name: 'vendor', stringData: { 'api-key': 'made-up-key-000000' } })
  for (const [name, type, suffix] of [
    ['llma-vendor', 'llma', ''],
    ['llmo-vendor', 'llmo', '/v1'],
  ]) {
    const spec = { type, baseURL: `${vendor.url}${suffix}`, secretRef: { name: 'vendor', key: 'api-key' } }
    const answer = await service.call('POST', '/api/v1/providers', { name, spec })
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  }
})
afterAll(async () => {
  await vendor?.stop()
  await service?.stop()
  removeFolder(service?.folder)
})
beforeEach(() => {
  vendor.clearFixtures()
  vendor.clearRequests()
  vendor.resetMatchCounts()
})

type Call = { name: string; arguments: string }
const call = (name: string, input: unknown): Call => ({ name, arguments: JSON.stringify(input) })

/** What a program calls its tools, and how they are used. */
type Program = {
  runtime: AgentRuntime
  model: string
  /** Writes `Good morning, proxy.` over the file. */
  edit(file: string): Call
  run(command: string): Call
  /** The names of both in events. */
  names: { edit: string; run: string }
}

const programsOfAll: Record<string, Program> = {
  'llma-cli': {
    runtime: llmaCli,
    model: 'llma-vendor/test-model',
    edit: (file) => call('Write', { file_path: file, content: 'Good morning, proxy.\n' }),
    run: (command) => call('Bash', { command, description: 'runs it' }),
    names: { edit: 'Write', run: 'Bash' },
  },
  'llmo-cli': {
    runtime: llmoCli,
    model: 'llmo-vendor/test-model',
    edit: (file) => call('exec_command', { cmd: `echo 'Good morning, proxy.' >${file}` }),
    run: (cmd) => call('exec_command', { cmd }),
    names: { edit: 'command_execution', run: 'command_execution' },
  },
  'codehost-cli': {
    runtime: codehostCli,
    model: 'llmo-vendor/test-model',
    edit: (path) => call('create', { path, file_text: 'Good morning, proxy.\n' }),
    run: (command) => call('bash', { command, description: 'runs it' }),
    names: { edit: 'create', run: 'bash' },
  },
  opencode: {
    runtime: opencode,
    model: 'llmo-vendor/test-model',
    edit: (filePath) => call('write', { filePath, content: 'Good morning, proxy.\n' }),
    run: (command) => call('bash', { command, description: 'runs it' }),
    names: { edit: 'write', run: 'bash' },
  },
  acp: {
    runtime: acpRuntime([process.execPath, join(clients, 'acp-agent.mjs')]),
    model: 'llmo-vendor/test-model',
    edit: (path) => call('write_file', { path, content: 'Good morning, proxy.\n' }),
    run: (command) => call('run_command', { command }),
    names: { edit: 'write_file', run: 'run_command' },
  },
}

type Place = { folder: string; job: AgentJob; file: string }

function makePlace(name: string, { model }: Program): Place {
  const folder = mkdtempSync(join(service.folder, 'agent-'))
  // Some unpack themselves into a new home, for seconds.
  const [workFolder, home] = [join(folder, 'work'), join(service.folder, `home-${name}`)]
  for (const each of [workFolder, home]) mkdirSync(each, { recursive: true })
  const proxy = { url: service.url, token: service.token }
  const job: AgentJob = {
    prompt: '',
    model,
    maxTurns: 5,
    allowBash: true,
    trustsFolder: false,
    workFolder,
    home,
    proxy,
  }
  return { folder, job, file: join(workFolder, 'greeting.txt') }
}

async function run(runtime: AgentRuntime, job: AgentJob): Promise<{ end: AgentEnd; events: AgentEvent[] }> {
  const events: AgentEvent[] = []
  const signal = AbortSignal.timeout(60_000)
  const end = await runAgentProgram(runtime, job, {
    path,
    programs: plainPrograms,
    signal,
    emit: (event) => events.push(event),
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

function requestsOf(double: LLMock): string {
  return JSON.stringify(double.getRequests())
}

function findProgram({ command }: AgentRuntime): string {
  return command.includes('/') ? command : join(programs, command)
}

/** Where the run is a report's, a program that is missing is a failure. */
function describeProgram(name: string, body: (program: Program) => void): void {
  const program = programsOfAll[name]
  if (program === undefined) throw new Error(name)
  const what = name === 'acp' ? join('..', '@agentclientprotocol', 'sdk') : program.runtime.command
  const isMissing = !existsSync(join(programs, what))
  const title = `the program of ${name}${isMissing ? ' (sh scripts/install-clients.sh installs it)' : ''}`
  describe.skipIf(isMissing && process.env.SVC_TEST_REPORT === undefined)(title, () => body(program))
}

describe.each(Object.keys(programsOfAll))('%s', (name) => {
  describeProgram(name, (program) => {
    it('edits a file, tells what it does, and goes on with its session later', async () => {
      const { job, file } = makePlace(name, program)
      script(/greet the proxy/, { calls: [program.edit(file)], answer: 'The file greets the proxy.' })
      const greeting = { ...job, prompt: 'greet the proxy', systemPrompt: 'Be brief as a haiku.' }
      const first = await run(program.runtime, greeting)
      expect(first.end).toMatchObject({ ok: true, result: 'The file greets the proxy.', turns: 2 })
      expect(readFileSync(file, 'utf8')).toBe('Good morning, proxy.\n')
      // Not every program names its session at the beginning.
      const told = first.events.filter(({ type }) => type !== 'session')
      expect(told).toMatchObject([
        { type: 'turn' },
        { type: 'tool_started', name: program.names.edit },
        { type: 'tool_ended', isError: false },
        { type: 'turn' },
        { type: 'text', text: 'The file greets the proxy.' },
        { type: 'result', text: 'The file greets the proxy.' },
      ])
      expect(requestsOf(vendor)).toContain('Be brief as a haiku.')
      // Tools of the service are not offered beside the program's own, which asks so where it can.
      if (name !== 'acp') expect(requestsOf(vendor)).not.toContain('code_exec')

      vendor.clearRequests()
      script(/what did you do/, { calls: [], answer: 'I wrote a greeting.' })
      const resume = first.end.sessionId ?? ''
      const second = await run(program.runtime, { ...job, prompt: 'what did you do?', resume })
      expect(second.end).toMatchObject({ ok: true, result: 'I wrote a greeting.' })
      expect(requestsOf(vendor)).toContain('greet the proxy')
    })

    it.skipIf(!canCloseNetwork)(
      'heeds neither the home of the user nor what lies in the folder, and calls nobody but the proxy',
      async () => {
        const { folder, job, file } = makePlace(name, program)
        const [home, work] = [join(folder, 'user'), job.workFolder]
        const traps = layTraps({ home, work }, join(folder, 'traces'))
        if (name === 'opencode') {
          const refusal = await run(program.runtime, { ...job, prompt: 'greet the proxy' })
          expect(refusal.end).toMatchObject({
            ok: false,
            reason: 'StartFailed',
            message: expect.stringContaining('would start code'),
          })
          for (const its of ['.opencode', 'opencode.json']) rmSync(join(work, its), { recursive: true })
        }
        const net = await closeNetwork(folder, service.url, home)
        script(/greet the proxy/, { calls: [program.edit(file)], answer: 'Done.' })
        const runtime = { ...program.runtime, command: net.wrap(findProgram(program.runtime)) }
        const { end } = await run(runtime, { ...job, prompt: 'greet the proxy' })
        await net.close()
        expect(end).toMatchObject({ ok: true, result: 'Done.' })
        expect(traps.sprung()).toEqual([])
        expect(requestsOf(vendor)).not.toContain(traps.mark)
        expect(net.attempts()).toEqual([])
      },
    )

    it('is stopped at its limit of turns, and runs no command where none is allowed', async () => {
      const { job, file } = makePlace(name, program)
      const command = program.run(`touch ${file}`)
      script(/be busy/, { calls: Array.from({ length: 9 }, () => command), answer: 'never said' })
      const allowBash = name === 'llmo-cli'
      const { end, events } = await run(program.runtime, { ...job, prompt: 'be busy', maxTurns: 3, allowBash })
      expect(end).toMatchObject({ ok: false, reason: 'TurnLimit', turns: 3 })
      expect(events.filter(({ type }) => type === 'turn')).toHaveLength(3)
      expect(existsSync(file)).toBe(allowBash)
    })
  })
})
