// Versions of an agent: written by the controller, whoever changed the agent, once, and removed with it.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AgentSpec } from '../../src/contract/kinds/agents/agent.ts'
import { createAgentController } from '../../src/controllers/agents/controller.ts'
import { defaultResourceControllerSettings } from '../../src/controllers/resources/settings.ts'
import { createSweepController, defaultRetention } from '../../src/controllers/resources/sweep.ts'
import { isSvcError } from '../../src/errors.ts'
import { waitFor } from '../fixtures/time.ts'
import { type Bench, openBench } from './bench.ts'

let bench: Bench
beforeEach(async () => {
  bench = await openBench({ withCatalog: true })
})
afterEach(() => bench.dispose())

const key = { namespace: 'default', name: 'writer' }
const signal = new AbortController().signal

async function listVersions() {
  const agent = await bench.resources.get('Agent', key)
  return bench.records.agentVersions.list({ ...key, uid: agent?.metadata.uid ?? '' }, { limit: 100 })
}

const promptsWhen = (wanted: (string | undefined)[]) =>
  waitFor(
    async () => {
      const found = (await listVersions()).map(({ content }) => content.prompt)
      return JSON.stringify(found) === JSON.stringify(wanted) || undefined
    },
    `the versions are ${wanted.join(', ')}`,
  )

/** The controller may be writing its status. */
const change = (spec: object) =>
  waitFor(async () => {
    const agent = await bench.resources.get('Agent', key)
    if (agent === undefined) throw new Error('no agent')
    return bench.resources.update('Agent', { ...agent, spec: AgentSpec.parse(spec) }).catch((error: unknown) => {
      if (!isSvcError(error, 'Conflict')) throw error
    })
  }, 'the agent is changed')

/** As on another replica. */
function openController() {
  const tryProvider = async () => ({ models: [] })
  const listMcpTools = async () => ({ tools: [], leftOut: [] })
  const settings = defaultResourceControllerSettings
  return createAgentController({ ...bench, tryProvider, listMcpTools, settings })
}

const reconcile = () => openController().reconcile('default/writer', signal)

describe('the versions of an agent', () => {
  it('begin with the agent, and each change of what it tells is one', async () => {
    await bench.create('Agent', 'writer', { systemPrompt: { inline: 'one' } })
    await promptsWhen(['one'])
    await change({ systemPrompt: { inline: 'two' }, model: { name: 'large' } })
    await promptsWhen(['two', 'one'])
    // It says nothing else to its model then.
    await change({ systemPrompt: { inline: 'two' }, model: { name: 'large' }, maxIterations: 3 })
    await change({ systemPrompt: { inline: 'three' }, model: { name: 'large' }, maxIterations: 3 })
    await promptsWhen(['three', 'two', 'one'])
    expect((await listVersions())[1]).toMatchObject({ number: 2, content: { prompt: 'two', model: { name: 'large' } } })
  })

  it('are made once, though it is looked at again and by other replicas', async () => {
    await bench.create('Agent', 'writer', { systemPrompt: { inline: 'one' } })
    await promptsWhen(['one'])
    await bench.pause()
    await change({ systemPrompt: { inline: 'two' } })
    // Of two that write the status at once, one is refused and looks again.
    await Promise.allSettled([reconcile(), reconcile()])
    const controller = openController()
    for (let at = 0; at < 2; at += 1) await controller.reconcile('default/writer', signal)
    expect((await listVersions()).map(({ content }) => content.prompt)).toEqual(['two', 'one'])
  })

  it('follow the ConfigMap that has its prompt, and wait for it', async () => {
    const configMapRef = { name: 'texts', key: 'prompt.md' }
    await bench.create('Agent', 'writer', { systemPrompt: { configMapRef } })
    await waitFor(async () => (await bench.resources.get('Agent', key))?.status?.ready === false || undefined, 'a look')
    expect(await listVersions()).toEqual([])
    const map = { namespace: 'default', name: 'texts' }
    await bench.configMaps.create({ ...map, data: { 'prompt.md': 'one' } })
    await promptsWhen(['one'])
    await bench.configMaps.replace({ ...map, data: { 'prompt.md': 'two' } })
    await promptsWhen(['two', 'one'])
    expect((await listVersions())[0]?.content).toEqual({ prompt: 'two', promptFrom: configMapRef })
  })

  it('go with the agent, also when that was deleted while nobody looked', async () => {
    await bench.create('Agent', 'writer', {})
    await promptsWhen([undefined])
    await bench.resources.remove('Agent', key)
    await waitFor(async () => (await bench.records.agentVersions.agents()).length === 0 || undefined, 'they go')
    await bench.create('Agent', 'writer', {})
    await promptsWhen([undefined])
    await bench.pause()
    const stays = await bench.create('Agent', 'stays', {})
    await openController().reconcile('default/stays', signal)
    await bench.resources.remove('Agent', key)
    const { owners } = bench.records
    const sweeping = createSweepController({ ...bench, owners, leftovers: [], settings: defaultRetention })
    await sweeping.reconcile('sweep', signal)
    const { uid } = stays.metadata
    expect(await bench.records.agentVersions.agents()).toEqual([{ namespace: 'default', name: 'stays', uid }])
  })
})
