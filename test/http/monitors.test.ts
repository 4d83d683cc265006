// Monitors of repositories over REST: what is stored, what is refused and why, runs, and what a monitor has seen.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { MonitorKey } from '../../src/ports/monitors/monitors.ts'
import type { PullRequestEvent } from '../../src/rules/monitors/events.ts'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
  const secrets: Record<string, Record<string, string>> = {
    vendor: { VENDOR_API_KEY: 'made-up' },
    foundry: { VENDOR_FOUNDRY_API_KEY: 'made-up' },
    'empty-vendor': { VENDOR_API_KEY: ' ' },
    'git-token': { token: 'made-up' },
    'git-password': { token: '', password: 'made-up' },
    'git-codehost': { CODEHOST_TOKEN: 'made-up' },
    'git-app': { CODEHOST_APP_ID: '7', CODEHOST_APP_PRIVATE_KEY: 'made-up' },
    'git-half-app': { CODEHOST_APP_ID: '7' },
    'git-empty': { token: '', other: 'made-up' },
  }
  for (const [name, stringData] of Object.entries(secrets)) {
    await service.ports.secrets.create({ namespace: 'default', name, stringData })
  }
  const agents: Record<string, object> = {
    reviewer: { runtime: { type: 'llma-cli' }, secretRef: { name: 'vendor' } },
    'foundry-reviewer': { runtime: { type: 'llma-cli' }, secretRef: { name: 'foundry' } },
    'keyless-reviewer': { runtime: { type: 'llma-cli' } },
    'lost-reviewer': { runtime: { type: 'llma-cli' }, secretRef: { name: 'gone' } },
    'poor-reviewer': { runtime: { type: 'llma-cli' }, secretRef: { name: 'empty-vendor' } },
    'other-runtime': { runtime: { type: 'opencode' }, model: { name: 'a/b' }, secretRef: { name: 'vendor' } },
    'no-runtime': {},
  }
  for (const [name, spec] of Object.entries(agents)) {
    const made = await service.call('POST /api/v1/agents', { payload: { name, spec } })
    expect(made.statusCode, made.body).toBe(201)
  }
})
afterAll(() => service.stop())

const base = '/api/v1/monitors/repositories'
const repoURL = 'https://github.com/acme/widgets'
const specOf = (more: object = {}) => ({ repoURL, agents: { reviewer: { name: 'reviewer' } }, ...more })
const create = (name: string, more: object = {}) =>
  service.call(`POST ${base}`, { payload: { name, spec: specOf(more) } })
const problemsOf = async (more: object) => {
  const made = await create('refused', more)
  if (made.statusCode !== 400) return [String(made.statusCode)]
  return (made.json().error.details as { path: string; message: string }[]).map(
    ({ path, message }) => `${path} ${message}`,
  )
}

