// What authentication adds to a request once its caches are warm: each way in, beside a check that does nothing.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthenticatorChain } from '../src/auth/chain.ts'
import { createContextAuthenticator } from '../src/auth/context-token/authenticator.ts'
import { createContextAuthorizer } from '../src/auth/context-token/authorizer.ts'
import { createOidcAuthenticator } from '../src/auth/oidc/authenticator.ts'
import { createFailedAttempts } from '../src/http/middleware/attempt-guard.ts'
import { readCredential } from '../src/http/middleware/credentials.ts'
import { systemClock as clock, systemIds as ids } from '../src/lib/system-clock.ts'
import type { Authenticator, Caller } from '../src/ports/identity/identity.ts'
import { type ContextAction, contextActions } from '../src/rules/identity/context-token.ts'
import { createTokenAuthenticator } from '../src/store/identity/token-authenticator.ts'
import { createTokens } from '../src/store/identity/tokens.ts'
import { openSqlite } from '../src/store/sqlite/database.ts'
import { audience, startIssuer } from '../test/fixtures/issuer.ts'
import { percentile, type Row, report, round } from './measure.ts'

const warmUp = 2_000
const samples = 20_000

type Way = { what: string; headers: Record<string, string> }

const contextHeaders = [{ header: 'txn-token' }]
const scopes = Object.fromEntries(
  Object.entries(contextActions).map(([action, scope]) => [action, [scope]]),
) as unknown as Record<ContextAction, string[]>

function toRow(what: string, times: number[]): Row {
  const share = (part: number) => round(percentile(times, part) / 1000, 4)
  return { what, 'p50 ms': share(0.5), 'p99 ms': share(0.99), 'limit p50 ms': 0.1 }
}

/** Microseconds of each run. */
async function measure(work: () => Promise<unknown>): Promise<number[]> {
  for (let index = 0; index < warmUp; index++) await work()
  const times: number[] = []
  for (let index = 0; index < samples; index++) {
    const began = process.hrtime.bigint()
    await work()
    times.push(Number(process.hrtime.bigint() - began) / 1000)
  }
  return times
}

async function openChain() {
  const issuer = await startIssuer()
  const settings = { issuer: issuer.url, audiences: [audience] }
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const database = openSqlite({ path: join(folder, 'svc.db') })
  const tokens = createTokens({ database, clock, ids })
  const chain = createAuthenticatorChain({
    plain: [createTokenAuthenticator({ tokens, clock, ownerToken: 'the-owner-of-the-bench' })],
    oidc: {
      issuer: issuer.url,
      authenticator: createOidcAuthenticator({ ...settings, allowedSubjects: ['*'], namespace: 'default' }, { clock }),
    },
    context: {
      authenticator: createContextAuthenticator({ settings: { ...settings, namespace: 'default' }, deps: { clock } }),
      acceptsBearer: false,
      headers: ['Txn-Token'],
    },
  })
  const stored = await tokens.create({ name: 'bench', role: 'editor', serverTools: true })
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  const ways: Way[] = [
    { what: 'owner token', headers: bearer('the-owner-of-the-bench') },
    { what: 'stored token', headers: bearer(stored.token) },
    { what: 'OpenID Connect token', headers: bearer(await issuer.sign()) },
    {
      what: 'context token, with its scope asked',
      headers: { 'txn-token': await issuer.signTransaction({ tctx: { namespace: 'default' } }) },
    },
  ]
  const stop = async () => {
    await issuer.stop()
    await database.close()
    rmSync(folder, { recursive: true })
  }
  return { chain, ways, issuer, stop }
}

/** All that stands between the headers and the caller, and for context tokens the decision on a list. */
function createEntry(chain: Authenticator): (headers: Record<string, string>) => Promise<Caller> {
  const attempts = createFailedAttempts(100, clock)
  const connection = {}
  const authorizer = createContextAuthorizer({ rules: { mode: 'enforce', scopes } })
  return async (headers) => {
    const credential = readCredential(headers, contextHeaders)
    const attempt = { address: '127.0.0.1', credential: credential.token, connection }
    attempts.check(attempt)
    const caller = await chain.authenticate(credential)
    attempts.succeed(attempt)
    await authorizer.authorize(caller, { verb: 'list', kind: 'Task', namespace: 'default' })
    return caller
  }
}

export async function run(): Promise<void> {
  const { chain, ways, issuer, stop } = await openChain()
  const enter = createEntry(chain)
  const rows: Row[] = [toRow('nothing (a resolved promise)', await measure(async () => undefined))]
  for (const { what, headers } of ways) rows.push(toRow(what, await measure(() => enter(headers))))
  const fresh = await Promise.all(
    Array.from({ length: warmUp + samples / 10 }, (_, jti) => issuer.sign({ jti: String(jti) })),
  )
  const times: number[] = []
  for (const token of fresh) {
    const began = process.hrtime.bigint()
    await enter({ authorization: `Bearer ${token}` })
    times.push(Number(process.hrtime.bigint() - began) / 1000)
  }
  const cold = toRow('OpenID Connect token never seen before', times.slice(warmUp))
  rows.push({ ...cold, 'limit p50 ms': '' })
  report('auth', rows)
  await stop()
}
