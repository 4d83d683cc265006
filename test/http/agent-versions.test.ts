// Versions of an agent over REST: paged, for whoever may read the agent, and without what of a ConfigMap they may not read.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Access } from '../../src/contract/api/identity/access.ts'
import { readVersionContent } from '../../src/rules/agents/versions.ts'
import { type Service, startService } from './service.ts'

let service: Service
let refused: (access: Access) => boolean = () => false
beforeAll(async () => {
  const authorize = async (_caller: unknown, access: Access) =>
    refused(access) ? { allowed: false as const, reason: 'no' } : { allowed: true as const }
  service = await startService({ identity: { authorizer: { authorize } } })
})
afterAll(() => service.stop())

/** As the controller does. */
async function note(name: string, prompt: string): Promise<void> {
  const agent = await service.ports.resources.get('Agent', { namespace: 'default', name })
  if (agent === undefined) throw new Error('no agent')
  await service.ports.records.agentVersions.note(agent, readVersionContent(agent, prompt))
}

async function makeAgent(name: string, spec: object, prompt: string): Promise<void> {
  await service.call('POST /api/v1/agents', { payload: { name, spec } })
  await note(name, prompt)
}

describe('the versions of an agent', () => {
  it('are listed newest first, page by page', async () => {
    await makeAgent('writer', { systemPrompt: { inline: 'one' }, model: { name: 'large' } }, 'one')
    for (const inline of ['two', 'three']) {
      await service.call('PUT /api/v1/agents/writer', { payload: { spec: { systemPrompt: { inline } } } })
      await note('writer', inline)
    }
    const first = (await service.call('GET /api/v1/agents/writer/versions?limit=2')).json()
    expect(first.items).toMatchObject([
      { number: 3, generation: 3, content: { prompt: 'three' } },
      { number: 2, content: { prompt: 'two' } },
    ])
    const rest = await service.call(`GET /api/v1/agents/writer/versions?continue=${first.metadata.continue}`)
    expect(rest.json()).toEqual({
      items: [
        {
          number: 1,
          since: expect.stringMatching(/^20/),
          generation: 1,
          content: { prompt: 'one', model: { name: 'large' } },
        },
      ],
      metadata: {},
    })
    const wrong = await service.call('GET /api/v1/agents/writer/versions?continue=abc')
    expect([wrong.statusCode, wrong.json().error.details[0].path]).toEqual([400, 'continue'])
  })

  it('are not there for an agent that is not there, nor for one that was made again', async () => {
    await makeAgent('again', { systemPrompt: { inline: 'old' } }, 'old')
    await service.call('DELETE /api/v1/agents/again')
    expect((await service.call('GET /api/v1/agents/again/versions')).statusCode).toBe(404)
    await service.call('POST /api/v1/agents', { payload: { name: 'again', spec: {} } })
    expect((await service.call('GET /api/v1/agents/again/versions')).json().items).toEqual([])
  })

  it('are for whoever may read the agent, without the texts of ConfigMaps that they may not read', async () => {
    const configMapRef = { name: 'texts', key: 'prompt.md' }
    await makeAgent('mapped', { systemPrompt: { configMapRef } }, 'from the map')
    const read = () => service.call('GET /api/v1/agents/mapped/versions')
    const content = { promptFrom: configMapRef }
    expect((await read()).json().items[0].content).toEqual({ prompt: 'from the map', ...content })
    refused = ({ kind }) => kind === 'ConfigMap'
    expect((await read()).json().items[0].content).toEqual(content)
    refused = ({ kind }) => kind === 'Agent'
    expect((await read()).statusCode).toBe(403)
    refused = () => false
    const { token } = await service.ports.tokens.create({
      name: 'other',
      role: 'owner',
      namespace: 'other',
      serverTools: true,
    })
    expect((await service.call('GET /api/v1/agents/mapped/versions?namespace=default', { token })).statusCode).toBe(403)
  })
})
