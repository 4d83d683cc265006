import { describe, expect, it } from 'vitest'
import { recordContext } from '../../test/fixtures/cli/recording-context.ts'
import { describeSettings } from '../config/settings.ts'
import { SvcError } from '../errors.ts'
import { runCommandLine } from './program.ts'

async function run(argv: string[], options: Parameters<typeof recordContext>[0] = {}) {
  const recording = recordContext(options)
  const code = await runCommandLine(argv, recording.context)
  return { code, stdout: recording.printed(), stderr: recording.noted(), calls: recording.calls }
}

describe('a wrong command line', () => {
  it.each([
    [['tsk'], /unknown command 'tsk'\n\(Did you mean task\?\)/],
    [['task', 'lst'], /Did you mean one of list, ls/],
    [['task', 'list', '--phse', 'x'], /unknown option '--phse'\n\(Did you mean --phase\?\)/],
    [['up', '--prot', '1'], /Did you mean --port/],
    [['task', 'list', '--zzz'], /unknown option '--zzz'\nAdd --help/],
    [['run', '- do this'], /svc run -- "- like this"/],
    [['task', 'get'], /missing required argument 'name'/],
    [['down', 'x'], /too many arguments/],
    [['-o', 'xml', 'task', 'list'], /Allowed choices are table, wide, json, yaml, name, jsonpath=TEMPLATE/],
    [['task', 'list', '-o', 'jsonpath={range .items[*]}'], /`range .items\[\*\]` cannot be read; there are paths/],
    [['task', 'list', '-o', 'jsonpath='], /cannot be read/],
    [['task', 'list', '--limit', 'x'], /--limit x: must be a whole number/],
    [['task', 'logs', 'a', '--tail', 'some'], /--tail some: must be a whole number/],
    [['get', 'widgets'], /`widgets` is not a kind.*Agent, Provider, Tool, Skill, ConfigMap, Task/],
    [['delete'], /say what to delete/],
    [['delete', 'agent'], /say which/],
    [['delete', 'agent/a', 'tool/b'], /`tool\/b` is not of kind agent; name one kind at a time/],
    [['describe', 'widget', 'a'], /`widget` is not a kind/],
    [['explain', 'tsk'], /no kind `tsk`; did you mean task\?/],
    [
      ['explain', 'task.spec.retryPolcy'],
      /`task.spec` has no field `retryPolcy`; did you mean task.spec.retryPolicy\?/,
    ],
    [['explain', 'task.spec.priority.x'], /has no field `x`; it has no fields/],
    [['completion', 'tcsh'], /no completion for `tcsh`; use one of bash, zsh, fish/],
    [['secret', 'create', 's'], /needs a value/],
    [['secret', 'create', 's', '--from-env', '=KEY'], /must be KEY=SOURCE/],
    [['secret', 'create', 's', '--from-env', 'NOT_SET'], /NOT_SET is empty or not set/],
    [['secret', 'create', 's', '--from-env', 'key=NOT_SET'], /NOT_SET is empty or not set/],
    [['configmap', 'create', 'c'], /say which entries/],
    [['configmap', 'create', 'c', '--from-literal', 'key'], /must be KEY=TEXT/],
    [['configmap', 'create', 'c', '--from-file', '-'], /must be PATH or KEY=PATH/],
    [['provider', 'create', 'p', '--type', 'llma', '--key-from-env', 'NOT_SET'], /NOT_SET is empty or not set/],
    [['down', '--server', 'http://x'], /of this machine, but --server names http:\/\/x: leave that out/],
  ])('%j ends with 2 and says what is wrong', async (argv, message) => {
    const { code, stdout, stderr, calls } = await run(argv)
    expect(stderr).toMatch(message)
    expect({ code, stdout, calls }).toEqual({ code: 2, stdout: '', calls: [] })
  })

  it('prints the help of a command group when no subcommand is given', async () => {
    const { code, stderr } = await run(['task'])
    expect(code).toBe(2)
    expect(stderr).toContain('svc task [options] [command]')
  })
})

