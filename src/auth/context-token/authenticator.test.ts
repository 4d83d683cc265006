import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  audience,
  type Issuer,
  makeKey,
  nowSeconds,
  signToken,
  startIssuer,
  subject,
} from '../../../test/fixtures/issuer.ts'
import type { Clock } from '../../lib/clock.ts'
import { createContextAuthenticator } from './authenticator.ts'

let issuer: Issuer
const clock: Clock = { now: () => new Date(), sleep: () => Promise.resolve() }
beforeAll(async () => {
  issuer = await startIssuer()
})
afterAll(() => issuer.stop())

function open() {
  const results: string[] = []
  const authenticator = createContextAuthenticator({
    settings: { issuer: issuer.url, audiences: [audience], namespace: 'guests' },
    deps: { clock },
    observe: (result) => results.push(result),
  })
  return { ask: (token: string) => authenticator.authenticate({ token, source: 'context' }), results }
}

const refused = { reason: 'Unauthenticated', message: 'invalid token' }
const expectRefused = async (claims: object, header: object = {}) =>
  expect(open().ask(await issuer.signTransaction(claims, header))).rejects.toMatchObject(refused)

describe('a context token', () => {
  it('identifies a caller with its transaction', async () => {
    const context = { namespace: 'team', taskType: 'ai' }
    const scope = 'svc:tasks:list  svc:tasks:get svc:tasks:list'
    const token = await issuer.signTransaction({ tctx: context, rctx: { ip: '10.0.0.1' }, scope })
    const scopes = ['svc:tasks:list', 'svc:tasks:get']
    expect(await open().ask(token)).toEqual({
      authType: 'contextToken',
      username: subject,
      uid: subject,
      groups: [],
      subject,
      issuer: issuer.url,
      roles: scopes,
      namespace: 'team',
      boundNamespace: 'team',
      role: 'editor',
      serverTools: true,
      transaction: {
        profile: 'kontxt',
        type: 'txntoken+jwt',
        id: 'txn-1',
        issuer: issuer.url,
        subject,
        audience: [audience],
        scope,
        scopes,
        requestingWorkload: 'spiffe://acme/site',
        context,
        requesterContext: { ip: '10.0.0.1' },
      },
    })
  })

  it('that is not signed with RS256 by a key of the issuer is refused [CTX-003]', async () => {
    const stranger = await makeKey(issuer.key().kid)
    const token = await signToken(stranger, issuer.transactionOf(), { typ: 'txntoken+jwt' })
    await expect(open().ask(token)).rejects.toMatchObject(refused)
  })

  it('of any other type is refused [CTX-004]', async () => {
    for (const typ of [undefined, 'JWT', 'TXNTOKEN+JWT', 'application/txntoken+jwt']) await expectRefused({}, { typ })
  })

  it('of another issuer is refused [CTX-005]', () => expectRefused({ iss: 'https://other.example' }))

  it('for another audience is refused [CTX-006]', async () => {
    for (const aud of ['other', ['other', 'account']]) await expectRefused({ aud })
  })

  it('for us among others is accepted', async () => {
    const caller = await open().ask(await issuer.signTransaction({ aud: ['other', audience] }))
    expect(caller.transaction?.audience).toEqual(['other', audience])
  })

  it('outside its time is refused [CTX-007]', async () => {
    for (const claims of [{ exp: nowSeconds() - 61 }, { nbf: nowSeconds() + 90 }, { iat: nowSeconds() + 90 }]) {
      await expectRefused(claims)
    }
  })

  it('that does not name its key is refused [CTX-008]', () => expectRefused({}, { kid: undefined }))

  it('without iat is refused [CTX-009]', () => expectRefused({ iat: undefined }))

  it('without txn is refused [CTX-010]', async () => {
    for (const txn of [undefined, '', 7]) await expectRefused({ txn })
  })

  it('without scope is refused [CTX-011]', async () => {
    for (const scope of [undefined, '', ' ', ['svc:tasks:list']]) await expectRefused({ scope })
  })

  it('without req_wl is refused [CTX-012]', async () => {
    for (const workload of [undefined, '', {}]) await expectRefused({ req_wl: workload })
  })

  it('with claims longer than a task can store is refused', async () => {
    await expectRefused({ txn: 'x'.repeat(1025) })
    await expectRefused({ scope: Array.from({ length: 257 }, (_, index) => `s${index}`).join(' ') })
  })

  it('is counted as accepted or refused', async () => {
    const { ask, results } = open()
    await ask(await issuer.signTransaction())
    await expect(ask(await issuer.sign())).rejects.toMatchObject(refused)
    expect(results).toEqual(['accepted', 'refused'])
  })
})
