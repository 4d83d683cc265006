// update, test and set-default: only what is given changes, whoever else writes meanwhile, and no value is shown.
import { describe, expect, it } from 'vitest'
import { pageOf, recordContext } from '../../../../test/fixtures/cli/recording-context.ts'
import { SvcError } from '../../../errors.ts'
import { runCommandLine } from '../../program.ts'

type ContextOptions = Parameters<typeof recordContext>[0]

async function run(args: string[], options: ContextOptions = {}, edit?: (text: string) => string) {
  const recording = recordContext(options)
  const context = { ...recording.context, ...(edit && { editText: async (text: string) => edit(text) }) }
  const code = await runCommandLine(args, context)
  const sent = recording.calls.filter(({ route }) => !route.startsWith('GET'))
  return { code, sent, noted: recording.noted(), printed: recording.printed() }
}

const metadata = { name: 'main', namespace: 'default', uid: 'u1', resourceVersion: '7' }
const provider = { metadata, spec: { type: 'llmo', defaultModel: 'old', serverTools: true }, status: { ready: true } }
const stored = { 'GET /api/v1/providers/:name': () => provider, 'PUT /api/v1/providers/:name': () => provider }

describe('svc provider update', () => {
  it('sends the whole spec with the given fields changed, and prints the changes', async () => {
    const { code, sent, noted } = await run(['provider', 'update', 'main', '--model', 'new'], { answers: stored })
    expect(code).toBe(0)
    expect(sent[0]?.input.body).toEqual({
      metadata: { uid: 'u1', resourceVersion: '7' },
      spec: { type: 'llmo', defaultModel: 'new', serverTools: true },
    })
    expect(noted).toContain('provider main was changed\n  spec.defaultModel: "old" -> "new"')
  })

  it('sends nothing when nothing changes, and asks for options when none is given', async () => {
    const same = await run(['provider', 'update', 'main', '--model', 'old', '--server-tools', 'on'], {
      answers: stored,
    })
    expect([same.code, same.sent, same.noted]).toEqual([0, [], 'provider main is unchanged\n'])
    const silent = await run(['provider', 'update', 'main'], { answers: stored })
    expect([silent.code, silent.sent]).toEqual([2, []])
    expect(silent.noted).toContain('--type')
  })

  it('retries on the newer version after a conflict, and fails when conflicts do not end', async () => {
    const conflict = new SvcError('Conflict', 'it was changed meanwhile')
    let tries = 0
    const refuseOnce = () => {
      tries += 1
      if (tries === 1) throw conflict
      return provider
    }
    const answers = { ...stored, 'PUT /api/v1/providers/:name': refuseOnce }
    expect((await run(['provider', 'update', 'main', '--model', 'new'], { answers })).code).toBe(0)
    const always = await run(['provider', 'update', 'main', '--model', 'new'], {
      answers: { ...stored, 'PUT /api/v1/providers/:name': conflict },
    })
    expect([always.code, always.sent.length]).toEqual([1, 3])
    expect(always.noted).toContain('it was changed meanwhile')
  })

  it('keeps the prices, and stores the key in a secret without a value on the command line', async () => {
    const priced = {
      ...provider,
      spec: { ...provider.spec, prices: [{ model: 'a', currency: 'USD', inputPerMillion: 1 }] },
    }
    const answers = {
      'GET /api/v1/providers/:name': () => priced,
      'PUT /api/v1/providers/:name': () => priced,
      'POST /api/v1/secrets': new SvcError('AlreadyExists', 'there already'),
      'PUT /api/v1/secrets/:name': () => ({ keys: ['api-key'] }),
    }
    const value = 'made-up-value-77'
    const args = ['provider', 'update', 'main', '--price', 'b=1/2', '--key-from-env', 'NEW_KEY']
    const { sent, noted, printed } = await run(args, { answers, environment: { NEW_KEY: value } })
    const [, replaced, changed] = sent
    expect(replaced?.input).toMatchObject({ params: { name: 'main-key' }, body: { stringData: { 'api-key': value } } })
    expect(changed?.input.body).toMatchObject({
      spec: {
        secretRef: { name: 'main-key', key: 'api-key' },
        prices: [{ model: 'a' }, { model: 'b', outputPerMillion: 2 }],
      },
    })
    expect(noted + printed).not.toContain(value)
  })
})

describe('svc provider test', () => {
  const found = { ok: true, message: 'it answers', models: ['m'], durationMs: 5 }
  const refused = {
    ok: false,
    reason: 'CredentialRefused',
    message: '\u001b[31mno such key',
    models: [],
    durationMs: 5,
  }

  it('ends with 0 when all providers answer and with 1 when one does not, whose message is made safe to print', async () => {
    const answers = (input: { params: { name: string } }) => (input.params.name === 'bad' ? refused : found)
    const options = { answers: { 'POST /api/v1/providers/:name/test': answers }, terminal: { columns: 100 } }
    expect(await run(['provider', 'test', 'good'], options)).toMatchObject({
      code: 0,
      printed: 'good: ok, it answers (5 ms)\n',
    })
    const both = await run(['provider', 'test', 'bad', 'good'], options)
    expect(both.code).toBe(1)
    expect(both.printed).toContain('bad: CredentialRefused, \u241b[31mno such key\ngood: ok')
  })
})

