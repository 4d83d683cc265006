// `svc open`, and the dashboard as the built program serves it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { audience, startIssuer, subject } from '../fixtures/issuer.ts'
import { environmentOf, launchSvc, makeFolder, removeFolder, runSvc, type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(async () => {
  await service.stop()
  removeFolder(service.folder)
})

async function printUrl(args: string[] = [], env = service.env): Promise<URL> {
  const { code, stdout, stderr } = await runSvc(['open', '--print-url', ...args], env)
  expect(code, stderr).toBe(0)
  return new URL(stdout.trim())
}

const codeOf = (url: URL) => /^#signin=(svc_link_[\w-]+)$/.exec(url.hash)?.[1] ?? ''

function exchange(code: string, at = service.url): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return fetch(`${at}/api/v1/auth/links/exchange`, { method: 'POST', headers, body: JSON.stringify({ code }) })
}

const whoIs = (headers: Record<string, string>) => fetch(`${service.url}/api/v1/auth/whoami`, { headers })

describe('svc open', () => {
  it('prints an address that signs in once, with a token of its own', async () => {
    const url = await printUrl()
    expect(url.origin).toBe(service.url)
    expect(url.pathname).toBe('/')
    expect(url.search).toBe('')
    const { token } = (await (await exchange(codeOf(url))).json()) as { token: string }
    expect(token).not.toBe(service.token)
    expect(await (await whoIs({ authorization: `Bearer ${token}` })).json()).toMatchObject({ role: 'owner' })
    expect((await exchange(codeOf(url))).status).toBe(401)
    expect((await runSvc(['token', 'list'], service.env)).stdout).toContain('dashboard-owner')
  })

  it.each([
    [['tasks'], '/tasks'],
    [['/usage?since=1h'], '/usage'],
    [['tasks/build'], '/tasks/default/build'],
    [['tasks/build', '-n', 'team'], '/tasks/team/build'],
    [['tasks/team/build'], '/tasks/team/build'],
  ])('leads to the page %j', async (args, pathname) => {
    const url = await printUrl(args)
    expect(url.pathname).toBe(pathname)
    expect(codeOf(url)).not.toBe('')
  })

  it.each(['//evil.example/x', 'a b', '\\evil', 'tasks#signin=other'])('does not lead to %j', async (path) => {
    const { code, stderr } = await runSvc(['open', '--print-url', path], service.env)
    expect(code).toBe(2)
    expect(stderr).toContain('is not the path of a page')
  })

  it('says so where there is no dashboard, instead of leading to an error', async () => {
    const without = await startService({ flags: ['--dashboard=false'] })
    const { code, stdout, stderr } = await runSvc(['open', '--print-url'], without.env)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('this service shows no dashboard: it is turned off there (--dashboard)')
    await without.stop()
    removeFolder(without.folder)
  })

  it('starts the browser, and leaves the code out of what it says', async () => {
    const [program, shown] = [join(service.folder, 'browser'), join(service.folder, 'shown')]
    writeFileSync(program, `#!/bin/sh\nprintf '%s' "$1" > ${shown}\n`, { mode: 0o755 })
    const { code, stdout, stderr } = await runSvc(['open', 'tasks'], { ...service.env, BROWSER: program })
    expect(code).toBe(0)
    const opened = new URL(readFileSync(shown, 'utf8'))
    expect((await exchange(codeOf(opened))).status).toBe(201)
    expect(stderr).toContain(`opening ${service.url}/tasks`)
    expect(`${stdout}${stderr}`).not.toContain(codeOf(opened))
  })

  it('prints the address and says what to do where no browser starts', async () => {
    const { code, stdout, stderr } = await runSvc(['open'], { ...service.env, BROWSER: '/nowhere/browser' })
    expect(code).toBe(0)
    expect(stderr).toContain('open this address in one, within two minutes')
    expect((await exchange(codeOf(new URL(stdout.trim())))).status).toBe(201)
  })

  it('goes to the service that is named, with the rights of that token', async () => {
    const made = await service.call<{ token: string }>('POST', '/api/v1/tokens', { name: 'reader', role: 'viewer' })
    const folder = makeFolder()
    const url = await printUrl(['--server', service.url, '--token', made.body.token], environmentOf(folder))
    const { token } = (await (await exchange(codeOf(url))).json()) as { token: string }
    const who = await (await whoIs({ authorization: `Bearer ${token}` })).json()
    expect(who).toMatchObject({ role: 'viewer', username: 'reader' })
    removeFolder(folder)
  })

  it('starts a service where none runs', async () => {
    const folder = makeFolder()
    const env = { ...environmentOf(folder), SVC_PORT: '0' }
    const { code, stdout, stderr } = await launchSvc(['open', '--print-url'], env)
    expect(code, stderr).toBe(0)
    const url = new URL(stdout.trim())
    expect((await exchange(codeOf(url), url.origin)).status).toBe(201)
    expect((await runSvc(['down', '--yes'], env)).code).toBe(0)
    removeFolder(folder)
  })

  it('leaves those whom an issuer knows to sign in on the page', async () => {
    const issuer = await startIssuer()
    const flags = ['--oidc-issuer', issuer.url, '--oidc-audience', audience, '--oidc-allowed-subjects', subject]
    const trusting = await startService({ flags })
    const args = ['open', '--print-url', '--server', trusting.url, '--token', await issuer.sign()]
    const { code, stdout, stderr } = await runSvc(args, trusting.env)
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${trusting.url}/\n` })
    expect(stderr).toContain('sign in on the page')
    const methods = () => fetch(`${trusting.url}/api/v1/auth/methods`).then((answer) => answer.json())
    expect(await methods()).toEqual({ token: true, oidc: [] })
    await trusting.stop()
    await issuer.stop()
    removeFolder(trusting.folder)
  })
})

describe('signing in by an issuer', () => {
  it('has what a public client needs, and the page may call that issuer', async () => {
    const issuer = await startIssuer()
    const flags = ['--oidc-issuer', issuer.url, '--oidc-audience', audience, '--oidc-allowed-subjects', subject]
    const own = ['--oidc-sign-in-client-id', 'page', '--oidc-sign-in-origins', 'https://tokens.example.com/token']
    const trusting = await startService({ flags: [...flags, ...own] })
    const { oidc } = (await (await fetch(`${trusting.url}/api/v1/auth/methods`)).json()) as { oidc: object[] }
    const { host } = new URL(issuer.url)
    const scopes = ['openid', 'profile', 'email']
    expect(oidc).toEqual([{ name: host, issuer: issuer.url, clientId: 'page', scopes, tokenKind: 'access' }])
    const page = await fetch(trusting.url, { headers: { accept: 'text/html' } })
    const policy = page.headers.get('content-security-policy')?.split('; ')
    expect(policy).toContain(`connect-src 'self' ${issuer.url} https://tokens.example.com`)
    await trusting.stop()
    await issuer.stop()
    removeFolder(trusting.folder)
  })
})

