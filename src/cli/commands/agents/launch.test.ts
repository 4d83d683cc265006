import { describe, expect, it } from 'vitest'
import { recordContext } from '../../../../test/fixtures/cli/recording-context.ts'
import { SvcError } from '../../../errors.ts'
import { runCommandLine } from '../../program.ts'
import { clientNames, clients, formatForShell } from './client-settings.ts'

const target = { url: 'http://127.0.0.1:1', token: 'made-up-token', model: 'main/large', others: ['main/small'] }
const settingsOf = (name: (typeof clientNames)[number]) => clients[name].describe(target, '/kept/file.js')

describe('the settings of a client', () => {
  it.each(clientNames)('of %s have the service, the model and the token, which stands in no argument', (name) => {
    const { env, args } = settingsOf(name)
    const all = JSON.stringify([env, args])
    expect(all).toContain('http://127.0.0.1:1/llm')
    expect(all).toContain('main/large')
    expect(Object.values(env).join()).toContain('made-up-token')
    expect(args.join()).not.toContain('made-up-token')
    expect(clients[name].install).toMatch(/@latest$/)
  })

  it('are lines for a shell', () => {
    const lines = formatForShell('pi', { env: { A: "it's" }, args: ['--model', 'main/large'] })
    expect(lines).toBe(`export A='it'\\''s'\nalias pi='pi '\\''--model'\\'' main/large'`)
    expect(formatForShell('claude', { env: {}, args: [] })).toMatch(/^unset ANTHROPIC_API_KEY /)
  })
})

const provider = {
  metadata: { name: 'main', namespace: 'default' },
  spec: { type: 'llmo', defaultModel: 'large' },
}

function open(more: Record<string, unknown> = {}) {
  const answers = {
    'GET /api/v1/providers': { items: [provider], metadata: {} },
    'GET /api/v1/providers/:name': provider,
    'POST /api/v1/providers/:name/test': { ok: true, models: ['large', 'small'], message: 'ok', durationMs: 1 },
    'POST /api/v1/tokens': { id: 'tok-1', token: 'made-up-token' },
    'DELETE /api/v1/tokens/:id': undefined,
    ...more,
  }
  const recording = recordContext({ answers })
  const started: { argv: string[]; set: Record<string, string> }[] = []
  const context = {
    ...recording.context,
    findToken: async () => 'own-token',
    findProgram: async (command: string) => (command === 'pi' ? undefined : `/bin/${command}`),
    runProgram: async (argv: string[], { set }: { set: Record<string, string> }) => {
      started.push({ argv, set })
      return argv.includes('fail') ? 7 : 0
    },
  }
  return { ...recording, started, run: (...args: string[]) => runCommandLine(args, context) }
}

describe('svc launch', () => {
  it('starts the client with what stands after --, and a token that ends with it', async () => {
    const { run, started, calls } = open()
    expect(await run('launch', 'claude', '--', '-p', 'hi', '--model', 'x')).toBe(0)
    expect(started).toMatchObject([
      { argv: ['/bin/claude', '-p', 'hi', '--model', 'x'], set: { ANTHROPIC_AUTH_TOKEN: 'made-up-token' } },
    ])
    const tokens = calls.filter(({ route }) => route.includes('/tokens'))
    expect(tokens).toMatchObject([
      { route: 'POST /api/v1/tokens', input: { body: { role: 'runner', serverTools: false } } },
      { route: 'DELETE /api/v1/tokens/:id', input: { params: { id: 'tok-1' } } },
    ])
  })

  it('ends as the client does', async () => {
    expect(await open().run('launch', 'codex', '--', 'fail')).toBe(7)
  })

  it('takes the own token of who may make none', async () => {
    const { run, started } = open({ 'POST /api/v1/tokens': new SvcError('Forbidden', 'not for you') })
    expect(await run('launch', 'opencode')).toBe(0)
    expect(started).toMatchObject([{ set: { SVC_CLIENT_TOKEN: 'own-token' } }])
  })

  it.each([
    [['pi'], 'pi is not installed here; install it: npm install --global @earendil-works/pi-coding-agent@latest'],
    [['claude', '--model', 'lage'], 'provider main has no model "lage"; did you mean large?'],
    [['claude', '--model', 'main/lage'], 'provider main has no model "lage"'],
    [['cloude'], 'cloude'],
  ])('says what is wrong before anything starts: %j', async (args, words) => {
    const { run, started, noted } = open()
    expect(await run('launch', ...args)).not.toBe(0)
    expect(noted()).toContain(words)
    expect(started).toEqual([])
  })
})

describe('svc env', () => {
  it('prints the same settings with the own token', async () => {
    const { run, printed } = open()
    expect(await run('env', 'claude', '--model', 'small')).toBe(0)
    expect(printed()).toContain('export ANTHROPIC_AUTH_TOKEN=own-token\n')
    expect(printed()).toContain('export ANTHROPIC_MODEL=main/small\n')
  })
})
