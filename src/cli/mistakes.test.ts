// What people type on their first day: each line is answered at once, and says what to do.
import { describe, expect, it } from 'vitest'
import { pageOf, recordContext } from '../../test/fixtures/cli/recording-context.ts'
import { SvcError } from '../errors.ts'
import { runCommandLine } from './program.ts'

const missing = (name: string) => new SvcError('NotFound', `not found: "${name}"`)
const nameOf = ({ params }: { params?: unknown }) => (params as { name: string }).name
const named = (name: string, spec: object = {}) => ({ metadata: { name, namespace: 'default' }, spec })
const findIn = (names: string[]) => (input: { params?: unknown }) => {
  if (!names.includes(nameOf(input))) throw missing(nameOf(input))
  return named(nameOf(input))
}

const providers = [named('default', { type: 'llma' }), named('local', { type: 'llmo', default: true })]
const answers = {
  'GET /api/v1/agents': pageOf([named('reviewer')]),
  'GET /api/v1/agents/:name': findIn(['reviewer']),
  'GET /api/v1/providers': pageOf(providers),
  'GET /api/v1/providers/:name': findIn(['default', 'local']),
  'GET /api/v1/secrets': pageOf([{ name: 'forge', keys: ['token'] }]),
  'GET /api/v1/sessions': pageOf([{ name: 'research', sessionType: 'chat', updatedAt: '2030-01-01T00:00:00Z' }]),
  'GET /api/v1/sessions/:id': missing('reserch'),
  'GET /api/v1/tasks': pageOf([]),
  'GET /api/v1/tasks/:id/logs': { logs: 'hello\n' },
  'GET /api/v1/tasks/:id/trace': { items: [], metadata: {} },
  'GET /api/v1/tasks/:id': { ...named('first', { type: 'ai' }), status: { phase: 'Succeeded' } },
  'POST /api/v1/providers/:name/test': { ok: true, message: 'it answers', models: ['large', 'small'], durationMs: 5 },
  'POST /api/v1/providers': {},
  'POST /api/v1/secrets': {},
}

async function type(argv: string[], more: object = {}, environment: Record<string, string> = {}) {
  const recording = recordContext({ answers: { ...answers, ...more }, environment })
  const code = await runCommandLine(argv, recording.context)
  const routes = recording.calls.map(({ route }) => route)
  return { code, text: `${recording.printed()}${recording.noted()}`, routes, calls: recording.calls }
}

const repo = ['--repo', 'https://github.com/acme/site']