describe('help', () => {
  it('lists every command', async () => {
    const { code, stdout } = await run(['--help'])
    expect(code).toBe(0)
    for (const word of [
      'run',
      'up',
      'down',
      'status',
      'doctor',
      'config',
      'task',
      'agent',
      'provider',
      'tool',
      'skill',
    ])
      expect(stdout).toMatch(new RegExp(`^  ${word}\\b`, 'm'))
    for (const word of ['secret', 'configmap', 'session', 'token', 'apply', 'get', 'delete', 'completion'])
      expect(stdout).toMatch(new RegExp(`^  ${word}\\b`, 'm'))
    expect(stdout).not.toContain('__complete')
  })

  it('of a command lists the global options too, and goes to standard output', async () => {
    const { code, stdout, stderr } = await run(['task', 'list', '--help'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('--phase')
    expect(stdout).toContain('--namespace')
  })

  it('of up shows every setting in its group with its allowed values, within 100 columns', async () => {
    const recording = recordContext({})
    const context = { ...recording.context, settingHelp: describeSettings }
    expect(await runCommandLine(['up', '--help'], context)).toBe(0)
    const lines = recording.printed().split('\n')
    const everywhere = ['--data-dir', '--config-dir']
    for (const { group, flag } of describeSettings().filter((setting) => !everywhere.includes(setting.flag))) {
      expect(lines).toContain(`${group}:`)
      expect(recording.printed()).toContain(`${flag} `)
    }
    expect(lines).toContain('      (one of sql, none; default sql; SVC_PLAN_STORE)')
    expect(lines.filter((line) => line.length > 100)).toEqual([])
  })

  it('prints the version', async () => {
    expect(await run(['--version'])).toMatchObject({ code: 0, stdout: '0.0.0\n' })
  })
})

describe('a failure', () => {
  it.each([
    ['NotFound', 1],
    ['Forbidden', 1],
    ['InvalidRequest', 2],
    ['Unavailable', 3],
  ] as const)('of reason %s ends with %i', async (reason, code) => {
    const answers = { 'GET /api/v1/tasks/:id': new SvcError(reason, 'this is the message') }
    const outcome = await run(['task', 'get', 'a'], { answers })
    expect(outcome).toEqual({ code, stdout: '', stderr: 'error: this is the message\n', calls: outcome.calls })
  })

  it('lists every problem, but repeats a single one only once', async () => {
    const problem = (path: string) => ({ path, message: 'is not a known field' })
    const refuse = (paths: string[]) =>
      new SvcError('InvalidRequest', `invalid: ${paths[0]} is not a known field`, { details: paths.map(problem) })
    const one = await run(['task', 'get', 'a'], { answers: { 'GET /api/v1/tasks/:id': refuse(['spec.a']) } })
    expect(one.stderr).toBe('error: invalid: spec.a is not a known field\n')
    const two = await run(['task', 'get', 'a'], { answers: { 'GET /api/v1/tasks/:id': refuse(['spec.a', 'spec.b']) } })
    expect(two.stderr).toContain('  spec.a: is not a known field\n  spec.b: is not a known field\n')
  })

  it('of authentication says where to get a token', async () => {
    const answers = { 'GET /api/v1/tasks/:id': new SvcError('Unauthenticated', 'invalid token') }
    expect((await run(['task', 'get', 'a'], { answers })).stderr).toContain('svc token create')
  })
})

describe('svc provider list', () => {
  it('says why a provider does not answer', async () => {
    const metadata = { name: 'main', namespace: 'default', creationTimestamp: '2029-12-31T00:00:00Z' }
    const status = { ready: true, lastError: 'HTTP 401: bad key' }
    const items = [{ metadata, spec: { type: 'llma' }, status }]
    const { stdout } = await run(['provider', 'list'], {
      answers: { 'GET /api/v1/providers': { items, metadata: {} } },
    })
    expect(stdout).toMatch(/^main +default +llma \(Anthropic\) .*HTTP 401: bad key$/m)
  })
})

describe('svc configmap', () => {
  const one = 'GET /api/v1/configmaps/:name'
  const stored = { metadata: { name: 'c', resourceVersion: '7' }, data: { colour: 'blue', size: 'big' } }

  it('create takes texts from the command line and from files unchanged', async () => {
    const argv = ['-n', 'team', 'configmap', 'create', 'c', '--from-literal', 'a=x=y', '--from-file', 'texts/prompt.md']
    const { code, calls } = await run([...argv, '--from-file', 'b=other'], {
      files: { 'texts/prompt.md': 'one\n', other: 'two' },
    })
    expect(code).toBe(0)
    expect(calls).toEqual([
      {
        route: 'POST /api/v1/configmaps',
        input: { body: { name: 'c', namespace: 'team', data: { a: 'x=y', 'prompt.md': 'one\n', b: 'two' } } },
      },
    ])
  })

  it('update keeps the other entries, and changes that others made meanwhile', async () => {
    const argv = ['configmap', 'update', 'c', '--from-literal', 'colour=red', '--from-literal', 'new=1']
    const { calls } = await run([...argv, '--remove', 'size'], { answers: { [one]: stored } })
    const body = { metadata: { resourceVersion: '7' }, data: { colour: 'red', new: '1' } }
    expect(calls[1]).toMatchObject({ route: 'PUT /api/v1/configmaps/:name', input: { params: { name: 'c' }, body } })
    const refused = await run(['configmap', 'update', 'c', '--remove', 'none'], { answers: { [one]: stored } })
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('has no entry none') })
  })

  it('list shows the keys', async () => {
    const items = [{ metadata: { name: 'c', creationTimestamp: '2029-12-31T00:00:00Z' }, keys: ['colour', 'size'] }]
    const answers = { 'GET /api/v1/configmaps': { items, metadata: {} } }
    expect((await run(['get', 'configmaps'], { answers })).stdout).toMatch(/^c +colour,size +/m)
  })
})

