// `svc chat`: from a script, in a pipe, and in a conversation on a terminal; other commands that ask a person.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type ScriptedVendor, startVendor } from '../fixtures/llm/scripted-vendor.ts'
import { waitFor } from '../fixtures/time.ts'
import { makeProvider, readSession } from './chat-client.ts'
import { launcher, launchSvc, removeFolder, runSvc, type Service, startService } from './service.ts'

let service: Service
let vendor: ScriptedVendor
let script: Parameters<typeof startVendor>[0]

beforeAll(async () => {
  service = await startService()
  vendor = await startVendor((request, count) => script(request, count))
  await makeProvider(service, 'default', vendor.url)
})
afterAll(async () => {
  await service.stop()
  await vendor.close()
  removeFolder(service.folder)
})
afterEach(() => {
  vendor.requests.length = 0
})

const useTool = () => {
  let calls = 0
  return () => {
    calls += 1
    return calls % 2 === 1 ? [{ call: { name: 'list_agents', args: {} } }] : [{ text: 'Nobody ' }, { text: 'is here.' }]
  }
}

describe('svc chat with a message', () => {
  it('prints the answer, and tool calls and the session beside it', async () => {
    script = useTool()
    const { code, stdout, stderr } = await runSvc(['chat', 'who', 'is', 'here?'], service.env)
    expect(code).toBe(0)
    expect(stdout).toBe('Nobody is here.\n')
    expect(stderr).toMatch(/✓ list_agents \d+\.\ds/)
    const id = /svc chat --session (chat-session-[0-9a-f]{12})/.exec(stderr)?.[1] ?? ''
    expect((await readSession(service, id)).entries[0]).toMatchObject({ role: 'user', content: 'who is here?' })
  })

  it('goes on with a session, takes its message from a pipe and answers JSON', async () => {
    script = useTool()
    const args = ['chat', '--session', 'piped', '-o', 'json']
    const { code, stdout } = await launchSvc(args, service.env, { input: 'who is here?\n' })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      sessionId: 'piped',
      message: 'Nobody is here.',
      toolCalls: [{ name: 'list_agents' }],
      usage: { llmCalls: 2 },
    })
    script = () => [{ text: 'again' }]
    expect((await runSvc(['chat', '-q', '--session', 'piped', 'and now?'], service.env)).stdout).toBe('again\n')
    expect(vendor.requests.at(-1)?.messages.filter(({ role }) => role === 'user')).toHaveLength(2)
  })

  it('is found again by what was said', async () => {
    script = () => [{ text: 'The gasket of the pump leaks.' }]
    await runSvc(['chat', '-q', '--session', 'found', 'why is it wet?'], service.env)
    const find = (...args: string[]) => runSvc(['session', 'search', ...args], service.env)
    const lines = (await find('PUMP', 'gasket')).stdout.trim().split('\n')
    expect(lines[0]).toMatch(/^NAMESPACE +SESSION +ROLE +AGE +TEXT$/)
    expect(lines.slice(1)).toEqual([
      expect.stringMatching(/^default +found +assistant +.*The gasket of the pump leaks\.$/),
    ])
    expect(JSON.parse((await find('"of the pump"', '--session', 'found', '-o', 'json')).stdout)).toMatchObject([
      { sessionName: 'found', role: 'assistant', messageId: 2 },
    ])
    expect((await find('gasket', '--role', 'user')).stderr).toContain('no message has all of these words')
    expect((await find('gasket', '--except', 'found', '-A')).stderr).toContain('no message in any namespace')
    expect((await find('gasket', '--role', 'nobody')).code).toBe(2)
  })

  it('fails with the reason when the model does', async () => {
    script = () => ({ status: 400, message: 'odd request' })
    const { code, stderr } = await runSvc(['chat', 'x'], service.env)
    expect(code).toBe(1)
    expect(stderr).toContain('odd request')
    expect((await runSvc(['chat'], service.env, { input: '' })).code).toBe(2)
    const wrong = await runSvc(['chat', '--provider', 'nobody', 'x'], service.env)
    expect(wrong.stderr).toContain('nobody')
    expect(wrong.code).toBe(2)
  })

  it('ends the turn on Ctrl-C', async () => {
    script = () => [{ text: 'wait' }, { wait: new Promise(() => {}) }]
    const aborted = vendor.aborted
    const child = spawn(process.execPath, [launcher, 'chat', 'x'], {
      env: service.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let out = ''
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString()
    })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    await waitFor(() => out.includes('wait'), 'the first word')
    child.kill('SIGINT')
    expect(await ended).toBe(4)
    await waitFor(() => vendor.aborted === aborted + 1, 'the upstream call to be cancelled')
  })
})

