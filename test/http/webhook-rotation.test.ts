// The secret of the webhook is changed while the service runs.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeDelivery, makeSecret } from '../fixtures/codehost/deliveries.ts'
import { type Service, startService } from './service.ts'

const secretName = 'hook'
const configured = makeSecret()
const earlier = makeSecret()
let service: Service
let alone: Service

beforeAll(async () => {
  service = await startService({
    usecases: { webhook: { secret: configured, previousSecrets: [earlier], secretName } },
  })
  alone = await startService({ usecases: { webhook: { secretName, namespace: 'team' } } })
})
afterAll(() => Promise.all([service.stop(), alone.stop()]))

async function ping(of: Service, secret: string) {
  const { payload, headers } = makeDelivery({ event: 'ping', payload: {}, secret })
  const answer = await of.call('POST /webhooks/codehost', { token: null, payload, headers })
  return { status: answer.statusCode, message: answer.json().error?.message }
}
const statuses = async (of: Service, ...secrets: string[]) =>
  Promise.all(secrets.map(async (secret) => (await ping(of, secret)).status))

async function store(of: Service, stringData: Record<string, string>, namespace = 'default') {
  const key = { namespace, name: secretName }
  const { secrets } = of.ports
  if ((await secrets.describe(key)) === undefined) await secrets.create({ ...key, stringData })
  else await secrets.update(key, { stringData, remove: [] })
}

describe('the secret of the webhook', () => {
  it('may be an earlier one of the settings', async () => {
    expect(await statuses(service, configured, earlier, makeSecret())).toEqual([202, 202, 401])
  })

  it('counts from the next delivery on when the Secret changes, and the ones before it as long as they are named', async () => {
    const [first, second] = [makeSecret(), makeSecret()]
    expect(await statuses(service, first)).toEqual([401])
    await store(service, { secret: `${first}\n` })
    expect(await statuses(service, first, second, configured)).toEqual([202, 401, 202])
    await store(service, { secret: second, previous: `${makeSecret()}\n${first}\n` })
    expect(await statuses(service, first, second)).toEqual([202, 202])
    await store(service, { previous: '' })
    expect(await statuses(service, first, second)).toEqual([401, 202])
  })

  it('may stand in the Secret alone; without it the webhook is off', async () => {
    const secret = makeSecret()
    const missing = await ping(alone, secret)
    expect([missing.status, missing.message]).toEqual([503, expect.stringContaining('Secret "hook" in team')])
    await store(alone, { previous: secret }, 'team')
    expect((await ping(alone, secret)).status).toBe(503)
    await store(alone, { secret }, 'team')
    expect(await statuses(alone, secret, '', makeSecret())).toEqual([202, 401, 401])
    await alone.ports.secrets.remove({ namespace: 'team', name: secretName })
    expect((await ping(alone, secret)).status).toBe(503)
  })
})
