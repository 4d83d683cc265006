// Deliveries that a stateful code host signs and sends itself.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCodeHosts } from '../../src/codehost/code-hosts.ts'
import { createEgress } from '../../src/egress/egress.ts'
import { makeSecret } from '../fixtures/codehost/deliveries.ts'
import { type CodeHostServer, startCodeHost } from '../fixtures/codehost/server.ts'
import { type Service, startService } from './service.ts'

const repo = 'acme/site'
const secret = makeSecret()
let host: CodeHostServer
let service: Service

/** `login`: the Secret of label triggers. */
async function start(pages: string | undefined, login: (host: CodeHostServer) => Record<string, string>) {
  const started = await startCodeHost({ repositories: [repo], ...(pages && { pages }) })
  const codeHosts = createCodeHosts({
    hosts: ['github.com'],
    apiUrls: { 'github.com': started.url },
    egress: createEgress(),
    policy: { allowNetworks: [], deny: [] },
    now: Date.now,
    pause: async () => {},
  })
  const taking = await startService({
    codeHosts,
    usecases: { webhook: { secret, agent: 'builder', gitSecret: 'git' } },
  })
  await taking.call('POST /api/v1/agents', { payload: { name: 'builder', spec: { runtime: { type: 'llma-cli' } } } })
  await taking.ports.secrets.create({ namespace: 'default', name: 'git', stringData: login(started) })
  const config = { url: `${await taking.listen()}/webhooks/codehost`, secret, content_type: 'json' }
  await started.call('acme', 'POST', `/repos/${repo}/hooks`, { config, events: ['*'], active: true })
  return { host: started, service: taking }
}

beforeAll(async () => {
  const opened = await start(undefined, (of) => ({ GITHUB_TOKEN: of.tokenOf('writer') }))
  host = opened.host
  service = opened.service
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

describe('the login of label triggers', () => {
  it('may be that of an App: for tasks, for reactions and for comments', async () => {
    const app = await start('https://github.com', ({ app: { appId, privateKey } }) => {
      return { CODEHOST_APP_ID: appId, CODEHOST_APP_PRIVATE_KEY: privateKey }
    })
    try {
      const number = await app.host.openIssue(repo, { title: 'The port is wrong' })
      await app.host.label(repo, number, ['agent:implement'])
      const tasks = () => app.service.ports.resources.list('Task', {})
      await expect.poll(async () => (await tasks()).items.length, { timeout: 10_000 }).toBe(1)
      expect((await tasks()).items[0]?.spec.workspace).toMatchObject({
        gitRepo: `https://github.com/${repo}.git`,
        gitSecretRef: { name: 'git' },
      })
      const { id } = await app.host.call('acme', 'POST', `/repos/${repo}/issues/${number}/comments`, {
        body: '/svc stop',
      })
      const reaction = () => app.host.additions.reactions.get(`${repo}/comments/${id}`)?.map(({ user }) => user)
      await expect.poll(reaction, { timeout: 10_000 }).toEqual(['svc-app[bot]'])
      const path = `/repos/${repo}/issues/${number}/comments`
      type Comments = { body: string; user: { login: string } }[]
      const own = async () =>
        ((await app.host.call('acme', 'GET', path)) as unknown as Comments).filter(({ body }) =>
          body.includes('svc:status'),
        )
      await expect
        .poll(async () => (await own()).map(({ body }) => body), { timeout: 10_000 })
        .toEqual([expect.stringContaining('acme wrote /svc stop: 1 task was cancelled')])
    } finally {
      await app.service.stop()
      await app.host.close()
    }
  })
})