describe('a monitor', () => {
  it('is created with its defaults, and owner and repository of its address [MON-001] [MON-034] [MON-024] [MON-005] [MON-013] [MON-016] [MON-017] [MON-022]', async () => {
    const made = await create('defaults', { owner: 'forged', repository: 'forged', repoURL: `${repoURL}.git` })
    expect(made.statusCode, made.body).toBe(201)
    expect(made.json()).toMatchObject({
      kind: 'RepositoryMonitor',
      metadata: { name: 'defaults', namespace: 'default' },
      spec: {
        provider: 'codehost',
        owner: 'acme',
        repository: 'widgets',
        suspend: false,
        targets: { pullRequests: { enabled: true, includeDrafts: false, maxPerRun: 20 } },
        review: { event: 'COMMENT', requireGreenCI: false, exactEventEnabled: false },
        validation: { mode: 'changed', timeout: '15m' },
      },
    })
    expect((await create('defaults')).statusCode).toBe(409)
  })

  it('keeps what it is given [MON-008]', async () => {
    const spec = {
      branch: 'trunk',
      gitSecretRef: { name: 'git-token' },
      schedule: '*/15 * * * *',
      timeZone: 'Europe/Berlin',
      targets: { pullRequests: { includeDrafts: true, maxPerRun: 3 } },
      review: { event: 'REQUEST_CHANGES', staleReviewTTL: '24h', exactEventEnabled: true },
      policy: { protectedLabels: ['security'], pauseLabels: ['on-hold'] },
      validation: { mode: 'full', commands: ['npm test'] },
    }
    expect((await create('whole', spec)).json().spec).toMatchObject(spec)
  })

  it('is read, listed, replaced and deleted [MON-035] [MON-036] [MON-037] [MON-038]', async () => {
    await create('crud')
    const names = (await service.call(`GET ${base}`))
      .json()
      .items.map((one: { metadata: { name: string } }) => one.metadata.name)
    expect(names).toContain('crud')
    const replaced = await service.call(`PUT ${base}/crud`, {
      payload: { spec: specOf({ suspend: true, repoURL: 'git@github.com:acme/other.git' }) },
    })
    expect(replaced.json().spec).toMatchObject({ suspend: true, owner: 'acme', repository: 'other' })
    expect((await service.call(`GET ${base}/crud`)).json().spec.suspend).toBe(true)
    expect((await service.call(`DELETE ${base}/crud`)).statusCode).toBe(204)
    expect((await service.call(`GET ${base}/crud`)).statusCode).toBe(404)
    expect((await service.call(`PUT ${base}/crud`, { payload: { spec: specOf() } })).statusCode).toBe(404)
  })

  it('needs a name, an address and a reviewer, and is told of all at once [MON-002] [MON-003] [MON-004]', async () => {
    const answer = await service.call(`POST ${base}`, { payload: { spec: {} } })
    expect(answer.statusCode).toBe(400)
    const paths = answer.json().error.details.map(({ path }: { path: string }) => path)
    expect(paths).toEqual(expect.arrayContaining(['name', 'spec.repoURL']))
    const { agents: _agents, ...without } = specOf()
    const refused = await service.call(`POST ${base}`, { payload: { name: 'x', spec: without } })
    expect(refused.json().error.details).toEqual([{ path: 'spec.agents.reviewer.name', message: 'is required' }])
  })

  it.each([
    ['https://github.com/acme/widgets'],
    ['https://github.com/acme/widgets.git'],
    ['git@github.com:acme/widgets.git'],
  ])('accepts %s [MON-054] [MON-055] [MON-056]', async (url) => {
    expect(await problemsOf({ repoURL: url, gitSecretRef: { name: 'gone' } })).toEqual([
      expect.stringMatching(/^spec.gitSecretRef.name /),
    ])
  })

  it.each([
    ['https://github.com/acme/widgets/pull/1', 'names a pull request'],
    ['https://github.com/acme/widgets/issues/1', 'names an issue'],
    ['https://github.com/acme/widgets/tree/main', 'names a branch'],
    ['https://github.com/acme/widgets/blob/main/a', 'names a file'],
    ['https://github.com/acme/widgets/commit/abc', 'names a commit'],
    ['https://github.com/acme/widgets?x=1', 'has a query'],
    ['https://github.com/acme/widgets#x', 'has a fragment'],
    ['https://example.com/acme/widgets', 'must be on a host of the code host (github.com)'],
    ['http://github.com/acme/widgets', 'uses plain HTTP'],
    ['https://me:pw@github.com/acme/widgets', 'has a login in it'],
  ])(
    'refuses %s: it %s [MON-057] [MON-058] [MON-059] [MON-060] [MON-061] [MON-062] [MON-063] [MON-064] [MON-065] [MON-066]',
    async (url, why) => {
      const problems = await problemsOf({ repoURL: url })
      expect(problems).toEqual([expect.stringContaining(`spec.repoURL ${why}`)])
      await create('changed')
      const put = await service.call(`PUT ${base}/changed`, { payload: { spec: specOf({ repoURL: url }) } })
      expect([put.statusCode, put.json().error.message]).toEqual([400, expect.stringContaining(why)])
    },
  )

  const reviewer = (name: string) => ({ agents: { reviewer: { name } } })
  it.each([
    ['another provider', { provider: 'gitlab' }, 'spec.provider'],
    ['issues', { targets: { issues: { enabled: true } } }, 'spec.targets.issues.enabled'],
    ['commits', { targets: { commits: { enabled: true } } }, 'spec.targets.commits.enabled'],
    [
      'no pull requests [MON-014]',
      { targets: { pullRequests: { enabled: false } } },
      'spec.targets.pullRequests.enabled',
    ],
    ['green checks', { review: { requireGreenCI: true } }, 'spec.review.requireGreenCI'],
    ['a missing secret', { gitSecretRef: { name: 'gone' } }, 'spec.gitSecretRef.name'],
    ['a secret without a token', { gitSecretRef: { name: 'git-empty' } }, 'spec.gitSecretRef.name'],
    ['an App without its key', { gitSecretRef: { name: 'git-half-app' } }, 'spec.gitSecretRef.name'],
    ['a missing reviewer', reviewer('gone'), 'spec.agents.reviewer.name'],
    ['a reviewer without a runtime', reviewer('no-runtime'), 'spec.agents.reviewer.name'],
    ['a reviewer of another runtime', reviewer('other-runtime'), 'spec.agents.reviewer.name'],
    ['a reviewer without a secret', reviewer('keyless-reviewer'), 'spec.agents.reviewer.name'],
    ['a reviewer whose secret is missing', reviewer('lost-reviewer'), 'spec.agents.reviewer.name'],
    ['a reviewer whose key is empty', reviewer('poor-reviewer'), 'spec.agents.reviewer.name'],
  ])(
    'refuses %s, on create and update [MON-006] [MON-009] [MON-010] [MON-014] [MON-067] [MON-068] [MON-069] [MON-070] [MON-071] [MON-072]',
    async (_what, more, path) => {
      expect(await problemsOf(more)).toEqual([expect.stringMatching(new RegExp(`^${path.replaceAll('.', '\\.')} `))])
      await create('updated')
      const put = await service.call(`PUT ${base}/updated`, { payload: { spec: specOf(more) } })
      expect([put.statusCode, put.json().error.details[0].path]).toEqual([400, path])
    },
  )

  it('accepts each key of a login, and of a vendor [MON-011] [MON-073]', async () => {
    for (const name of ['git-token', 'git-password', 'git-codehost', 'git-app']) {
      expect((await create(`with-${name}`, { gitSecretRef: { name } })).statusCode).toBe(201)
    }
    expect((await create('with-foundry', reviewer('foundry-reviewer'))).statusCode).toBe(201)
  })

  it('reads the keys of a reviewer of another namespace from its own, and refuses one where namespaces are isolated', async () => {
    const spec = { runtime: { type: 'llma-cli' }, secretRef: { name: 'vendor' } }
    await service.call('POST /api/v1/agents', { payload: { name: 'reviewer', namespace: 'team-b', spec } })
    const far = { agents: { reviewer: { name: 'reviewer', namespace: 'team-b' } } }
    expect((await create('far', far)).statusCode).toBe(201)
    const elsewhere = { name: 'far', namespace: 'team-c', spec: specOf(far) }
    const refused = await service.call(`POST ${base}`, { payload: elsewhere })
    expect(refused.json().error.message).toContain('namespace "team-c", the namespace of the monitor')
  })
})