describe('a sign-in link', () => {
  it('is good after a restart, and a sign-in stays', async () => {
    const first = await startService()
    const env = { ...first.env }
    const [one, two] = [codeOf(await printUrl([], env)), codeOf(await printUrl([], env))]
    const { token } = (await (await exchange(one, first.url)).json()) as { token: string }
    await first.kill()
    const again = await startService({ folder: first.folder })
    expect((await exchange(one, again.url)).status).toBe(401)
    expect((await exchange(two, again.url)).status).toBe(201)
    const headers = { authorization: `Bearer ${token}` }
    expect((await fetch(`${again.url}/api/v1/auth/whoami`, { headers })).status).toBe(200)
    await again.stop()
    for (const text of [one, two, token]) expect(again.output()).not.toContain(text)
    removeFolder(first.folder)
  })
})

describe('the dashboard of the built program', () => {
  const asBrowser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

  it('is a page without inline code, and files that are kept for ever [HTTP-019]', async () => {
    const page = await fetch(`${service.url}/tasks`, { headers: asBrowser })
    const text = await page.text()
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self';")
    expect(page.headers.get('x-frame-options')).toBe('DENY')
    expect(text).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/i)
    const files = [...text.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path)
    const assets = files.filter((path) => path?.startsWith('/assets/'))
    expect(assets.length).toBeGreaterThanOrEqual(2)
    for (const path of assets) {
      const file = await request(`${service.url}${path}`, { headers: { 'accept-encoding': 'br' } })
      expect(file.statusCode).toBe(200)
      expect(file.headers).toMatchObject({
        'content-encoding': 'br',
        'cache-control': 'public, max-age=31536000, immutable',
      })
      expect(brotliDecompressSync(Buffer.from(await file.body.arrayBuffer())).length).toBeGreaterThan(100)
    }
    const others = files.filter((path) => !assets.includes(path))
    for (const path of others) expect((await fetch(`${service.url}${path}`)).status, path).toBe(200)
  })

  it('takes its token from the header for it alone', async () => {
    const { token } = service
    const others: Record<string, string>[] = [{ cookie: `token=${token}; svc.session=${token}` }, { 'x-token': token }]
    for (const headers of others) expect((await whoIs(headers)).status).toBe(401)
    expect((await fetch(`${service.url}/api/v1/auth/validate?token=${token}&access_token=${token}`)).status).toBe(401)
    expect((await fetch(service.url, { headers: asBrowser })).headers.get('set-cookie')).toBeNull()
  })

  it('shares nothing with pages of other origins', async () => {
    const origin = 'https://evil.example'
    for (const path of ['/', '/api/v1/auth/whoami', '/assets/none.js']) {
      const headers = { ...asBrowser, origin, authorization: `Bearer ${service.token}` }
      const answer = await fetch(`${service.url}${path}`, { headers })
      expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    }
    const preflight = await fetch(`${service.url}/api/v1/auth/links/exchange`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
    })
    expect(preflight.status).toBe(405)
    expect(preflight.headers.get('access-control-allow-origin')).toBeNull()
  })

  it('is turned off by --dashboard=false', async () => {
    const off = await startService({ flags: ['--dashboard=false'] })
    expect((await fetch(off.url, { headers: asBrowser })).status).toBe(404)
    await off.stop()
    removeFolder(off.folder)
  })

  it('lies in the package', () => {
    expect(existsSync(join(process.env.SVC_TEST_PROGRAM ?? '', 'dist', 'dashboard', 'index.html.br'))).toBe(true)
  })
})