function hasProgram(name: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`])
    return true
  } catch {
    return false
  }
}

type Terminal = { child: ChildProcess; text(): string; type(text: string): void; until(pattern: RegExp): Promise<void> }

const opened: ChildProcess[] = []
afterEach(() => {
  for (const child of opened.splice(0)) child.kill('SIGKILL')
})

/** The command on a terminal of its own, with a person who types. */
function openTerminal(args: string, after = ''): Terminal {
  const line = `stty cols 100; ${process.execPath} ${launcher} ${args}${after}`
  const env = { ...service.env, TERM: 'xterm' }
  const child = spawn('script', ['-qec', line, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  opened.push(child)
  let shown = ''
  child.stdout.on('data', (chunk: Buffer) => {
    shown += chunk.toString()
  })
  return {
    child,
    text: () => shown,
    type: (text) => void child.stdin.write(text),
    async until(pattern) {
      await waitFor(() => pattern.test(shown), `${pattern} on the terminal, which shows ${JSON.stringify(shown)}`)
      shown = shown.replace(new RegExp(`[\\s\\S]*?${pattern.source}`), '')
    },
  }
}

// util-linux has it; where it is not, there is no other terminal to be had without a package of machine code.
describe.skipIf(!hasProgram('script'))('a conversation on a terminal', () => {
  it('streams turns with their tool calls, knows its words, and is left by Ctrl-C twice', async () => {
    script = useTool()
    const terminal = openTerminal('chat --session talk')
    const ended = new Promise((resolve) => terminal.child.once('exit', resolve))
    await terminal.until(/help lists the commands/)
    await terminal.until(/> /)
    terminal.type('/help\r')
    await terminal.until(/\/history/)
    await terminal.until(/> /)
    terminal.type('who is here?\r')
    await terminal.until(/list_agents/)
    await terminal.until(/Nobody is here\./)
    await terminal.until(/> /)
    terminal.type('/history\r')
    await terminal.until(/Nobody is here\./)
    await terminal.until(/> /)
    script = () => [{ text: 'One moment' }, { wait: new Promise(() => {}) }]
    terminal.type('and now?\r')
    await terminal.until(/One moment/)
    terminal.type('\u0003')
    await terminal.until(/cancelled/)
    await terminal.until(/> /)
    terminal.type('\u0003')
    await terminal.until(/svc chat --session talk/)
    await ended
    await waitFor(async () => {
      const { entries } = await readSession(service, 'talk')
      return entries.some(({ content }) => content === 'One moment')
    }, 'what came of the turn to be stored')
  })

  it('takes a text of several lines as one message, pasted with marks, without, or typed', async () => {
    script = () => [{ text: 'fine' }]
    const terminal = openTerminal('chat --session lines')
    const ended = new Promise((resolve) => terminal.child.once('exit', resolve))
    const said = () => vendor.requests.at(-1)?.messages.at(-1)?.content
    await terminal.until(/> /)
    terminal.type('\u001b[200~one\rtwo\r\rthree\u001b[201~')
    await terminal.until(/three/)
    terminal.type('\r')
    await terminal.until(/fine/)
    expect(said()).toBe('one\ntwo\n\nthree')
    await terminal.until(/> /)
    terminal.type('four\r  five\rsix\r')
    await terminal.until(/fine/)
    expect(said()).toBe('four\n  five\nsix')
    await terminal.until(/> /)
    terminal.type('seven')
    await terminal.until(/seven/)
    terminal.type('\u001b\r')
    await terminal.until(/\n/)
    terminal.type('eight\r')
    await terminal.until(/fine/)
    expect(said()).toBe('seven\neight')
    await terminal.until(/> /)
    // The arrow key brings it back as it was.
    terminal.type('\u001b[A')
    await terminal.until(/eight/)
    terminal.type('\r')
    await terminal.until(/fine/)
    expect(said()).toBe('seven\neight')
    expect(vendor.requests).toHaveLength(4)
    await terminal.until(/> /)
    terminal.type('/quit\r')
    await ended
  })

  it('keeps what is typed while a turn runs, and leaves the terminal as it was', async () => {
    const holds = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    script = (_request, count) => [{ text: `answer ${count} ` }, { wait: Promise.resolve(holds[count - 1]?.promise) }]
    const terminal = openTerminal('chat --session ahead', '; stty -a; read rest; echo "rest is $rest"')
    const ended = new Promise((resolve) => terminal.child.once('exit', resolve))
    await terminal.until(/> /)
    terminal.type('first\r')
    await terminal.until(/answer 1/)
    terminal.type('second\r')
    holds[0]?.resolve()
    await terminal.until(/> second/)
    await terminal.until(/answer 2/)
    terminal.type('third, not sent')
    holds[1]?.resolve()
    await terminal.until(/third, not sent/)
    expect(vendor.requests.map(({ messages }) => messages.at(-1)?.content)).toEqual(['first', 'second'])
    terminal.type('\u0015/quit\r')
    await terminal.until(/[^-]icanon/)
    terminal.type('typed\r')
    await terminal.until(/rest is typed/)
    await ended
  })

  it('brings back what was typed in the session', async () => {
    script = () => [{ text: 'fine' }]
    const terminal = openTerminal('chat --session talk')
    await terminal.until(/> /)
    terminal.type('\u001b[A')
    await terminal.until(/and now\?/)
    terminal.type('\r')
    await terminal.until(/fine/)
    await terminal.until(/> /)
    const ended = new Promise((resolve) => terminal.child.once('exit', resolve))
    terminal.type('/quit\r')
    await ended
  })

  it('shows what answers, changes it, and tells what was spent', async () => {
    script = () => [{ text: 'fine' }]
    vendor.models = ['test-model', 'large-model']
    await makeProvider(service, 'priced', vendor.url, {
      defaultModel: 'priced-model',
      price: { inputPerMillion: 1_000_000, outputPerMillion: 1_000_000 },
    })
    const terminal = openTerminal('chat --session changes')
    const ended = new Promise((resolve) => terminal.child.once('exit', resolve))
    const type = async (line: string, ...shown: RegExp[]) => {
      await terminal.until(/> /)
      terminal.type(`${line}\r`)
      for (const pattern of shown) await terminal.until(pattern)
    }
    await type('/modle', /there is no command \/modle; did you mean \/model\?/)
    await type('/cost', /nothing was used yet/)
    await type('hello', /fine/, /\dm?s, 30 tokens \(20 in, 10 out\), 1 call without a price/)
    await type('/cost', /30 tokens \(20 in, 10 out\), 1 call without a price/)
    await type('/model nothing', /there is no model nothing; there are:/, /default\/test-model/, /default\/large-model/)
    await type('/model large-model', /model large-model of provider default answers/)
    await type('hello', /fine/)
    expect(vendor.requests.at(-1)?.model).toBe('large-model')
    await type('/provider nobody', /there is no provider nobody; there are:/, /default \(llmo/, /priced \(llmo/)
    await type('/provider priced', /model priced-model of provider priced answers/)
    await type('// and now?', /fine/, /30 tokens \(20 in, 10 out\), 30 USD/)
    expect(vendor.requests.at(-1)).toMatchObject({ model: 'priced-model', messages: expect.anything() })
    expect(vendor.requests.at(-1)?.messages.at(-1)?.content).toBe('// and now?')
    await type('/provider', /model priced-model of provider priced answers/)
    await type('/cost', /90 tokens \(60 in, 30 out\), 30 USD, 2 calls without a price/)
    await type('/quit')
    await ended
    const { body } = await service.call<{ answeredBy: object }>('GET', '/api/v1/sessions/changes')
    expect(body.answeredBy).toEqual({ namespace: 'default', name: 'priced', model: 'priced-model' })
  })

  it('lists the tasks that the session started, with their phases', async () => {
    let calls = 0
    script = () => {
      calls += 1
      return calls === 1
        ? [{ call: { name: 'create_container_task', args: { name: 'from-chat', command: ['true'] } } }]
        : [{ text: 'made' }]
    }
    const terminal = openTerminal('chat --session starts')
    const ended = new Promise((resolve) => terminal.child.once('exit', resolve))
    await terminal.until(/> /)
    terminal.type('/tasks\r')
    await terminal.until(/the session has started no tasks/)
    await terminal.until(/> /)
    terminal.type('make a task\r')
    await terminal.until(/made/)
    await terminal.until(/> /)
    terminal.type('/tasks\r')
    await terminal.until(/NAME +TYPE +PHASE/)
    await terminal.until(/chat-starts-\S+ +container +(Pending|Queued|Running|Succeeded|Failed)/)
    await terminal.until(/> /)
    terminal.type('/quit\r')
    await ended
  })

  it('resumes a session that is picked from the latest', async () => {
    script = () => [{ text: 'fine' }]
    await runSvc(['chat', '-q', '--session', 'older', 'a question of before'], service.env)
    await runSvc(['chat', '-q', '--session', 'newer', 'another'], service.env)
    const terminal = openTerminal('chat --resume')
    const ended = new Promise((resolve) => terminal.child.once('exit', resolve))
    await terminal.until(/1 {2}newer +\d+s ago, 2 messages +another/)
    await terminal.until(/2 {2}older .*a question of before/)
    await terminal.until(/which one\? /)
    terminal.type('2\r')
    await terminal.until(/> /)
    terminal.type('/session\r')
    await terminal.until(/session older: /)
    await terminal.until(/> /)
    terminal.type('/quit\r')
    await ended
  })
})

describe('svc chat --resume', () => {
  it('takes a name, and says when there is none of that name or none at all', async () => {
    script = () => [{ text: 'fine' }]
    const known = await runSvc(['chat', '--session', 'known', 'hello'], service.env)
    // What a turn cost is for people: nothing of it in a pipe.
    expect(known.stderr).not.toContain('tokens')
    expect((await runSvc(['chat', '-q', '--resume', 'known', 'and now?'], service.env)).stdout).toBe('fine\n')
    expect(vendor.requests.at(-1)?.messages.filter(({ role }) => role === 'user')).toHaveLength(2)
    const unknown = await runSvc(['chat', '--resume', 'unknown', 'hello'], service.env)
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('there is no session "unknown"')])
    const unnamed = await runSvc(['chat', '--resume'], service.env, { input: 'hello' })
    expect([unnamed.code, unnamed.stderr]).toEqual([2, expect.stringContaining('name the session to resume')])
    const none = await runSvc(['-n', 'empty', 'chat', '--resume'], service.env, { input: 'hello' })
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('there is no session to resume yet')])
    expect((await runSvc(['chat', '--resume', 'a', '--session', 'b', 'hello'], service.env)).code).toBe(2)
  })
})

describe('svc agent create without a name', () => {
  it('asks what the agent needs', async () => {
    const terminal = openTerminal('agent create')
    const ended = new Promise((resolve) => terminal.child.once('exit', resolve))
    await terminal.until(/its name\? /)
    terminal.type('asked\r')
    await terminal.until(/2 {2}Claude Code/)
    await terminal.until(/which one\? /)
    terminal.type('2\r')
    await terminal.until(/who answers it\?/)
    await terminal.until(/1 {2}default/)
    await terminal.until(/which one\? /)
    terminal.type('default\r')
    await terminal.until(/its model\? /)
    terminal.type('small-model\r')
    await terminal.until(/agent asked created/)
    await ended
    const { body } = await service.call<{ spec: object }>('GET', '/api/v1/agents/asked')
    const provider = { providerRef: { name: 'default' }, model: { name: 'small-model' } }
    expect(body.spec).toMatchObject({ runtime: { type: 'llma-cli' }, ...provider })
  })

  it('says what to type where nobody can be asked', async () => {
    const { code, stderr } = await runSvc(['agent', 'create'], service.env)
    expect(code).not.toBe(0)
    expect(stderr).toMatch(/name the agent: .*svc agent create NAME/)
  })
})
