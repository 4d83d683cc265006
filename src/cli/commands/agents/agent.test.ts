import { describe, expect, it } from 'vitest'
import { recordContext } from '../../../../test/fixtures/cli/recording-context.ts'
import { runCommandLine } from '../../program.ts'

async function create(status: object) {
  const agent = { metadata: { name: 'coder', namespace: 'default' }, spec: { model: { name: 'mian/large' } }, status }
  const answers = { 'POST /api/v1/agents': () => agent, 'GET /api/v1/agents/:name': () => agent }
  const recording = recordContext({ answers })
  const code = await runCommandLine(['agent', 'create', 'coder', '--model', 'mian/large'], recording.context)
  return { code, noted: recording.noted() }
}

it('says of a new agent why it is not ready', async () => {
  const conditions = [{ type: 'Ready', message: 'provider "main" is not ready' }]
  const { code, noted } = await create({ ready: false, conditions })
  expect(code).toBe(0)
  expect(noted).toContain('it is not ready: provider "main" is not ready')
})

it('says of a new agent that is ready what its model may have meant', async () => {
  const warning = { type: 'ModelNameWarning', message: 'did you mean "main/large"?' }
  const { code, noted } = await create({ ready: true, conditions: [{ type: 'Ready', message: 'all there' }, warning] })
  expect(code).toBe(0)
  expect(noted).toMatch(/did you mean "main\/large"\?\ntry it: .*run --agent coder/)
  expect(noted).not.toContain('all there')
})

describe('a new agent of opencode, which is told its model at its start', () => {
  const created = async (provider: object, more: string[] = []) => {
    const answers = {
      'POST /api/v1/agents': {},
      'GET /api/v1/agents/:name': { metadata: { name: 'coder' }, spec: {}, status: { ready: false } },
      'GET /api/v1/providers': { items: [{ metadata: { name: 'main' }, spec: provider }], metadata: {} },
      'POST /api/v1/providers/:name/test': { ok: true, models: ['large', 'small'] },
    }
    const recording = recordContext({ answers })
    const code = await runCommandLine(['agent', 'create', 'coder', '--runtime', 'opencode', ...more], recording.context)
    const made = recording.calls.find(({ route }) => route === 'POST /api/v1/agents')
    return { code, noted: recording.noted(), spec: (made?.input.body as { spec: object } | undefined)?.spec }
  }
  const runtime = { type: 'opencode' }

  it.each([[[]], [['--provider', 'main']]])('has that of its provider: %j', async (more) => {
    const { spec } = await created({ type: 'llmo', defaultModel: 'large' }, more)
    expect(spec).toEqual({ runtime, providerRef: { name: 'main' }, model: { name: 'large' } })
  })

  it('has the one that is named', async () => {
    const { spec } = await created({ type: 'llmo', defaultModel: 'large' }, ['--model', 'main/small'])
    expect(spec).toEqual({ runtime, model: { name: 'main/small' } })
  })

  it('is not made where there is none, and it is said what to do', async () => {
    const { code, noted, spec } = await created({ type: 'llmo' })
    expect([code, spec]).toEqual([2, undefined])
    expect(noted).toMatch(/opencode needs a model, and main has none: it offers large, small.*name one with --model/)
  })
})

describe('a new agent without a model', () => {
  const created = async (spec: object, provider: object) => {
    const agent = { metadata: { name: 'coder', namespace: 'default' }, spec, status: { ready: true } }
    const answers = {
      'POST /api/v1/agents': agent,
      'GET /api/v1/agents/:name': agent,
      'GET /api/v1/providers': { items: [{ metadata: { name: 'main' }, spec: provider }], metadata: {} },
      'POST /api/v1/providers/:name/test': { ok: true, models: ['large', 'small'] },
    }
    const recording = recordContext({ answers })
    const code = await runCommandLine(['agent', 'create', 'coder'], recording.context)
    return { code, noted: recording.noted() }
  }

  it('is told of what its provider offers, and how one is chosen, instead of being tried', async () => {
    const { code, noted } = await created({}, { type: 'llma' })
    expect(code).toBe(0)
    expect(noted).toMatch(
      /neither it nor its provider main has a model; it offers large, small.*provider update main --model large/,
    )
    expect(noted).not.toContain('try it')
  })

  it('is told to name one where the key of its secret is used', async () => {
    const { noted } = await created({ runtime: { type: 'llma-cli' }, secretRef: { name: 'vendor' } }, { type: 'llma' })
    expect(noted).toMatch(/it has no model.*agent update coder --model MODEL/)
  })

  it.each([
    [{ model: { name: 'large' } }, { type: 'llma' }],
    [{}, { type: 'llma', defaultModel: 'large' }],
    [{}, { type: 'demo' }],
  ])('is tried at once where there is one: agent %j, provider %j', async (spec, provider) => {
    expect((await created(spec, provider)).noted).toContain('try it')
  })
})