describe('svc tool list', () => {
  it('says why a tool cannot be used, in place of what it is', async () => {
    const conditions = [{ type: 'Ready', status: 'False', message: 'docs.test could not be reached' }]
    const items = [
      { metadata: { name: 'docs' }, spec: { description: 'Reads' }, status: { available: false, conditions } },
    ]
    const { stdout } = await run(['tool', 'list'], { answers: { 'GET /api/v1/tools': { items, metadata: {} } } })
    expect(stdout).toMatch(/docs +false +docs\.test could not be reached$/m)
  })
})

describe('svc secret create', () => {
  it('takes a variable alone as the key of its name', async () => {
    const argv = ['secret', 'create', 'vendor', '--from-env', 'VENDOR_KEY', '--from-env', 'token=OTHER']
    const { calls } = await run(argv, { environment: { VENDOR_KEY: 'one', OTHER: 'two' } })
    expect(calls[0]?.input).toMatchObject({ body: { name: 'vendor', stringData: { VENDOR_KEY: 'one', token: 'two' } } })
  })
})

describe('svc provider create', () => {
  const create = ['provider', 'create', 'p', '--type', 'llma', '--key-from-env', 'KEY']
  const noProviders = { 'GET /api/v1/providers': { items: [], metadata: {} } }

  it('removes the secret again when the provider is refused', async () => {
    const answers = { ...noProviders, 'POST /api/v1/providers': new SvcError('InvalidRequest', 'no such type') }
    const { code, calls } = await run(create, { answers, environment: { KEY: 'value' } })
    expect(code).toBe(2)
    expect(calls.map(({ route }) => route)).toEqual([
      'GET /api/v1/providers',
      'POST /api/v1/secrets',
      'POST /api/v1/providers',
      'DELETE /api/v1/secrets/:name',
    ])
  })

  it('never prints the key', async () => {
    const { stdout, stderr } = await run(create, { answers: noProviders, environment: { KEY: 'the-value' } })
    expect(stdout + stderr).not.toContain('the-value')
  })
})

