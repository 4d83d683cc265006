// What tasks with Secrets use in other namespaces is noted for the policies of the cluster, before they start.
import { isDeepStrictEqual } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SvcError } from '../../src/errors.ts'
import type { PolicyEntries } from '../../src/ports/resources/policy-entries.ts'
import { waitFor } from '../fixtures/time.ts'
import { type Bench, openBench } from './bench.ts'

function createEntries() {
  let version = 1
  const own = {
    entries: {} as Record<string, string>,
    isThere: true,
    refusal: undefined as SvcError | undefined,
    /** Of all writes so far; each waits for it. */
    gate: Promise.resolve(),
    writes: 0,
  }
  const policyEntries: PolicyEntries = {
    read: async () => (own.isThere ? { version: String(version), entries: own.entries } : undefined),
    async replace(found, entries) {
      own.writes += 1
      await own.gate
      if (own.refusal) throw own.refusal
      if (found.version !== String(version)) throw new SvcError('Conflict', 'it has changed')
      version += 1
      own.entries = entries
    },
  }
  return { own, policyEntries }
}

let bench: Bench
let noted: ReturnType<typeof createEntries>
beforeEach(async () => {
  noted = createEntries()
  bench = await openBench({ policyEntries: noted.policyEntries })
  await bench.secrets.create({ namespace: 'default', name: 'own', stringData: { key: 'made-up' } })
  const provider = { type: 'llmo', baseURL: 'https://llm.example.com', defaultModel: 'm' }
  await bench.create('Provider', 'vendor', provider, { namespace: 'far' })
})
afterEach(() => bench.dispose())

const helper = { providerRef: { name: 'vendor' } }
const makeHelper = () => bench.create('Agent', 'helper', helper, { namespace: 'far' })
const ai = { type: 'ai', command: undefined, prompt: 'write a poem' }
const using = { ...ai, agentRef: { name: 'helper', namespace: 'far' }, secretRef: { name: 'own' } }
const whole = { 'far.agents': 'helper default', 'far.providers': 'vendor default' }

/** Time passes until it is so. */
const becomes = (entries: object) =>
  waitFor(
    async () => {
      await bench.jump(1000)
      return isDeepStrictEqual(noted.own.entries, entries)
    },
    `the notes being ${JSON.stringify(entries)}`,
  )

describe('a task with a Secret and an agent of another namespace', () => {
  it('does not start before that is written', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    noted.own.gate = promise
    await makeHelper()
    await bench.submitTask('poem', using)
    await waitFor(() => noted.own.writes > 0, 'the note being on its way')
    await bench.submitTask('other')
    await bench.running('other')
    expect(bench.workloads.running()).toEqual(['other'])
    resolve()
    await bench.running('poem')
    expect(noted.own.entries).toEqual(whole)
  })

  it('waits where it may not be written, and says what to do', async () => {
    noted.own.refusal = new SvcError('Forbidden', 'the account of the service may not patch it')
    await makeHelper()
    await bench.submitTask('poem', using)
    const waiting = await bench.taskWhen('poem', ({ status }) => status?.queuedReason === 'UsesNotNoted', 'waits')
    expect(waiting.status?.phase).toBe('Pending')
    expect(waiting.status?.message).toMatch(/may not patch it; install the chart of this version again/)
    noted.own.refusal = undefined
    await bench.jump(5000)
    expect((await bench.running('poem')).status?.queuedReason).toBeUndefined()
  })

  it('starts where no policy reads it', async () => {
    noted.own.isThere = false
    await makeHelper()
    await bench.submitTask('poem', using)
    await bench.running('poem')
    expect(noted.own.writes).toBe(0)
  })

  it('is noted until it ends, and again by the next service', async () => {
    await makeHelper()
    await bench.submitTask('poem', using)
    await bench.running('poem')
    await bench.pause()
    noted.own.entries = { 'far.tools': 'gone default' }
    bench.resume()
    await becomes(whole)
    await bench.putResult('poem', 'a poem')
    bench.workloads.succeed('poem')
    await bench.phase('poem', 'Succeeded')
    await becomes({})
  })
})

it('what waits is noted as well: for its agent, its schedule, or being resumed', async () => {
  await bench.submitTask('poem', using)
  await becomes({ 'far.agents': 'helper default' })
  await bench.submitTask('nightly', { ...using, agentRef: { name: 'other', namespace: 'far' }, schedule: '0 3 * * *' })
  await becomes({ 'far.agents': 'helper default\nother default' })
  await bench.submitTask('held', { ...using, agentRef: { name: 'third', namespace: 'far' }, suspend: true })
  await becomes({ 'far.agents': 'helper default\nother default\nthird default' })
  await makeHelper()
  await bench.running('poem')
  expect(noted.own.entries['far.providers']).toBe('vendor default')
})

it('a change of an agent is noted while its task runs', async () => {
  await makeHelper()
  await bench.submitTask('poem', using)
  await bench.running('poem')
  const stored = await waitFor(() => bench.resources.get('Agent', { namespace: 'far', name: 'helper' }))
  await bench.resources.update('Agent', { ...stored, spec: { ...stored.spec, skills: [{ name: 'rhymes' }] } })
  await becomes({ ...whole, 'far.skills': 'rhymes default' })
})

describe('a config map', () => {
  const words = { name: 'words', key: 'text' }
  const env = (name: string) => [{ name: 'WORD', valueFrom: { configMapKeyRef: { name, key: 'text' } } }]
  const makeWords = (namespace: string) => bench.configMaps.create({ namespace, name: 'words', data: { text: 'a' } })

  it('is noted before the task starts, also where it is in the namespace of the Secret', async () => {
    await makeWords('default')
    const { promise, resolve } = Promise.withResolvers<void>()
    noted.own.gate = promise
    await bench.submitTask('command', { secretRef: { name: 'own' }, env: env('words') })
    await waitFor(() => noted.own.writes > 0, 'the note being on its way')
    expect(bench.workloads.running()).toEqual([])
    resolve()
    await bench.running('command')
    expect(noted.own.entries).toEqual({ 'default.configmaps': 'words default' })
  })

  it('that is not there yet is noted as well, until the task has ended', async () => {
    await bench.submitTask('command', { secretRef: { name: 'own' }, env: env('later') })
    await becomes({ 'default.configmaps': 'later default' })
    await bench.resources.remove('Task', { namespace: 'default', name: 'command' })
    await becomes({})
  })

  it('of an agent is noted in the namespace of the agent', async () => {
    await makeWords('far')
    const systemPrompt = { configMapRef: words }
    await bench.create('Agent', 'helper', { ...helper, systemPrompt }, { namespace: 'far' })
    await bench.submitTask('poem', using)
    await bench.running('poem')
    expect(noted.own.entries).toEqual({ ...whole, 'far.configmaps': 'words default' })
  })

  it('of a task without a Secret is not', async () => {
    await makeWords('default')
    await bench.submitTask('command', { env: env('words') })
    await bench.running('command')
    await bench.jump(2000)
    expect(noted.own.writes).toBe(0)
  })
})

it('nothing is written for what is in one namespace, or has no Secret', async () => {
  await makeHelper()
  await bench.submitTask('poem', { ...using, secretRef: undefined })
  await bench.running('poem')
  await bench.create('Agent', 'near', { providerRef: { name: 'vendor', namespace: 'far' } })
  await bench.submitTask('command', { secretRef: { name: 'own' } })
  await bench.running('command')
  await bench.jump(2000)
  expect(noted.own.writes).toBe(0)
})
