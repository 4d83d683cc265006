// `svc login` by a person at a real issuer and the real service: both ways, refresh, and what is left on the disk.
import { spawn } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createEmulator } from 'emulate'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { CommandOutcome } from '../fixtures/cli/loaded-programs.ts'
import { audience, type Issuer, startIssuer, subject } from '../fixtures/issuer.ts'
import { environmentOf, launcher, makeFolder, removeFolder, runSvc, type Service, startService } from './service.ts'

let issuer: Issuer
let service: Service
let folder: string
let env: NodeJS.ProcessEnv

beforeAll(async () => {
  issuer = await startIssuer()
  const flags = ['--oidc-issuer', issuer.url, '--oidc-audience', audience, '--oidc-allowed-subjects', 'repo:acme/*']
  service = await startService({ flags: [...flags, '--oidc-namespace', 'guests'] })
})
afterAll(async () => {
  await service.stop()
  await issuer.stop()
  removeFolder(service.folder)
})
beforeEach(() => {
  issuer.setLifetime(300)
  folder = makeFolder()
  env = { ...environmentOf(folder), SVC_SERVER: service.url }
  return () => removeFolder(folder)
})

const loginArgs = () => ['login', '--issuer', issuer.url, '--client-id', 'svc-cli']
const loginFile = () => join(folder, 'config', 'svc', 'logins.json')

/** A person with a browser: opens the address that the program shows, and follows where it leads. */
function logInWithBrowser(
  args: string[],
  visit: (address: string) => Promise<unknown> = fetch,
): Promise<CommandOutcome> {
  const child = spawn(process.execPath, [launcher, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const outcome = { stdout: '', stderr: '' }
  let visited = false
  child.stdout.on('data', (chunk: Buffer) => {
    outcome.stdout += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    outcome.stderr += chunk.toString()
    const address = /^\s*(http\S+\/authorize\?\S+)$/m.exec(outcome.stderr)?.[1]
    if (address === undefined || visited) return
    visited = true
    visit(address).catch(() => child.kill())
  })
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...outcome })))
}

const whoAmI = (extra: NodeJS.ProcessEnv = {}) => runSvc(['task', 'list', '-o', 'json'], { ...env, ...extra })

describe('svc login', () => {
  it('with a browser stores a token, readable for this user only, that later commands use', async () => {
    const login = await logInWithBrowser(loginArgs())
    expect(login.stderr).toContain(`logged in at ${service.url} as ${subject}, namespace guests`)
    expect(login.code).toBe(0)
    expect(statSync(loginFile()).mode & 0o777).toBe(0o600)
    const { token } = JSON.parse(readFileSync(loginFile(), 'utf8'))[service.url]
    expect(`${login.stdout}${login.stderr}`).not.toContain(token)
    expect((await whoAmI()).code).toBe(0)
    expect((await runSvc(['logout'], env)).code).toBe(0)
    expect((await whoAmI()).stderr).toContain('log in with `npx svc login`')
  })

  it('with --device waits until the person has agreed elsewhere', async () => {
    issuer.setDevicePolls(1)
    const login = await runSvc([...loginArgs(), '--device'], env)
    expect(login.stderr).toContain('type in the code ABCD-EFGH')
    expect(login.stderr).toContain(`${issuer.url}/activate`)
    expect(login.code, login.stderr).toBe(0)
    expect((await whoAmI()).code).toBe(0)
  })

  it('renews a token that is about to expire once, and stores the new refresh token', async () => {
    issuer.setLifetime(30)
    await runSvc([...loginArgs(), '--device'], env)
    const before = JSON.parse(readFileSync(loginFile(), 'utf8'))[service.url]
    issuer.setLifetime(300)
    const refreshes = issuer.counts.refresh
    expect((await whoAmI()).code).toBe(0)
    expect((await whoAmI()).code).toBe(0)
    expect(issuer.counts.refresh).toBe(refreshes + 1)
    const after = JSON.parse(readFileSync(loginFile(), 'utf8'))[service.url]
    expect(after.token).not.toBe(before.token)
    expect(after.refreshToken).not.toBe(before.refreshToken)
    expect(statSync(loginFile()).mode & 0o777).toBe(0o600)
  })

  it('stores no token that the service does not accept', async () => {
    const login = await runSvc([...loginArgs(), '--device', '--token-kind', 'id'], env)
    expect(login.code).toBe(1)
    expect(login.stderr).toContain('invalid token')
    expect(JSON.parse(readFileSync(loginFile(), 'utf8'))).toEqual({})
  })

  it('is overridden by a token in SVC_TOKEN', async () => {
    await runSvc([...loginArgs(), '--device'], env)
    expect((await whoAmI({ SVC_TOKEN: 'not-a-token' })).stderr).toContain('invalid token')
    expect((await whoAmI({ SVC_TOKEN: service.token })).code).toBe(0)
  })

  it('says what is missing, and refuses an issuer without https', async () => {
    expect((await runSvc(['login'], env)).stderr).toContain('give --issuer, or set SVC_OIDC_ISSUER')
    const plain = await runSvc(['login', '--issuer', 'http://issuer.example', '--client-id', 'x'], env)
    expect([plain.code, plain.stderr]).toEqual([
      2,
      expect.stringContaining('must be an address that begins with https://'),
    ])
    const { SVC_SERVER: _server, ...without } = env
    expect((await runSvc(loginArgs(), without)).stderr).toContain(
      'name the service with --server, SVC_SERVER or a context',
    )
  })
})

describe('svc login at an issuer that is a separate program', () => {
  it('keeps the ID token of a person, proved by PKCE and nonce', async () => {
    const login = 'ada@okta.local'
    const user = { login, email: login, first_name: 'Ada', last_name: 'L' }
    const authorization_servers = [{ id: 'people', name: 'people', audiences: ['api://svc'] }]
    const okta = await createEmulator({
      service: 'okta',
      port: 0,
      seed: { okta: { users: [user], authorization_servers, oauth_clients: [] } },
    })
    const address = `${okta.url}/oauth2/people`
    const flags = ['--oidc-issuer', address, '--oidc-audience', 'svc-cli', '--oidc-allowed-subjects', '*']
    const other = await startService({ flags })
    const args = ['login', '--server', other.url, '--issuer', address, '--client-id', 'svc-cli', '--token-kind', 'id']
    // What the issuer's page does when a person chooses a user on it.
    const agree = async (shown: string) => {
      const form = new URLSearchParams([...new URL(shown).searchParams, ['user_ref', login]])
      const answer = await fetch(`${address}/v1/authorize/callback`, { method: 'POST', body: form })
      if (!answer.ok) throw new Error(`the issuer answered ${answer.status}`)
    }
    const outcome = await logInWithBrowser(args, agree)
    expect(outcome.stderr).toContain(`logged in at ${other.url} as ${login}, namespace default`)
    expect((await runSvc(['task', 'list'], { ...env, SVC_SERVER: other.url })).code).toBe(0)
    await other.stop()
    removeFolder(other.folder)
    await okta.close()
  })
})
