// What the scopes of a context token allow of monitors: reading, changing and starting runs are three rights.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Issuer, startIssuer } from '../fixtures/issuer.ts'
import { trustIssuer } from './identity-members.ts'
import { type Service, startService } from './service.ts'

const base = '/api/v1/monitors/repositories'
const spec = { repoURL: 'https://github.com/acme/widgets', agents: { reviewer: { name: 'reviewer' } } }
// A monitor names an agent, whose reading is another right.
const beside = 'svc:agents:read'
let issuer: Issuer
let service: Service

beforeAll(async () => {
  issuer = await startIssuer()
  service = await startService(trustIssuer(issuer, { mode: 'enforce' }))
  await service.ports.secrets.create({ namespace: 'default', name: 'vendor', stringData: { VENDOR_API_KEY: 'x' } })
  const reviewer = { name: 'reviewer', spec: { runtime: { type: 'llma-cli' }, secretRef: { name: 'vendor' } } }
  await service.call('POST /api/v1/agents', { payload: reviewer })
  for (const name of ['kept', 'removed']) await service.call(`POST ${base}`, { payload: { name, spec } })
})
afterAll(async () => {
  await service.stop()
  await issuer.stop()
})

const calls: Record<string, [line: string, payload?: object][]> = {
  'svc:monitors:read': [
    [`GET ${base}`],
    [`GET ${base}/kept`],
    [`GET ${base}/kept/runs`],
    [`GET ${base}/kept/items`],
    [`GET ${base}/kept/reviews`],
    ['GET /api/v1/monitors/events?name=kept'],
  ],
  'svc:monitors:write': [
    [`POST ${base}`, { name: 'made', spec }],
    [`PUT ${base}/kept`, { spec }],
    [`DELETE ${base}/removed`],
  ],
  'svc:monitors:operate': [
    [`POST ${base}/kept/runs`, {}],
    [`PUT ${base}/kept/items/1/findings/find-1`, { dismissed: true }],
  ],
}
const rows = Object.entries(calls).flatMap(([scope, lines]) =>
  lines.map(([line, payload]) => ({ scope, line, payload })),
)

async function send(scopes: string[], { line, payload }: { line: string; payload?: object | undefined }) {
  const token = await issuer.signTransaction({ scope: [...scopes, beside].join(' '), tctx: { namespace: 'default' } })
  const body = payload === undefined ? {} : { payload }
  return (await service.call(line, { token: null, headers: { 'txn-token': token }, ...body })).statusCode
}

describe('the scopes of a context token', () => {
  it.each(rows)('have $scope for $line, and no other will do [CTX-016] [CTX-017] [CTX-018]', async (row) => {
    const others = Object.keys(calls).filter((scope) => scope !== row.scope)
    expect(await send(others, row)).toBe(403)
    expect([200, 201, 204, 404]).toContain(await send([row.scope], row))
  })
})
