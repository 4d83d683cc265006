// What becomes of a finding when its pull request is closed or merged, and its file renamed, moved or deleted: on the real
// program, its worker and a code host.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Finding } from '../../../src/contract/api/scans/findings.ts'
import type { ScanRun } from '../../../src/contract/api/scans/runs.ts'
import { hasOpenssl } from '../../fixtures/certificates.ts'
import { addCommit, git } from '../../fixtures/git/repository.ts'
import { loginPath, mendedLogin, openSite, type Site, weakLogin } from '../../fixtures/scans/site.ts'
import { waitFor } from '../../fixtures/time.ts'

const base = '/api/v1/security'
let site: Site
beforeAll(async () => {
  if (hasOpenssl) site = await openSite()
})
afterAll(() => site?.close())

const call = <T>(method: string, path: string, body?: object) => site.service.call<T>(method, `${base}/${path}`, body)
const list = async <T>(path: string) => (await call<{ items: T[] }>('GET', path)).body.items
const findingsOf = (scan: string) => list<Finding>(`repositories/${scan}/findings`)
const read = async (id: string) => (await call<Finding>('GET', `findings/${id}`)).body
const pulls = async () =>
  (await site.codeHost.call('acme', 'GET', '/repos/acme/site/pulls?state=all')) as unknown as { number: number }[]

async function makeScan(name: string, branch: string): Promise<Finding> {
  const spec = {
    repoURL: site.repo,
    branch,
    analysisAgentRef: { name: 'auditor' },
    gitSecretRef: { name: 'forge' },
    validationMode: 'off',
  }
  expect((await call('POST', 'repositories', { name, spec })).status).toBe(201)
  await waitForRuns(name, 1)
  const [finding] = await findingsOf(name)
  return finding as Finding
}

async function waitForRuns(name: string, count: number): Promise<void> {
  const runs = () => list<ScanRun>(`repositories/${name}/scans`)
  await waitFor(async () => {
    const all = await runs()
    return all.length === count && all[0]?.phase !== 'running' && all[0]?.phase !== 'pending'
  }, `run ${count} of ${name}`)
  expect((await runs())[0]).toMatchObject({ phase: 'succeeded' })
}

async function runAgain(name: string): Promise<void> {
  const before = (await list<ScanRun>(`repositories/${name}/scans`)).length
  expect((await call('POST', `repositories/${name}/scans`)).status).toBe(201)
  await waitForRuns(name, before + 1)
}

/** Has a patch written and its pull request opened; returns its number. */
async function offer(id: string): Promise<number> {
  expect((await call('POST', `findings/${id}/patch`)).status).toBe(201)
  await waitFor(async () => (await read(id)).state === 'patch_ready', 'the patch')
  const { body, status } = await call<{ prNumber: number; status: string }>('POST', `findings/${id}/pull-request`)
  expect([status, body.status]).toEqual([200, 'created'])
  return body.prNumber
}

/** The service looks each minute; a change of the scan has it look at once. */
async function waitForLook(scan: string, isThere: () => Promise<boolean>, what: string): Promise<void> {
  const { body } = await call<{ spec: object }>('GET', `repositories/${scan}`)
  await call('PUT', `repositories/${scan}`, { spec: { ...body.spec, historyDays: Math.ceil(Math.random() * 3000) } })
  await waitFor(isThere, what)
}

