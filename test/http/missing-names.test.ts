// A name that nothing has is answered with the one that may be meant, for every kind and verb.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aiTask, type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
  const post = (path: string, payload: object) => service.call(`POST /api/v1/${path}`, { payload })
  await post('tasks', aiTask('nightly'))
  await post('agents', { name: 'reviewer', spec: {} })
  await post('skills', { name: 'writing', spec: { description: 'd', content: { inline: '# d' } } })
  await post('tools', { name: 'weather', spec: { description: 'd', http: { url: 'https://example.com' } } })
  await post('providers', { name: 'claude', spec: { type: 'llmo' } })
  await post('secrets', { name: 'forge', stringData: { key: 'value' } })
  await post('configmaps', { name: 'colours', data: { a: 'b' } })
  await service.ports.records.sessions.ensure(
    { namespace: 'default', name: 'research' },
    { create: true, sessionType: 'chat' },
  )
  const { resources } = service.ports
  const repoURL = 'https://github.com/acme/widgets'
  const shop = { repoURL, analysisAgentRef: { name: 'reviewer' } }
  await resources.create('RepositoryScan', { metadata: { namespace: 'default', name: 'shop' }, spec: shop } as never)
  const reviews = { repoURL, agents: { reviewer: { name: 'reviewer' } } }
  await resources.create('RepositoryMonitor', {
    metadata: { namespace: 'default', name: 'reviews' },
    spec: reviews,
  } as never)
})
afterAll(() => service.stop())

const messageOf = async (call: string, more: object = {}) => {
  const answer = await service.call(call, more)
  return [answer.statusCode, answer.json().error?.message]
}

describe('a name that nothing has', () => {
  it.each([
    ['GET /api/v1/tasks/nigtly', 'nightly'],
    ['GET /api/v1/tasks/nigtly/logs', 'nightly'],
    ['POST /api/v1/tasks/nigtly/cancel', 'nightly'],
    ['POST /api/v1/tasks/nigtly/run', 'nightly'],
    ['POST /api/v1/tasks/nigtly/pull-request', 'nightly'],
    ['DELETE /api/v1/tasks/nigtly', 'nightly'],
    ['GET /api/v1/agents/reviwer', 'reviewer'],
    ['GET /api/v1/skills/writting', 'writing'],
    ['GET /api/v1/tools/wether', 'weather'],
    ['GET /api/v1/tools/web_serach', 'web_search'],
    ['GET /api/v1/providers/cluade', 'claude'],
    ['POST /api/v1/providers/cluade/test', 'claude'],
    ['DELETE /api/v1/secrets/frge', 'forge'],
    ['GET /api/v1/configmaps/colors', 'colours'],
    ['GET /api/v1/sessions/reserch', 'research'],
    ['GET /api/v1/security/repositories/shp', 'shop'],
    ['GET /api/v1/security/repositories/shp/imports', 'shop'],
    ['GET /api/v1/security/repositories/shp/scans', 'shop'],
    ['GET /api/v1/monitors/repositories/review', 'reviews'],
    ['GET /api/v1/monitors/repositories/review/items', 'reviews'],
    ['POST /api/v1/monitors/repositories/review/runs', 'reviews'],
  ])('%s: did you mean %s?', async (call, meant) => {
    const payload = call.startsWith('POST') ? { payload: {} } : {}
    expect(await messageOf(call, payload)).toEqual([
      404,
      expect.stringMatching(`not found: .*; did you mean ${meant}\\?$`),
    ])
  })

  it('is of a kind that is written as people write it', async () => {
    const message = 'repository scan not found: "shp" in namespace "default"; did you mean shop?'
    expect(await messageOf('GET /api/v1/security/repositories/shp')).toEqual([404, message])
  })

  it('is not guessed where nothing is alike', async () => {
    expect(await messageOf('GET /api/v1/tasks/hello')).toEqual([404, 'task not found: "hello" in namespace "default"'])
  })
})
