// `svc codehost app` on the real program: from the manifest to an App that signs in, and to events that it signs.
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeDelivery, makeSecret } from '../fixtures/codehost/deliveries.ts'
import { type CodeHostServer, startCodeHost } from '../fixtures/codehost/server.ts'
import { waitFor } from '../fixtures/time.ts'
import { launcher, removeFolder, runSvc, type Service, startService } from './service.ts'

const host = 'code.example'
const full = 'acme/site'
const folder = mkdtempSync(join(tmpdir(), 'svc-app-'))
let codeHost: CodeHostServer
let service: Service

beforeAll(async () => {
  codeHost = await startCodeHost({ repositories: [full], pages: `https://${host}` })
  const places = ['--codehost-hosts', host, '--codehost-api-url', codeHost.url]
  service = await startService({ flags: [...places, '--codehost-webhook-secret-name', 'codehost-webhook'] })
})
afterAll(async () => {
  await service.stop()
  removeFolder(service.folder)
  await codeHost.close()
  removeFolder(folder)
})

const readField = (page: string, pattern: RegExp) =>
  (pattern.exec(page)?.[1] ?? '').replaceAll('&quot;', '"').replaceAll('&amp;', '&')

type Manifest = { redirect_url: string; [field: string]: unknown }
/** What the code host is sent by the button of the page at this address. */
async function readForm(address: string): Promise<{ action: URL; manifest: Manifest }> {
  const page = await (await fetch(address)).text()
  const manifest = JSON.parse(readField(page, /name="manifest" value="([^"]*)"/)) as Manifest
  return { action: new URL(readField(page, /action="([^"]*)"/)), manifest }
}

type Visit = (form: Awaited<ReturnType<typeof readForm>>) => Promise<unknown>

/** A person with a browser: opens the address that is shown, and does the rest at the code host. */
async function makeApp(args: string[], visit: Visit) {
  const line = ['codehost', 'app', '--host', host, '--api-url', codeHost.url, ...args]
  const child = spawn(process.execPath, [launcher, ...line], { env: service.env, cwd: folder, stdio: 'pipe' })
  let said = ''
  const hear = (chunk: Buffer) => {
    said += chunk
  }
  for (const stream of [child.stdout, child.stderr]) stream.on('data', hear)
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const find = () => /^\s*(http:\/\/127\.0\.0\.1:\d+\/\?state=\w+)$/m.exec(said)?.[1]
  await Promise.race([ended, waitFor(find, 'the address')])
  const address = find()
  if (address !== undefined) await visit(await readForm(address))
  return { code: await ended, said }
}

const comeBack = (manifest: Manifest, action: URL, code: string) =>
  fetch(`${manifest.redirect_url}?code=${code}&state=${action.searchParams.get('state')}`)

describe('svc codehost app', () => {
  const secret = makeSecret()

  it('makes an App by one button, keeps its key, and says what comes next', async () => {
    let form: Awaited<ReturnType<typeof readForm>> | undefined
    const { code, said } = await makeApp(
      ['--webhook', 'https://svc.example', '--organization', 'acme'],
      async (given) => {
        form = given
        expect((await fetch(`${given.manifest.redirect_url}?code=forged&state=other`)).status).toBe(404)
        const page = await comeBack(given.manifest, given.action, codeHost.makeApp(secret))
        expect(await page.text()).toContain('You can close this page')
      },
    )
    expect([code, said]).toEqual([0, expect.stringContaining(`https://${host}/apps/svc-app/installations/new`)])
    expect(said).toContain('--secret codehost-app')
    expect(said).not.toContain(secret)
    expect(said).not.toContain('PRIVATE KEY-')
    expect(form?.action.href).toMatch(
      /^https:\/\/code\.example\/organizations\/acme\/settings\/apps\/new\?state=\w{32}$/,
    )
    expect(form?.manifest).toMatchObject({
      name: 'svc-reviews',
      public: false,
      hook_attributes: { url: 'https://svc.example/webhooks/codehost', active: true },
      default_events: ['issues', 'issue_comment', 'pull_request'],
      default_permissions: {
        contents: 'read',
        pull_requests: 'write',
        issues: 'write',
        checks: 'read',
        statuses: 'read',
      },
    })
  })

  it('whose key signs in, and whose secret signs events', async () => {
    const { payload, headers } = makeDelivery({ event: 'ping', payload: {}, secret })
    const hook = `${service.url}/webhooks/codehost`
    expect((await fetch(hook, { method: 'POST', body: payload, headers })).status).toBe(202)
    const spec = {
      repoURL: `https://${host}/${full}`,
      agents: { reviewer: { name: 'reviewer' } },
      gitSecretRef: { name: 'codehost-app' },
    }
    const post = async (noun: string, body: object) =>
      expect((await service.call('POST', `/api/v1/${noun}`, body)).status).toBe(201)
    await post('secrets', { name: 'vendor', stringData: { VENDOR_API_KEY: 'made-up' } })
    const agent = { runtime: { type: 'llma-cli' }, secretRef: { name: 'vendor' } }
    await post('agents', { name: 'reviewer', spec: agent })
    await post('monitors/repositories', { name: 'reviews', spec })
    codeHost.seen.length = 0
    expect((await runSvc(['monitor', 'run', 'reviews'], service.env)).code).toBe(0)
    const asked = () => codeHost.seen.find(({ path }) => path === `/repos/${full}/pulls`)
    const seen = await waitFor(asked, 'the pull requests to be asked for')
    expect(seen).toMatchObject({ login: 'svc-app[bot]', status: 200 })
  })

  it('makes none where its key would have no place, and loses no key', async () => {
    const visit = async () => expect.unreachable('nothing is made')
    const taken = await makeApp([], visit)
    expect([taken.code, taken.said]).toEqual([1, expect.stringContaining('name another one with --secret')])
    const odd = await makeApp(['--secret', 'other', '--webhook', 'svc.example'], visit)
    expect([odd.code, odd.said]).toEqual([2, expect.stringContaining('--webhook must be an address')])
    const late = await makeApp(['--secret', 'late'], async ({ manifest, action }) => {
      await service.call('POST', '/api/v1/secrets', { name: 'late', stringData: { token: 'made-up' } })
      await comeBack(manifest, action, codeHost.makeApp(null))
    })
    expect([late.code, late.said]).toEqual([
      1,
      expect.stringContaining('its key is in the file svc-app.private-key.pem'),
    ])
    expect(readdirSync(folder)).toEqual(['svc-app.private-key.pem'])
  })

  it('says what to do when the code host does not hand it over, or makes none', async () => {
    const used = await makeApp(['--secret', 'used'], ({ manifest, action }) => comeBack(manifest, action, 'unknown'))
    expect([used.code, used.said]).toEqual([1, expect.stringContaining('it answered 404; run the command again')])
    const none = await makeApp(['--secret', 'none'], ({ manifest, action }) =>
      fetch(`${manifest.redirect_url}?state=${action.searchParams.get('state')}`),
    )
    expect([none.code, none.said]).toEqual([1, expect.stringContaining('came back without an App')])
  })
})