describe('a run', () => {
  const run = (name: string, payload?: object) =>
    service.call(`POST ${base}/${name}/runs`, payload === undefined ? {} : { payload })
  const finish = async (name: string) => {
    const { uid } = (await service.call(`GET ${base}/${name}`)).json().metadata
    const key: MonitorKey = { uid, namespace: 'default', name }
    const taken = await service.ports.records.monitors.takeRun(key)
    await service.ports.records.monitors.changeRun(key, taken?.id ?? '', { phase: 'succeeded' })
  }

  it('is queued without a body, and announced to the controller [MON-026] [MON-039]', async () => {
    await create('runs')
    const made = await run('runs')
    expect(made.statusCode, made.body).toBe(201)
    expect(made.json()).toMatchObject({
      id: expect.stringMatching(/^monrun-/),
      monitorName: 'runs',
      trigger: 'manual',
      phase: 'queued',
      selectedCount: 0,
    })
    const { annotations } = (await service.call(`GET ${base}/runs`)).json().metadata
    expect(annotations['svc.ai/repository-monitor-run-requested-at']).toBe(made.json().id)
    const listed = (await service.call(`GET ${base}/runs/runs`)).json()
    expect(listed.items).toEqual([made.json()])
  })

  it('is refused while another is queued or running [MON-032] [MON-033]', async () => {
    await create('busy')
    expect((await run('busy')).statusCode).toBe(201)
    const refused = await run('busy')
    expect([refused.statusCode, refused.json().error.message]).toEqual([
      409,
      expect.stringContaining('already has an active run'),
    ])
    const { uid } = (await service.call(`GET ${base}/busy`)).json().metadata
    await service.ports.records.monitors.takeRun({ uid, namespace: 'default', name: 'busy' })
    expect((await run('busy')).statusCode).toBe(409)
    await finish('busy')
    expect((await run('busy')).statusCode).toBe(201)
  })

  it('is queued once of a flood of requests', async () => {
    await create('flooded')
    const answers = await Promise.all(Array.from({ length: 60 }, () => run('flooded')))
    const codes = answers.map(({ statusCode }) => statusCode)
    expect(codes.filter((code) => code === 201)).toHaveLength(1)
    expect(codes.filter((code) => code === 409)).toHaveLength(59)
    expect((await service.call(`GET ${base}/flooded/runs`)).json().items).toHaveLength(1)
    await finish('flooded')
    const large = await run('flooded', { targetNumber: 1, targetSHA: 'a'.repeat(20_000_000) })
    expect([400, 413]).toContain(large.statusCode)
  })

  it('takes a kind, a number and a commit [MON-028]', async () => {
    await create('targets')
    const sha = 'a'.repeat(40)
    for (const body of [
      { targetKind: '' },
      { targetKind: 'pull_request', targetNumber: 7 },
      { targetNumber: 7, targetSHA: sha },
    ]) {
      const made = await run('targets', body)
      expect([made.statusCode, made.json()]).toEqual([201, expect.objectContaining(body)])
      await finish('targets')
    }
    for (const body of [
      { targetKind: 'issue' },
      { targetNumber: 0 },
      { targetNumber: '7' },
      { targetSHA: 'main' },
      { targetSHA: sha },
      { x: 1 },
    ]) {
      expect((await run('targets', body)).statusCode, JSON.stringify(body)).toBe(400)
    }
    expect((await run('gone')).statusCode).toBe(404)
  })

  const event = (more: Partial<PullRequestEvent> = {}): PullRequestEvent => ({
    repository: { owner: 'Acme', name: 'Events', defaultBranch: 'main' },
    number: 7,
    headSHA: 'a'.repeat(40),
    baseBranch: 'main',
    delivery: 'd-1',
    action: 'opened',
    sender: 'ada',
    ...more,
  })
  const queue = (more: Partial<PullRequestEvent> = {}) => service.usecases.monitors.queueEvent(event(more))

  it('is queued by an event of its repository and branch, once for each commit [MON-019]', async () => {
    const spec = { repoURL: 'https://github.com/acme/events', review: { exactEventEnabled: true } }
    await create('events', spec)
    await create('events-quiet', { ...spec, review: {} })
    await create('events-suspended', { ...spec, suspend: true })
    await create('events-trunk', { ...spec, branch: 'trunk' })
    const first = await queue()
    expect(first).toMatchObject({
      matchedMonitors: 1,
      queued: 1,
      cached: 0,
      skipped: 0,
      runIDs: [expect.stringMatching(/^monrun-events-[0-9a-f]{12}$/)],
    })
    expect(await queue()).toMatchObject({ queued: 0, skipped: 1, runIDs: [] })
    expect(await queue({ delivery: 'd-2' })).toMatchObject({ cached: 1, runIDs: first.runIDs })
    expect(await queue({ delivery: 'd-3', baseBranch: 'trunk' })).toMatchObject({ matchedMonitors: 1, queued: 1 })
    expect(await queue({ delivery: 'd-4', baseBranch: 'release' })).toMatchObject({ matchedMonitors: 0 })
    const elsewhere = { owner: 'acme', name: 'other', defaultBranch: 'main' }
    expect(await queue({ delivery: 'd-5', repository: elsewhere })).toMatchObject({ matchedMonitors: 0 })
    expect(
      await queue({ delivery: 'd-6', repository: { ...event().repository, host: 'ghe.example.com' } }),
    ).toMatchObject({ matchedMonitors: 0 })
    const events = (await service.call('GET /api/v1/monitors/events?name=events')).json().items
    expect(events).toEqual([
      expect.objectContaining({
        eventType: 'exact_event_run_queued',
        actor: 'codehost-webhook',
        itemNumber: 7,
        metadata: { action: 'opened', delivery: 'd-1', sender: 'ada', repository: 'Acme/Events' },
      }),
    ])
    expect((await run('events')).statusCode).toBe(409)
  })
})

