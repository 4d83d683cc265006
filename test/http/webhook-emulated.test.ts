// Deliveries that a stateful code host signs and sends itself.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCodeHosts } from '../../src/adapters/codehost/code-hosts.ts'
import { createEgress } from '../../src/egress/egress.ts'
import { makeSecret } from '../fixtures/codehost/deliveries.ts'
import { type CodeHostServer, startCodeHost } from '../fixtures/codehost/server.ts'
import { type Service, startService } from './service.ts'

const repo = 'acme/site'
const secret = makeSecret()
let host: CodeHostServer
let service: Service

beforeAll(async () => {
  host = await startCodeHost({ repositories: [repo] })
  const codeHosts = createCodeHosts({
    hosts: ['github.com'],
    apiUrls: { 'github.com': host.url },
    egress: createEgress(),
    policy: { allowNetworks: [], deny: [] },
    now: Date.now,
    pause: async () => {},
  })
  service = await startService({ codeHosts, usecases: { webhook: { secret, agent: 'builder', gitSecret: 'git' } } })
  await service.call('POST /api/v1/agents', { payload: { name: 'builder', spec: { runtime: { type: 'llma-cli' } } } })
  const stringData = { GITHUB_TOKEN: host.tokenOf('writer') }
  await service.ports.secrets.create({ namespace: 'default', name: 'git', stringData })
  const url = `${await service.listen()}/webhooks/codehost`
  const hook = { config: { url, secret, content_type: 'json' }, events: ['*'], active: true }
  await host.call('acme', 'POST', `/repos/${repo}/hooks`, hook)
})
afterAll(async () => {
  await service.stop()
  await host.close()
})

const deliveries = async (query: string) => (await service.call(`GET /api/v1/webhook/deliveries?${query}`)).json().items
const arrived = async (query: string) => {
  await expect.poll(async () => (await deliveries(query)).length, { timeout: 10_000 }).toBeGreaterThan(0)
  return (await deliveries(query))[0]
}

describe('deliveries of a code host', () => {
  it('are taken by their signature, and each is found with what it led to', async () => {
    const number = await host.openIssue(repo, { title: 'The port is wrong' })
    expect(await arrived(`number=${number}&event=issues`)).toMatchObject({
      repository: repo,
      action: 'opened',
      sender: 'acme',
      state: 'ignored',
      outcome: { message: 'nothing waits for action opened of issues' },
    })
    const pull = await host.openPull(repo)
    expect(await arrived(`number=${pull.number}&event=pull_request`)).toMatchObject({ action: 'opened' })
  })

  it('do not choose where the login is sent: their repository must be on the code host', async () => {
    const number = await host.openIssue(repo, { title: 'What is this?' })
    host.seen.length = 0
    await host.call('acme', 'POST', `/repos/${repo}/issues/${number}/comments`, { body: '/svc stop' })
    const refused = await arrived(`number=${number}&event=issue_comment&state=failed`)
    expect(refused.outcome.message).toContain('clone_url of acme/site uses plain HTTP')
    expect(host.seen.filter(({ login }) => login === 'writer')).toEqual([])
  })
})