describe('svc explain', () => {
  it('shows type, meaning, limits, default and example of a field and of the fields below it', async () => {
    const { code, stdout } = await run(['explain', 'task.spec.retryPolicy'])
    expect(code).toBe(0)
    expect(stdout).toContain('FIELD:    spec.retryPolicy <object>')
    expect(stdout).toMatch(/maxRetries <integer>\n.*\n +Range: 0 to 100. Default: 0. Example: 3\n/)
    expect((await run(['explain', 'tasks.spec.env.valueFrom'])).stdout).toContain('secretKeyRef <object>')
    expect((await run(['explain', 'task.spec.type'])).stdout).toContain('One of ai, container, agent.')
  })

  it('lists the kinds, or all fields below one, within 100 columns', async () => {
    expect((await run(['explain'])).stdout).toMatch(/^Task\n/)
    const { stdout } = await run(['explain', 'agent', '--recursive'])
    expect(stdout).toMatch(/^ {2}spec <object> required$/m)
    expect(stdout).toMatch(/^ {6}maxDepth <integer>$/m)
    const whole = (await run(['explain', 'task.spec'])).stdout
    expect(Math.max(...whole.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100)
  })

  it('prints the same as JSON', async () => {
    const { stdout } = await run(['explain', 'provider.spec.rateLimit', '-o', 'json'])
    expect(JSON.parse(stdout).fields[0]).toMatchObject({ name: 'requestsPerMinute', type: 'integer', example: 60 })
  })
})

describe('the output', () => {
  const metadata = { namespace: 'default', creationTimestamp: '2029-12-31T00:00:00Z', labels: { team: 'x' } }
  const objectOf = (name: string) => ({
    kind: 'Agent',
    metadata: { ...metadata, name },
    spec: { model: { name: 'm' } },
  })
  const answers = {
    'GET /api/v1/agents': { items: [objectOf('a'), objectOf('b')], metadata: {} },
    'GET /api/v1/agents/:name': ({ params }: { params?: unknown }) => objectOf((params as { name: string }).name),
    'GET /api/v1/configmaps': { items: [{ metadata: { ...metadata, name: 'c' }, keys: ['k'] }], metadata: {} },
    'GET /api/v1/sessions': { items: [{ name: 's' }], metadata: {} },
  }
  it.each([
    ['agent list -o name', 'agent/a\nagent/b\n'],
    ['get configmaps -o name', 'configmap/c\n'],
    ['session list -o name', 's\n'],
    ['get agent a b -o name', 'agent/a\nagent/b\n'],
    ['agent list -o jsonpath={.items[*].metadata.name}', 'a b\n'],
    ['get agent a b -o jsonpath={.items[1].spec.model.name}', 'm\n'],
    ['get agent a -o jsonpath={.metadata.name}', 'a\n'],
    ['get agent a -o jsonpath={.metadata.name}{"\\n"}', 'a\n'],
  ])('of %s is %j', async (line, stdout) => {
    expect(await run(line.split(' '), { answers })).toMatchObject({ code: 0, stdout, stderr: '' })
  })

  it('of -o wide has more columns, and none that is cut', async () => {
    const terminal = { columns: 30 }
    const narrow = await run(['agent', 'list'], { answers, terminal })
    const wide = await run(['agent', 'list', '-o', 'wide'], { answers, terminal })
    expect(narrow.stdout).not.toContain('LABELS')
    expect(wide.stdout).toMatch(/^NAMESPACE +NAME +MODEL +LABELS +AGE\ndefault +a +m +team=x +1d$/m)
  })

  it('for an object without a name says so', async () => {
    const named = await run(['task', 'result', 'a', '-o', 'name'], {
      answers: { 'GET /api/v1/tasks/:id/result': { result: 'x' } },
    })
    expect(named).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('has no name; use -o json') })
  })
})

describe('a command with several names', () => {
  const verbs = [
    ['cancel', 'POST /api/v1/tasks/:id/cancel'],
    ['retry', 'POST /api/v1/tasks/:id/retry'],
    ['delete', 'DELETE /api/v1/tasks/:id'],
    ['suspend', 'PUT /api/v1/tasks/:id'],
    ['resume', 'PUT /api/v1/tasks/:id'],
  ] as const
  const idOf = ({ params }: { params?: unknown }) => (params as { id: string }).id
  const answerFor = (verb: string) => (input: { params?: unknown }) => {
    if (idOf(input) === 'b') throw new SvcError('NotFound', `no task b to ${verb}`)
    return { kind: 'Task', metadata: { name: `${idOf(input)}-2` }, spec: {} }
  }
  const answers = (verb: string, route: string) => ({
    'GET /api/v1/tasks/:id': { metadata: { name: 'x' }, spec: {} },
    [route]: answerFor(verb),
  })

  it.each(verbs)(
    'task %s handles each name, reports the one that failed, and ends with its code',
    async (verb, route) => {
      const { code, stderr, calls } = await run(['task', verb, 'a', 'b', 'task/c'], { answers: answers(verb, route) })
      const requested = calls.filter((call) => call.route === route).map(({ input }) => idOf(input))
      expect({ code, requested }).toEqual({ code: 1, requested: ['a', 'b', 'c'] })
      expect(stderr).toContain(`error: b: no task b to ${verb}\n`)
    },
  )

  it('task retry prints one JSON array', async () => {
    const [, [verb, route]] = verbs
    const { stdout } = await run(['task', 'retry', 'a', 'c', '-o', 'json'], { answers: answers(verb, route) })
    expect((JSON.parse(stdout) as { metadata: object }[]).map(({ metadata }) => metadata)).toEqual([
      { name: 'a-2' },
      { name: 'c-2' },
    ])
  })

  it.each([
    ['session delete a b', 'DELETE /api/v1/sessions/:id'],
    ['secret delete a b', 'DELETE /api/v1/secrets/:name'],
    ['agent delete a b', 'DELETE /api/v1/agents/:name'],
    ['delete agent/a agent/b', 'DELETE /api/v1/agents/:name'],
  ])('%s goes on after a failure', async (line, route) => {
    const refuse = new SvcError('NotFound', 'is not there')
    const { code, calls } = await run(line.split(' '), { answers: { [route]: refuse } })
    expect({ code, count: calls.length }).toEqual({ code: 1, count: 2 })
    expect(calls.map(({ input }) => Object.values(input.params as object)[0])).toEqual(['a', 'b'])
  })
})