describe('svc provider set-default', () => {
  const named = (name: string, more: object = {}) => ({
    metadata: { ...metadata, name },
    spec: { type: 'llmo', ...more },
  })
  const answersFor = (items: ReturnType<typeof named>[]) => ({
    'GET /api/v1/providers': () => pageOf(items),
    'GET /api/v1/providers/:name': (input: { params: { name: string } }) =>
      items.find((item) => item.metadata.name === input.params.name),
    'PUT /api/v1/providers/:name': () => items[0],
  })

  it('marks this provider and no other as the default', async () => {
    const answers = answersFor([named('a', { default: true }), named('b'), named('c')])
    const { code, sent } = await run(['provider', 'set-default', 'b'], { answers })
    expect(code).toBe(0)
    expect(sent.map(({ input }) => [input.params?.name, (input.body as { spec: object }).spec])).toEqual([
      ['a', { type: 'llmo' }],
      ['b', { type: 'llmo', default: true }],
    ])
  })

  it('goes before a provider named `default`', async () => {
    const answers = answersFor([named('default'), named('a')])
    const { code, sent } = await run(['provider', 'set-default', 'a'], { answers })
    expect([code, sent.map(({ input }) => input.params?.name)]).toEqual([0, ['a']])
  })

  it('says why it cannot: no such provider, or the demo', async () => {
    const answers = answersFor([named('default'), named('a'), named('demo', { type: 'demo' })])
    for (const [name, words] of [
      ['nane', 'there is no provider "nane"'],
      ['defalt', 'did you mean default?'],
      ['demo', 'not a language model'],
    ] as const) {
      const { code, sent, noted } = await run(['provider', 'set-default', name], { answers })
      expect([code === 0, sent]).toEqual([false, []])
      expect(noted).toContain(words)
    }
  })
})

describe('svc secret edit', () => {
  const secret = {
    name: 'key',
    namespace: 'default',
    type: 'Opaque',
    keys: ['api-key', 'other', 'third'],
    createdAt: '',
  }
  const answers = { 'GET /api/v1/secrets': () => pageOf([secret]), 'PUT /api/v1/secrets/:name': () => secret }

  it('shows keys without values: an empty value keeps, a new one replaces, a missing line removes', async () => {
    let shown = ''
    const { code, sent } = await run(['secret', 'edit', 'key'], { answers }, (text) => {
      shown = text
      return 'api-key: new-value\nother: ""\nfourth: 12\n'
    })
    expect(code).toBe(0)
    expect(shown).toMatch(/^api-key: ""\nother: ""\nthird: ""$/m)
    expect(sent[0]?.input.body).toEqual({ stringData: { 'api-key': 'new-value', fourth: '12' }, remove: ['third'] })
  })

  it.each(['', 'just words', 'api-key: [a]', 'a: b: c'])(
    'changes nothing when the editor leaves %j, and prints no value',
    async (text) => {
      const { sent, noted } = await run(['secret', 'edit', 'key'], { answers }, () => text)
      expect(sent).toEqual([])
      expect(noted).not.toContain('words')
    },
  )
})

describe('svc task update', () => {
  const task = {
    metadata,
    spec: { type: 'ai', prompt: 'x', ai: { model: 'm', temperature: 1 }, schedule: '0 3 * * *' },
  }
  const answers = { 'GET /api/v1/tasks/:id': () => task, 'PUT /api/v1/tasks/:id': () => task }

  it('changes the schedule of a task', async () => {
    const args = ['task', 'update', 'main', '--schedule', '0 4 * * *', '--model', 'n', '--priority', '700']
    const { code, sent } = await run(args, { answers })
    expect(code).toBe(0)
    expect(sent[0]?.input.body).toMatchObject({
      spec: { type: 'ai', prompt: 'x', ai: { model: 'n', temperature: 1 }, schedule: '0 4 * * *', priority: 700 },
    })
  })

  it('reports a task that has started meanwhile', async () => {
    const started = new SvcError('Conflict', 'it has started', { details: [{ path: 'spec', message: 'is fixed' }] })
    const { code, sent, noted } = await run(['task', 'update', 'main', '--prompt', 'y'], {
      answers: { ...answers, 'PUT /api/v1/tasks/:id': started },
    })
    expect([code, sent.length]).toEqual([1, 1])
    expect(noted).toContain('it has started')
  })
})
