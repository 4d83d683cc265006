import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { plainPrograms as programs } from '../../../test/fixtures/agents/plain-programs.ts'
import type { AgentEvent, AgentJob, AgentProgram, AgentReading } from '../../agents/agent-runtime.ts'
import { type AgentSurroundings, type AskPerson, runAgentProgram } from './agent-program.ts'
import type { AgentEnd } from './agent-verdict.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-agent-'))
  mkdirSync(join(folder, 'work'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Its lines are events as they are. */
function read(line: string): AgentReading {
  try {
    return { events: [JSON.parse(line) as AgentEvent] }
  } catch {
    return { events: [] }
  }
}

function scripted(source: string, more: Partial<AgentProgram> = {}): AgentProgram {
  const prelude = `const say = (event) => process.stdout.write(JSON.stringify(event) + '\\n')\n`
  return {
    command: process.execPath,
    install: 'npm install --global it',
    prepare: (job) => ({
      args: ['--input-type=module', '--eval', prelude + source],
      env: { TOKEN: job.proxy.token },
      files: { 'settings/own.txt': 'settings' },
      input: job.prompt,
      staysOpen: false,
      reader: { read },
    }),
    ...more,
  }
}

type Outcome = { end: AgentEnd; events: AgentEvent[] }

async function run(
  runtime: AgentProgram,
  {
    onEvent,
    signal,
    maxOutput,
    askPerson,
    launch,
    silenceMs,
  }: {
    askPerson?: AskPerson
    launch?: AgentSurroundings['launch']
    silenceMs?: number
    onEvent?: () => void
    signal?: AbortSignal
    maxOutput?: { bytes: number; lines: number }
  } = {},
): Promise<Outcome> {
  const events: AgentEvent[] = []
  const job: AgentJob = {
    prompt: 'hello',
    model: 'p/m',
    maxTurns: 2,
    allowBash: true,
    trustsFolder: false,
    workFolder: join(folder, 'work'),
    readFolders: [],
    home: join(folder, 'home'),
    proxy: { url: 'http://127.0.0.1:1', token: 'made-up' },
  }
  const emit = (event: AgentEvent) => {
    events.push(event)
    onEvent?.()
  }
  const path = '/usr/bin:/bin'
  const end = await runAgentProgram(runtime, job, {
    path,
    programs,
    emit,
    ...(launch && { launch }),
    ...(silenceMs && { silenceMs }),
    redact: (text) => text.replaceAll('made-up-secret', '***'),
    signal: signal ?? new AbortController().signal,
    graceMs: 200,
    ...(maxOutput !== undefined && { maxOutput }),
    ...(askPerson !== undefined && { askPerson }),
  })
  return { end, events }
}

/** Whether the process still runs; one that nobody has waited for yet does not. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

describe('an agent program', () => {
  /** Asks twice at once, and its result is the answers; ignores SIGTERM. */
  function asking(): AgentProgram {
    const runtime = scripted(`
      process.on('SIGTERM', () => {})
      say({ type: 'session', id: String(process.pid) })
      for (const tool of ['first', 'second']) console.log(JSON.stringify({ tool }))
      let answers = ''
      process.stdin.on('data', (text) => {
        answers += text
        if (answers.split(';').length === 3) say({ type: 'result', text: answers })
        if (answers.split(';').length === 3) process.exit(0)
      })
      setInterval(() => {}, 1000)`)
    const settle = (refusal = 'yes') => ({ events: [], reply: `${refusal};` })
    const readQuestion = (line: string): AgentReading => {
      const { tool } = JSON.parse(line) as { tool?: string }
      return tool === undefined ? read(line) : { events: [], question: { tool, call: {}, settle } }
    }
    const prepare = (job: AgentJob) => ({
      ...runtime.prepare(job),
      input: '',
      staysOpen: true,
      reader: { read: readQuestion },
    })
    return { ...runtime, prepare }
  }

  it('that asks a person gets the answers one after the other; without anybody to ask it is refused', async () => {
    const askPerson: AskPerson = async ({ tool }) => (tool === 'first' ? {} : { refusal: 'no' })
    expect((await run(asking(), { askPerson })).end).toMatchObject({ ok: true, result: 'yes;no;' })
    const nobody = 'There is nobody to ask.;'
    expect((await run(asking())).end).toMatchObject({ ok: true, result: nobody + nobody })
  })

  it('that waits for a person is ended, and asks nothing more', async () => {
    const asked: string[] = []
    const askPerson: AskPerson = async ({ tool }) => {
      asked.push(tool)
      return 'wait'
    }
    const { end } = await run(asking(), { askPerson })
    expect(end).toMatchObject({ ok: false, reason: 'Parked' })
    expect(asked).toEqual(['first'])
    expect(isAlive(Number(end.sessionId))).toBe(false)
  })

  it('whose question cannot be put to a person has failed', async () => {
    const { end } = await run(asking(), { askPerson: async () => Promise.reject(new Error('the service is gone')) })
    expect(end).toMatchObject({ ok: false, reason: 'AgentFailed', message: expect.stringContaining('service is gone') })
  })

  it('has a home of its own, its files, its prompt, and nothing else of the environment', async () => {
    const { end } = await run(
      scripted(`
        import { readFileSync } from 'node:fs'
        const input = readFileSync(0, 'utf8')
        const file = readFileSync(process.env.HOME + '/settings/own.txt', 'utf8')
        say({ type: 'result', text: JSON.stringify({ input, file, cwd: process.cwd(), env: process.env }) })`),
    )
    const told = JSON.parse(end.ok ? end.result : '{}') as { env: Record<string, string> }
    expect(told).toMatchObject({ input: 'hello', file: 'settings', cwd: join(folder, 'work') })
    const { HOME, TMPDIR, PATH, TOKEN, LANG, TERM, NO_COLOR, ...rest } = told.env
    expect([HOME, TMPDIR]).toEqual([join(folder, 'home'), join(folder, 'home', 'tmp')])
    expect([PATH, TOKEN, LANG, TERM, NO_COLOR]).toEqual(['/usr/bin:/bin', 'made-up', 'C.UTF-8', 'dumb', '1'])
    expect(Object.keys(rest).filter((name) => !name.startsWith('XDG_'))).toEqual([])
  })

  it('that is not installed fails and says how to install it', async () => {
    const { end } = await run(scripted('', { command: 'no-such-agent' }))
    expect(end).toMatchObject({ ok: false, reason: 'ProgramMissing' })
    expect(end.ok ? '' : end.message).toContain('npm install --global it')
  })

  it('is not started where settings that it would heed lie above the folder', async () => {
    writeFileSync(join(folder, 'evil.json'), '')
    const runtime = scripted(`say({ type: 'result', text: 'ran' })`)
    const prepare = (job: AgentJob) => ({ ...runtime.prepare(job), refusedNames: ['evil.json'] })
    const { end } = await run({ ...runtime, prepare })
    expect(end).toMatchObject({ ok: false, reason: 'StartFailed' })
    expect(end).toHaveProperty('message', expect.stringMatching(/evil\.json names.* runtime\.trustRepository/))
  })

  it.each([
    ['exits 0 without a result', `say({ type: 'turn' })`, 'NoResult', 'exit code 0'],
    ['fails without a word of it', `console.error('no such flag'); process.exit(2)`, 'NoResult', 'no such flag'],
    [
      'crashes',
      `await import('no-such-package')`,
      'NoResult',
      'result: Error [ERR_MODULE_NOT_FOUND]: Cannot find package',
    ],
    ['ends in half a line', `process.stdout.write('{"type":"result","te')`, 'NoResult', 'exit code 0'],
    [
      'says that it failed',
      `say({ type: 'failed', message: 'overloaded', reason: 'other' })`,
      'AgentFailed',
      'overloaded',
    ],
    ['says so by its own limit', `say({ type: 'failed', message: 'x', reason: 'turns' })`, 'TurnLimit', '2 turns'],
  ])('that %s has failed', async (_what, source, reason, words) => {
    const { end } = await run(scripted(source))
    expect(end).toMatchObject({ ok: false, reason, message: expect.stringContaining(words) })
  })

  it('shows the last lines that it printed, plain and bounded, and says what to do', async () => {
    const noise = `console.error('\\x1b[31mred\\x1b[0m line\\x07'); console.error('y'.repeat(9000));`
    const { end } = await run(scripted(`${noise} console.error("error: unknown option '--new=one'"); process.exit(1)`))
    expect(end).toMatchObject({
      ok: false,
      reason: 'NoResult',
      message: expect.stringContaining('npm install --global it'),
    })
    expect(end).toMatchObject({ lastLines: ['red line', 'y'.repeat(500), "error: unknown option '--new=one'"] })
    const silent = await run(scripted(`console.log('Please log in first.'); process.exit(1)`))
    expect(silent.end).toMatchObject({
      message:
        'The program ended with exit code 1 and told no result: Please log in first. The log of the task has its last lines.',
      lastLines: ['Please log in first.'],
    })
  })

  it('is not silent for long', async () => {
    const stopping = new AbortController()
    const { events } = await run(scripted('setInterval(() => {}, 1000)'), {
      silenceMs: 20,
      onEvent: () => stopping.abort(),
      signal: stopping.signal,
    })
    expect(events[0]).toMatchObject({ type: 'silent' })
  })

  it('that was found is gone when it starts', async () => {
    const launch = { argv: [process.execPath, join(folder, 'gone.js')], folders: [] }
    const { end } = await run(scripted(''), { launch })
    expect(end).toMatchObject({ ok: false, reason: 'ProgramMissing' })
    expect(end).toMatchObject({ message: expect.stringMatching(/gone\.js is gone.*npm install --global it/) })
  })

  it('shows no part of a secret where its errors are cut short', async () => {
    const { end } = await run(scripted(`console.error('Error: made-up-secret' + '.'.repeat(1995))`))
    expect(end).toMatchObject({ ok: false, message: expect.stringMatching(/no result: : \*\*\*\.+ The log/) })
  })

  it('that ignores its limit of turns is stopped, even if it ignores SIGTERM', async () => {
    const source = `process.on('SIGTERM', () => {}); setInterval(() => say({ type: 'turn' }), 5)`
    const { end, events } = await run(scripted(source))
    expect(end).toMatchObject({ ok: false, reason: 'TurnLimit', turns: 2 })
    expect(events).toHaveLength(2)
  })

  it('that hangs ends with everything that it started', async () => {
    const source = `
      import { spawn } from 'node:child_process'
      const { pid } = spawn('/bin/sh', ['-c', 'trap "" TERM; while :; do sleep 1; done'], { stdio: 'inherit' })
      process.on('SIGTERM', () => {})
      say({ type: 'session', id: String(pid) })
      setInterval(() => {}, 1000)`
    const stopping = new AbortController()
    const { end } = await run(scripted(source), { onEvent: () => stopping.abort(), signal: stopping.signal })
    expect(end).toMatchObject({ ok: false, reason: 'Stopped' })
    await expect.poll(() => isAlive(Number(end.sessionId))).toBe(false)
  })

  it('leaves nothing running behind a result', async () => {
    const source = `
      import { spawn } from 'node:child_process'
      const { pid } = spawn('/bin/sleep', ['1000'], { stdio: 'inherit' })
      say({ type: 'session', id: String(pid) })
      say({ type: 'result', text: 'done' })
      process.exit(0)`
    const { end } = await run(scripted(source))
    expect(end).toMatchObject({ ok: true, result: 'done' })
    await expect.poll(() => isAlive(Number(end.sessionId))).toBe(false)
  })

  it('ends with its result though a process that left its group holds its output', async () => {
    const source = `
      import { spawn } from 'node:child_process'
      const { pid } = spawn('/bin/sleep', ['3'], { stdio: 'inherit', detached: true })
      say({ type: 'session', id: String(pid) })
      say({ type: 'result', text: 'done' })
      process.exit(0)`
    const { end } = await run(scripted(source))
    expect(end).toMatchObject({ ok: true, result: 'done' })
    // Within a sandbox it would have ended; a plain group cannot reach it.
    expect(isAlive(Number(end.sessionId))).toBe(true)
  })

  it.each([
    ['output', `const [stream, line] = [process.stdout, 'x'.repeat(1000)]`, '4 MiB'],
    ['errors', `const [stream, line] = [process.stderr, 'x'.repeat(1000)]`, '4 MiB'],
    ['output with short lines', `const [stream, line] = [process.stdout, '{}']`, '10000 lines'],
  ])('that floods its %s is stopped', async (_what, source, words) => {
    const flood = `
      process.on('SIGTERM', () => {})
      const lines = (line + '\\n').repeat(1000)
      const flood = () => { while (stream.write(lines)); stream.once('drain', flood) }
      flood()`
    const { end } = await run(scripted(source + flood), { maxOutput: { bytes: 4 * 1024 ** 2, lines: 10_000 } })
    const message = `The program printed more than ${words}.`
    expect(end).toMatchObject({ ok: false, reason: 'TooMuchOutput', message })
  })

  it.each([
    ['is killed', `process.kill(process.pid, 'SIGKILL')`],
    [
      'fills its own heap',
      `import { spawnSync } from 'node:child_process'
      const hoard = 'const all = []; for (;;) all.push(new Array(1000).fill({}))'
      spawnSync(process.execPath, ['--max-old-space-size=16', '--eval', hoard], { stdio: 'inherit' })
      process.exit(134)`,
    ],
  ])('that %s ends with a reason that says memory', async (_what, source) => {
    const { end } = await run(scripted(source))
    expect(end).toMatchObject({ ok: false, reason: 'Killed', message: expect.stringContaining('memory') })
  })

  it('may flood its errors, of which the last words are told', async () => {
    const source = `
      import { writeSync } from 'node:fs'
      for (let i = 0; i < 80; i++) writeSync(2, 'x'.repeat(1024 ** 2) + '\\n')
      writeSync(2, 'out of ideas\\n')
      process.exitCode = 3`
    const { end } = await run(scripted(source))
    expect(end).toMatchObject({ ok: false, reason: 'NoResult', message: expect.stringContaining('out of ideas') })
    expect(end.ok ? '' : end.message.length).toBeLessThan(5000)
  })

  it('keeps its result when it is stopped afterwards', async () => {
    const stopping = new AbortController()
    const source = `say({ type: 'result', text: 'done' }); setInterval(() => {}, 1000)`
    const { end } = await run(scripted(source), { onEvent: () => stopping.abort(), signal: stopping.signal })
    expect(end).toMatchObject({ ok: true, result: 'done' })
  })

  it('may print a line without an end and lines that are no events', async () => {
    const source = `
      const wait = () => new Promise((done) => process.stdout.once('drain', done))
      for (let i = 0; i < 40; i++) if (!process.stdout.write('x'.repeat(1024 ** 2))) await wait()
      process.stdout.write('\\nnonsense\\n')
      say({ type: 'result', text: 'done' })`
    const { end } = await run(scripted(source))
    expect(end).toMatchObject({ ok: true, result: 'done' })
  })
})