describe('what a monitor has seen', () => {
  const lists = {
    runs: `${base}/seen/runs?`,
    items: `${base}/seen/items?`,
    reviews: `${base}/seen/reviews?`,
    events: '/api/v1/monitors/events?name=seen&',
  }
  let key: MonitorKey
  beforeAll(async () => {
    const { uid } = (await create('seen')).json().metadata
    key = { uid, namespace: 'default', name: 'seen' }
    const { monitors } = service.ports.records
    const at = '2030-01-01T00:00:00.000Z'
    for (const number of [1, 2, 3]) {
      const id = `id-${number}`
      await monitors.queueRun(
        key,
        { id, trigger: 'manual' },
        { runID: id, eventType: 'run_queued', itemNumber: number },
      )
      await monitors.takeRun(key)
      await monitors.changeRun(key, id, { phase: 'succeeded' })
      await monitors.putItem(key, {
        kind: 'pull_request',
        itemKey: `${number}`,
        number,
        state: 'open',
        labels: [],
        updatedAt: at,
        lastSeenAt: at,
      })
      const validation = { status: 'not_run' as const, commands: [] }
      const found = [{ id: 'find-1', number, priority: 'P1' as const, title: 'a title' }]
      await monitors.addReview(
        key,
        {
          id,
          kind: 'pull_request',
          number,
          headSHA: 'a'.repeat(40),
          runID: id,
          taskName: 't',
          verdict: 'passed',
          securityStatus: 'clear',
          summary: '',
          findings: [],
          validation,
          createdAt: at,
        },
        found,
      )
    }
  })

  it.each(Object.entries(lists))(
    'is listed in pages: %s [MON-040] [MON-041] [MON-042] [MON-043]',
    async (_name, url) => {
      for (const parameter of ['continue', 'cursor']) {
        const seen: unknown[] = []
        let cursor = ''
        do {
          const answer = await service.call(`GET ${url}namespace=default&limit=2${cursor && `&${parameter}=${cursor}`}`)
          expect(answer.statusCode, answer.body).toBe(200)
          seen.push(...answer.json().items)
          cursor = answer.json().metadata.continue ?? ''
        } while (cursor !== '')
        expect(new Set(seen.map((one) => JSON.stringify(one))).size).toBe(3)
      }
      for (const bad of [
        'limit=0',
        'limit=x',
        'cursor=bad',
        'continue=bad',
        'cursor=cnVuczox&continue=cnVuczoy',
        'x=1',
      ]) {
        expect((await service.call(`GET ${url}${bad}`)).statusCode, bad).toBe(400)
      }
      expect((await service.call(`GET ${url.replace('seen', 'gone')}`)).statusCode).toBe(404)
      expect((await service.call(`GET ${url}namespace=elsewhere`)).statusCode).toBe(404)
    },
  )

  it('is filtered', async () => {
    const count = async (url: string) => (await service.call(`GET ${url}`)).json().items.length
    expect(await count(`${lists.items}kind=pull_request&state=open&number=2`)).toBe(1)
    expect(await count(`${lists.items}verdict=passed`)).toBe(0)
    expect(await count(`${lists.items}repairState=queued`)).toBe(0)
    expect(await count(`${lists.items}automergeState=pending`)).toBe(0)
    expect(await count(`${lists.reviews}number=3`)).toBe(1)
    expect(await count(`${lists.runs}trigger=schedule`)).toBe(0)
    expect(await count(`${lists.events}runID=id-1&eventType=run_queued&itemNumber=1`)).toBe(1)
    expect(await count(`${lists.events}itemKind=issue`)).toBe(0)
    expect((await service.call('GET /api/v1/monitors/events?itemNumber=x&name=seen')).statusCode).toBe(400)
  })

  it('is asked for by the name of the monitor [MON-049]', async () => {
    const answer = await service.call('GET /api/v1/monitors/events')
    expect([answer.statusCode, answer.json().error.details]).toEqual([400, [{ path: 'name', message: 'is required' }]])
  })

  it('has findings that are dismissed and counted again', async () => {
    const dismiss = (id: string, dismissed: boolean) =>
      service.call(`PUT ${base}/seen/items/1/findings/${id}`, { payload: { dismissed } })
    expect((await dismiss('find-1', true)).statusCode).toBe(204)
    const known = () => service.ports.records.monitors.listFindings(key, 1)
    expect((await known())[0]).toHaveProperty('dismissedAt')
    expect((await dismiss('find-1', false)).statusCode).toBe(204)
    expect((await known())[0]).not.toHaveProperty('dismissedAt')
    expect((await dismiss('find-2', true)).statusCode).toBe(404)
    const types = (await service.call(`GET ${lists.events}itemNumber=1`))
      .json()
      .items.map((one: { eventType: string }) => one.eventType)
    expect(types).toEqual(['finding_restored', 'finding_dismissed', 'run_queued'])
  })
})