describe('svc get all and describe', () => {
  const none = { items: [], metadata: {} }
  const metadata = { namespace: 'default', creationTimestamp: '2029-12-31T00:00:00Z' }
  const condition = { type: 'Ready', status: 'False', reason: 'KeyRefused', message: 'the key is refused' }
  const task = { kind: 'Task', metadata: { ...metadata, name: 't' }, spec: { type: 'container' } }
  const provider = {
    kind: 'Provider',
    metadata: { ...metadata, name: 'p', labels: { team: 'x' } },
    spec: { type: 'llma' },
    status: { ready: false, conditions: [{ ...condition, lastTransitionTime: '2029-12-31T23:00:00Z' }] },
  }
  const event = { createdAt: '2029-12-31T23:59:00Z', attempt: 1, type: 'PhaseChanged', phase: 'Running' }
  const lists = {
    'GET /api/v1/agents': none,
    'GET /api/v1/providers': { items: [provider], metadata: {} },
    'GET /api/v1/tools': { items: [{ name: 'file_read', builtin: true }], metadata: {} },
    'GET /api/v1/skills': none,
    'GET /api/v1/configmaps': none,
    'GET /api/v1/monitors/repositories': none,
    'GET /api/v1/tasks': { items: [task], metadata: {} },
  }
  const objects = {
    'GET /api/v1/providers/:name': provider,
    'GET /api/v1/tasks/:id': task,
    'GET /api/v1/tasks/:id/events': {
      items: [
        { ...event, message: 'second' },
        { ...event, message: 'first' },
      ],
      metadata: {},
    },
  }

  it('get all lists the objects of every kind', async () => {
    const { stdout } = await run(['get', 'all'], { answers: lists })
    expect(stdout).toMatch(/^NAME .*\nprovider\/p +default +llma .*\n\nNAME .*\ntask\/t +container /)
    expect(stdout).not.toContain('file_read')
    expect((await run(['get', 'all', '-o', 'name'], { answers: lists })).stdout).toBe('provider/p\ntask/t\n')
  })

  it('get all says when there is nothing', async () => {
    const answers = { ...lists, 'GET /api/v1/providers': none, 'GET /api/v1/tasks': none }
    const { stdout, stderr } = await run(['-n', 'x', 'get', 'all'], { answers })
    expect({ stdout, stderr }).toEqual({ stdout: '', stderr: expect.stringContaining('nothing in namespace x') })
  })

  it('describe shows the fields and conditions of an object', async () => {
    const { stdout } = await run(['describe', 'provider', 'p'], { answers: objects })
    expect(stdout).toMatch(/^kind: +Provider\nname: +p\n.*labels: +team=x\n/s)
    expect(stdout).toContain('spec:\n  type: llma\nstatus:\n  ready: false\n')
    expect(stdout).toMatch(/conditions:\nTYPE .*\nReady +False +KeyRefused +1h +the key is refused$/m)
  })

  it('describe shows the last events of a task, oldest first', async () => {
    const { stdout, calls } = await run(['describe', 'task/t', 't'], { answers: objects })
    expect(stdout).toMatch(/last events:\nAGE .*\n1m .*first\n1m .*second\n\n---\nkind: +Task/)
    expect(calls[1]?.input.query).toMatchObject({ limit: 10 })
  })
})
