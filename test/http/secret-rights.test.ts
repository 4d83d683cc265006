// On a cluster a Secret is made by the right of whoever asks, not by that of the service: reviewed as the API server would.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { KubernetesApi } from '../../src/cluster/api.ts'
import { createReviewAuthorizer } from '../../src/cluster/identity/authorizer.ts'
import { systemClock as clock } from '../../src/lib/system-clock.ts'
import type { Authenticator } from '../../src/ports/identity/identity.ts'
import { type Service, startService } from './service.ts'

type Review = { user: string; resourceAttributes?: { resource: string; verb: string; namespace?: string } }

const reviewed: Review[] = []
/** Only the user named writer may create Secrets, in one namespace. */
const api = {
  async request({ body }: { body?: unknown }) {
    const spec = (body as { spec: Review }).spec
    reviewed.push(spec)
    const { resource, verb, namespace } = spec.resourceAttributes ?? {}
    const isGranted = resource === 'secrets' && verb === 'create' && namespace === 'team' && spec.user === 'writer'
    return { status: { allowed: isGranted } }
  },
} as unknown as Pick<KubernetesApi, 'request'>

/** The token is the name of a user whom the cluster knows. */
const authenticator: Authenticator = {
  authenticate: async ({ token: user }) => ({
    authType: 'tokenReview',
    username: user,
    uid: user,
    groups: [],
    cluster: { user, uid: user, groups: [], extra: {} },
    role: 'editor',
    serverTools: true,
  }),
}

let service: Service
beforeAll(async () => {
  const authorizer = createReviewAuthorizer({ api, clock, operatorNamespace: 'svc-system' })
  const context = { authenticator, acceptsBearer: false, headers: ['txn-token'] }
  service = await startService({
    http: { tokenHeaders: [{ header: 'txn-token' }] },
    identity: { members: { context }, authorizer },
  })
})
afterAll(() => service.stop())
beforeEach(() => {
  reviewed.length = 0
})

const create = (user: string, namespace: string) =>
  service.call('POST /api/v1/secrets', {
    token: null,
    headers: { 'txn-token': user },
    payload: { name: `key-of-${user}`, namespace, stringData: { token: 'value' } },
  })
const isStored = async (user: string, namespace: string) =>
  (await service.ports.secrets.read({ namespace, name: `key-of-${user}` })) !== undefined

it('is made for a caller who may create Secrets there [SECRET-003]', async () => {
  expect((await create('writer', 'team')).statusCode).toBe(201)
  expect(await isStored('writer', 'team')).toBe(true)
  expect(reviewed).toMatchObject([
    { user: 'writer', resourceAttributes: { group: '', resource: 'secrets', verb: 'create', namespace: 'team' } },
  ])
})

it.each([
  ['reader', 'team'],
  ['writer', 'other'],
])('is not made for %s in %s, who may not [SECRET-003]', async (user, namespace) => {
  const refused = await create(user, namespace)
  expect([refused.statusCode, refused.json().error.message]).toEqual([
    403,
    expect.stringContaining(`"${user}" may not create secrets in namespace "${namespace}"`),
  ])
  expect(await isStored(user, namespace)).toBe(false)
})
