// A person has the review that a monitor made of a pull request posted.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ItemState, MonitorKey } from '../../src/ports/monitors/monitors.ts'
import { type Service, startService } from './service.ts'

const base = '/api/v1/monitors/repositories'
const head = 'a'.repeat(40)
const at = '2030-01-01T00:00:00.000Z'
let service: Service
beforeAll(async () => {
  service = await startService()
  const stored = { vendor: { VENDOR_API_KEY: 'made-up' }, login: { token: 'made-up' } }
  for (const [name, stringData] of Object.entries(stored))
    await service.ports.secrets.create({ namespace: 'default', name, stringData })
  const spec = { runtime: { type: 'llma-cli' }, secretRef: { name: 'vendor' } }
  expect((await service.call('POST /api/v1/agents', { payload: { name: 'reviewer', spec } })).statusCode).toBe(201)
})
afterAll(() => service.stop())

async function makeMonitor(name: string, more: object = {}): Promise<MonitorKey> {
  const spec = { repoURL: 'https://github.com/acme/widgets', agents: { reviewer: { name: 'reviewer' } }, ...more }
  const made = await service.call(`POST ${base}`, { payload: { name, spec } })
  expect(made.statusCode, made.body).toBe(201)
  return { uid: made.json().metadata.uid, namespace: 'default', name }
}

/** A pull request that was reviewed at its head. */
async function addReviewed(
  key: MonitorKey,
  more: Partial<ItemState> = {},
  verdict: 'passed' | 'security_sensitive' = 'passed',
): Promise<void> {
  const { monitors } = service.ports.records
  const item = { kind: 'pull_request', itemKey: '7', number: 7, state: 'open', labels: [], headSHA: head } as const
  const known = { lastReviewID: 'monreview-1', lastVerdict: verdict, updatedAt: at, lastSeenAt: at } as const
  await monitors.putItem(key, { ...item, labels: [], ...known, ...more })
  const review = {
    id: 'monreview-1',
    kind: 'pull_request',
    number: 7,
    headSHA: head,
    runID: 'r',
    taskName: 't',
  } as const
  const said = { verdict, securityStatus: 'clear', summary: '', findings: [], createdAt: at } as const
  await monitors.addReview(
    key,
    { ...review, ...said, findings: [], validation: { status: 'not_run', commands: [] } },
    [],
  )
}

const post = (name: string, number = 7, token?: string) =>
  service.call(`POST ${base}/${name}/items/${number}/publish`, token === undefined ? {} : { token })

describe('the review of a pull request', () => {
  it('is posted on demand by a monitor that posts nothing by itself', async () => {
    const key = await makeMonitor('quiet', { gitSecretRef: { name: 'login' } })
    await addReviewed(key)
    const answer = await post('quiet')
    expect([answer.statusCode, answer.json().number]).toEqual([202, 7])
    expect(answer.body).not.toContain('publishWish')
    expect(await service.ports.records.monitors.listUnderWay(key)).toMatchObject([{ publishWish: 'monreview-1' }])
    const events = await service.ports.records.monitors.listEvents(key, { limit: 5, itemNumber: 7 })
    expect(events.map(({ eventType }) => eventType)).toContain('review_publish_requested')
  })

  it('is for whoever may change the monitor', async () => {
    const key = await makeMonitor('guarded', { gitSecretRef: { name: 'login' } })
    await addReviewed(key)
    const runner = await service.ports.tokens.create({ name: 'runner', role: 'runner', serverTools: true })
    expect((await post('guarded', 7, runner.token)).statusCode).toBe(403)
    expect(await service.ports.records.monitors.listUnderWay(key)).toEqual([])
  })

  it.each<[string, Partial<ItemState>, RegExp]>([
    ['is closed', { state: 'out_of_scope' }, /closed, merged/],
    ['has another head by now', { headSHA: 'b'.repeat(40) }, /its head is another commit/],
    ['has no review', { lastReviewID: undefined as never }, /has no review/],
    ['is posted', { lastPublishPhase: 'succeeded', lastPublishURL: 'https://x/1' }, /is posted at https:\/\/x\/1/],
  ])('of one that %s is refused', async (what, more, words) => {
    const name = what.replaceAll(' ', '-')
    await addReviewed(await makeMonitor(name, { gitSecretRef: { name: 'login' } }), more)
    const answer = await post(name)
    expect([answer.statusCode, answer.json().error.message]).toEqual([409, expect.stringMatching(words)])
  })

  it('is refused where it concerns security, unless the monitor posts such reviews', async () => {
    const login = { gitSecretRef: { name: 'login' } }
    const key = await makeMonitor('discreet', login)
    await addReviewed(key, {}, 'security_sensitive')
    const refused = await post('discreet')
    expect([refused.statusCode, refused.json().error.message]).toEqual([
      409,
      expect.stringMatching(/concerns security.*set spec.review.publish.postSecuritySensitive/),
    ])
    expect(await service.ports.records.monitors.listUnderWay(key)).toEqual([])
    const open = await makeMonitor('open', { ...login, review: { publish: { postSecuritySensitive: true } } })
    await addReviewed(open, {}, 'security_sensitive')
    expect((await post('open')).statusCode).toBe(202)
  })

  it('is refused without a login, and where nothing was seen', async () => {
    await addReviewed(await makeMonitor('anonymous'))
    expect((await post('anonymous')).json().error.message).toMatch(/no login for the code host: set spec.gitSecretRef/)
    await makeMonitor('empty', { gitSecretRef: { name: 'login' } })
    expect((await post('empty', 8)).statusCode).toBe(404)
  })
})