describe.runIf(hasOpenssl)('a finding', () => {
  it('is open again when its pull request is closed, and fixed by the run that sees the merged one', async () => {
    const finding = await makeScan('pulled', 'main')
    const { id } = finding
    const first = await offer(id)
    expect(await read(id)).toMatchObject({ state: 'pr_open', prState: 'open', prNumber: first })
    await site.codeHost.closePull('acme/site', first)
    await waitForLook('pulled', async () => (await read(id)).state === 'open', 'the closed pull request to be seen')
    const closed = await read(id)
    expect(closed).toMatchObject({ prState: 'closed', reopenReason: 'its pull request was closed without a merge' })

    const second = await offer(id)
    expect(second).not.toBe(first)
    await site.codeHost.call('acme', 'PUT', `/repos/acme/site/pulls/${second}/merge`, {})
    await waitForLook('pulled', async () => (await read(id)).prState === 'merged', 'the merged pull request to be seen')
    const merged = await read(id)
    expect(merged.state).toBe('pr_open')
    const refused = await call<{ error: { message: string } }>('POST', `findings/${id}/dismiss`, { reason: 'done' })
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      expect.stringContaining('it is pr_open; its pull request is merged; the next run'),
    ])
    // The branch that is scanned does not have it: it was merged elsewhere.
    await runAgain('pulled')
    expect(await read(id)).toMatchObject({
      state: 'open',
      reopenReason: 'its pull request was merged, and it was seen again',
    })
    addCommit(site.bare, 'main', { 'README.md': '# Site\n', 'go.mod': 'module x\n', [loginPath]: mendedLogin })
    await runAgain('pulled')
    expect(await read(id)).toMatchObject({ state: 'fixed', fixedAt: expect.any(String) })
    addCommit(site.bare, 'main', { 'README.md': '# Site\n', 'go.mod': 'module x\n', [loginPath]: weakLogin })
    await runAgain('pulled')
    expect(await read(id)).toMatchObject({ state: 'open', reopenReason: 'it was seen again' })
  })

  it('has one pull request, although the service was killed before it knew of it', async () => {
    const weak = { 'go.mod': 'module x\n', [loginPath]: weakLogin }
    addCommit(site.bare, 'crashing', weak)
    const { id } = await makeScan('crashing', 'crashing')
    expect((await call('POST', `findings/${id}/patch`)).status).toBe(201)
    // Killed while the patch is written, or just after its branch was pushed.
    await site.restart()
    await waitFor(async () => (await read(id)).state === 'patch_ready', 'the patch')
    const before = (await pulls()).length
    const asked = call('POST', `findings/${id}/pull-request`).catch(() => undefined)
    await waitFor(async () => (await pulls()).length === before + 1, 'the pull request on the code host')
    await site.restart()
    await asked
    const again = await call<{ prNumber: number }>('POST', `findings/${id}/pull-request`)
    expect(again).toMatchObject({ status: 200, body: { status: 'existing' } })
    expect(await pulls()).toHaveLength(before + 1)
    expect(await read(id)).toMatchObject({ state: 'pr_open', prNumber: again.body.prNumber })
    // Somebody closes it meanwhile: still no second one for the same branch.
    await site.codeHost.closePull('acme/site', again.body.prNumber)
    expect((await call('POST', `findings/${id}/pull-request`)).body).toMatchObject({ status: 'existing' })
    expect(await pulls()).toHaveLength(before + 1)
  })

  it('keeps its id when its file is renamed, and is fixed when the file is deleted', async () => {
    addCommit(site.bare, 'moving', { 'go.mod': 'module x\n', [loginPath]: weakLogin })
    const { id } = await makeScan('moving', 'moving')
    await call('POST', `findings/${id}/dismiss`, { reason: 'a constant' })
    addCommit(site.bare, 'moving', { 'go.mod': 'module x\n', 'auth/session.go': weakLogin })
    await runAgain('moving')
    expect(await findingsOf('moving')).toMatchObject([{ id, state: 'dismissed', filePath: 'auth/session.go' }])
    await call('POST', `findings/${id}/reopen`)
    addCommit(site.bare, 'moving', { 'go.mod': 'module x\n' })
    await runAgain('moving')
    expect(await findingsOf('moving')).toMatchObject([{ id, state: 'fixed', fixedAt: expect.any(String) }])
    expect(git(site.bare, ['ls-tree', '-r', '--name-only', 'moving'])).toBe('go.mod')
  })

  it('is open again by itself when its dismissal has run out', async () => {
    addCommit(site.bare, 'resting', { 'go.mod': 'module x\n', [loginPath]: weakLogin })
    const { id } = await makeScan('resting', 'resting')
    const until = new Date(Date.now() + 2000).toISOString()
    expect((await call('POST', `findings/${id}/dismiss`, { reason: 'later', until })).status).toBe(204)
    await waitFor(async () => (await read(id)).state === 'open', 'the end of the dismissal')
    expect((await read(id)).reopenReason).toBe('its dismissal has run out')
  })
})