describe('a mistake of a first day', () => {
  it.each<[string[], number, RegExp]>([
    [['run', '--agent', 'reviwer', 'x'], 2, /no agent "reviwer"; did you mean reviewer\?/],
    [['run', '--provider', 'locl', 'x'], 2, /no provider "locl"; did you mean local\?/],
    [['run', ...repo, '--git-secret', 'frge', 'x'], 2, /no secret "frge"; did you mean forge\?/],
    [['run', '--pr', 'x'], 2, /--pr opens the pull request of a pushed branch: add --repo URL and --push BRANCH/],
    [['run', ...repo, '--push', 'b', '--pr', '-d', 'x'], 2, /--pr waits for the end.*svc task pr NAME/],
    [['chat', '--agent', 'reviwer', 'x'], 2, /did you mean reviewer\?/],
    [['chat', '--provider', 'locl', 'x'], 2, /did you mean local\?/],
    [['chat', '--resume', 'reserch', 'x'], 1, /no session "reserch"; did you mean research\?/],
    [['task', 'update', 'first', '--agent', 'reviwer'], 2, /did you mean reviewer\?/],
    [['scan', 'create', 's', ...repo, '--agent', 'reviwer'], 2, /did you mean reviewer\?/],
    [['scan', 'create', 's', ...repo, '--agent', 'reviewer', '--secret', 'frge'], 2, /did you mean forge\?/],
    [['monitor', 'create', 'm', ...repo, '--reviewer', 'reviwer'], 2, /did you mean reviewer\?/],
    [['secret', 'get', 'frge'], 1, /no secret "frge"; did you mean forge\?/],
    [['provider', 'set-default', 'locl'], 1, /did you mean local\?/],
    [
      ['agent', 'create', 'a', '--runtime', 'llma-cli', '--model', 'MODEL'],
      2,
      /MODEL stands for .*provider models NAME/,
    ],
    [['run', '--model', 'MODEL', 'x'], 2, /MODEL stands for the name of a model/],
    [['provider', 'update', 'local', '--model', 'MODEL'], 2, /MODEL stands for the name of a model/],
    [['provider', 'create', 'local', '--type', 'llmo'], 1, /a provider local already: .*provider update local/],
    [['provider', 'create', 'p'], 2, /neither key nor address tells.*llma \(Anthropic\), llmo \(OpenAI\)/],
    [['provider', 'create', 'p', '--key-from-env', 'GONE'], 2, /GONE is empty or not set/],
    [['run', '--file', '/nowhere/x', 'x'], 2, /\/nowhere\/x cannot be read: there is no such file or folder/],
    [['run', '--file', '/dev', 'x'], 2, /\/dev is a folder: name its files, or use --here in it/],
    [['provider', 'create', 'p', '--base-url', 'api.example'], 2, /`api.example` is not the address of an API/],
    [['secret', 'create', 's', '--from-file', '/x'], 2, /must be KEY=SOURCE, such as api-key=key.txt/],
    [['task', 'list', '--limit', '99999999999'], 2, /must be a whole number from 1 to 999999999/],
    [['task', 'logs', 'first', '--since', '2026-02-30T00:00:00Z'], 2, /--since 2026-02-30T00:00:00Z: must be/],
    [['get', 'taks'], 2, /did you mean task\?/],
    [['get', 'secrets'], 2, /has commands of its own: .*svc secret/],
    [['get', 'sessions'], 2, /svc session list/],
    [['stop'], 2, /`svc down` stops the service, `svc task cancel NAME` a task/],
    [['init'], 2, /nothing to set up/],
    [['tsk'], 2, /Did you mean task\?/],
  ])('%j ends with %i', async (argv, code, words) => {
    const { text, routes, ...seen } = await type(argv)
    expect(text).toMatch(words)
    expect(seen.code).toBe(code)
    expect(routes.filter((route) => /^(POST|PUT|DELETE)/.test(route))).toEqual([])
  })

  it.each<[string[], string | undefined, RegExp]>([
    [['version'], undefined, /^0\.0\.0\n$/],
    [['ps'], 'GET /api/v1/tasks', /no such task/],
    [['tasks'], 'GET /api/v1/tasks', /no such task/],
    [['tasks', 'list'], 'GET /api/v1/tasks', /no such task/],
    [['-n', 'team', 'agents'], 'GET /api/v1/agents', /reviewer/],
    [['list', 'agents'], 'GET /api/v1/agents', /reviewer/],
    [['logs', 'first'], 'GET /api/v1/tasks/:id/logs', /hello/],
    [['task', 'show', 'first'], 'GET /api/v1/tasks/:id', /name: +first/],
    [['task', 'status', 'first'], 'GET /api/v1/tasks/:id', /phase: +Succeeded/],
    [['agent', 'show', 'reviewer'], 'GET /api/v1/agents/:name', /name: reviewer/],
    [['secret', 'get', 'forge'], 'GET /api/v1/secrets', /keys: +token\n/],
    [['provider', 'models', 'local'], 'POST /api/v1/providers/:name/test', /^large\nsmall\n/],
    [['provider', 'list'], 'GET /api/v1/providers', /^local +default +llmo \(OpenAI\)$/m],
  ])('%j works', async (argv, route, words) => {
    const { code, text, routes } = await type(argv)
    expect([code, routes.at(-1)]).toEqual([0, route])
    expect(text).toMatch(words)
  })

  it('a schedule is not waited for, since it does not end', async () => {
    const more = { 'GET /api/v1/tasks/:id': named('first', { type: 'ai', schedule: '@daily' }) }
    for (const names of [['first'], ['first', 'second']]) {
      const { code, text } = await type(['task', 'wait', ...names], more)
      expect([code, text]).toEqual([2, expect.stringMatching(/is a schedule, which does not end: .*svc task run/)])
    }
  })

  it('one that has ended is told of at once', async () => {
    const ended = { ...named('first', { type: 'ai', schedule: '@daily' }), status: { phase: 'Cancelled' } }
    const { code, text } = await type(['task', 'wait', 'first'], { 'GET /api/v1/tasks/:id': ended })
    expect([code, text]).toEqual([4, expect.not.stringContaining('does not end')])
  })

  it.each([
    [['logs', 'first'], 'first has written nothing so far\n'],
    [['logs', 'first', '--attempt', '7'], 'first has written nothing so far that --attempt would show\n'],
    [['logs', 'first', '--level', 'error'], 'first has written nothing so far that --level would show\n'],
    [['task', 'trace', 'first'], 'there are no steps of first so far: no calls of models or tools\n'],
  ])('%j of what is not there tells of what was looked at', async (argv, words) => {
    const { code, text } = await type(argv, { 'GET /api/v1/tasks/:id/logs': { logs: '' } })
    expect([code, text]).toEqual([0, words])
  })

  it('a session that is made by its name is said, with the one that may have been meant', async () => {
    const more = { 'POST /api/v1/tasks': { ...named('run-1'), status: { phase: 'Pending' } } }
    const { code, text } = await type(['run', '-d', '--session', 'reserch', '--model', 'm', 'x'], more)
    expect([code, text]).toEqual([0, expect.stringContaining('session reserch is new; did you mean research?')])
  })

  it('a key without a model has the models of its vendor listed', async () => {
    const { code, text } = await type(['run', 'x'])
    expect(code).toBe(2)
    expect(text).toMatch(/local has no model of its own; it offers large, small: .*provider update local --model large/)
  })

  it('a vendor that is down is named with its own words', async () => {
    const test = {
      ok: false,
      reason: 'Unreachable',
      message: 'nothing answers at 127.0.0.1:1',
      models: [],
      durationMs: 1,
    }
    const { text } = await type(['run', 'x'], { 'POST /api/v1/providers/:name/test': test })
    expect(text).toMatch(
      /local has no model of its own, and its vendor cannot be asked \(nothing answers at 127.0.0.1:1\)/,
    )
  })

  it('the type of a provider is read of its key, and what the vendor offers is said', async () => {
    const { code, text, calls } = await type(
      ['provider', 'create', 'p', '--key-from-env', 'OPENAI_API_KEY'],
      {},
      {
        OPENAI_API_KEY: 'made-up',
      },
    )
    expect(code).toBe(0)
    expect(calls.find(({ route }) => route === 'POST /api/v1/providers')?.input.body).toMatchObject({
      spec: { type: 'llmo' },
    })
    expect(text).toMatch(/its type is llmo \(OpenAI\)[\s\S]*it has no model yet; it offers large, small/)
  })

  it('a key that an earlier provider left is said', async () => {
    const more = { 'POST /api/v1/secrets': new SvcError('AlreadyExists', 'secret exists') }
    const { code, text } = await type(['provider', 'create', 'p', '--type', 'llma', '--key-from-env', 'K'], more, {
      K: 'k',
    })
    expect([code, text]).toEqual([
      1,
      expect.stringMatching(/earlier provider p is in the secret p-key: --secret p-key uses it/),
    ])
  })

  it('findings that nobody looked for are not called none', async () => {
    const runs = (run: object) => ({
      'GET /api/v1/security/repositories/:name/findings': pageOf([]),
      'GET /api/v1/security/repositories/:name/scans': pageOf([run]),
    })
    const failed = { id: 'scan_1', phase: 'failed', errorMessage: 'the login is refused', completedAt: 'x' }
    expect((await type(['scan', 'findings', 's'], runs(failed))).text).toMatch(
      /the last run failed: the login is refused/,
    )
    expect((await type(['scan', 'findings', 's'], runs({ id: 'scan_1', phase: 'running' }))).text).toMatch(/under way/)
  })
})
