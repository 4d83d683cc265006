// Findings in the code scanning of the code host, on the real program: off unless it is asked for, once for each commit.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RepositoryScan } from '../../../src/contract/kinds/scans/repository-scan.ts'
import { hasOpenssl } from '../../fixtures/certificates.ts'
import { git } from '../../fixtures/git/repository.ts'
import { loginPath, openSite, type Site } from '../../fixtures/scans/site.ts'
import { waitFor } from '../../fixtures/time.ts'

const base = '/api/v1/security/repositories'
let site: Site
beforeAll(async () => {
  if (hasOpenssl) site = await openSite()
})
afterAll(() => site?.close())

const read = async (name: string) => (await site.service.call<RepositoryScan>('GET', `${base}/${name}`)).body
const standOf = async (name: string) => (await read(name)).status?.codeScanning
const uploads = () => [...site.codeHost.codeScanning.uploads.values()]

async function makeScan(name: string, more: object = {}): Promise<void> {
  const spec = {
    repoURL: site.repo,
    branch: 'main',
    analysisAgentRef: { name: 'auditor' },
    gitSecretRef: { name: 'forge' },
    validationMode: 'off',
    ...more,
  }
  expect((await site.service.call('POST', base, { name, spec })).status).toBe(201)
}

async function waitForRuns(name: string, count: number): Promise<void> {
  await waitFor(async () => {
    const { body } = await site.service.call<{ items: { phase: string }[] }>('GET', `${base}/${name}/scans`)
    return body.items.length === count && body.items[0]?.phase === 'succeeded'
  }, `run ${count} of ${name}`)
}

describe.runIf(hasOpenssl)('what a scan has found', () => {
  it('is not given to code scanning unless the scan says so', async () => {
    await makeScan('quiet')
    await waitFor(async () => (await read('quiet')).status?.phase === 'Ready', 'the run')
    expect([uploads(), await standOf('quiet')]).toEqual([[], undefined])
  })

  it('is given to code scanning once for each commit, over a kill and another run', async () => {
    await makeScan('shown', { uploadToCodeScanning: true })
    await waitFor(() => uploads().length === 1, 'the upload')
    await site.restart()
    await waitFor(async () => (await standOf('shown'))?.state === 'complete', 'the end of the upload')
    const commit = git(site.bare, ['rev-parse', 'main'])
    expect(await standOf('shown')).toMatchObject({ commit, at: expect.any(String) })
    await site.service.call('POST', `${base}/shown/scans`)
    await waitForRuns('shown', 2)
    await waitFor(async () => (await read('shown')).status?.phase === 'Ready', 'the second run')
    const [upload, ...others] = uploads()
    expect(others.length).toBeLessThan(2)
    expect(upload).toMatchObject({ ref: 'refs/heads/main', commit_sha: commit })
    expect(upload?.log.runs[0]).toMatchObject({
      automationDetails: { id: 'svc/shown/' },
      results: [{ locations: [{ physicalLocation: { artifactLocation: { uri: loginPath } } }] }],
    })
  })

  it('that is refused says which right is missing, and the scan is as good as before', async () => {
    const token = site.codeHost.denyToken('writer', ['security_events=write'])
    const secret = { name: 'weak', stringData: { CODEHOST_TOKEN: token } }
    expect((await site.service.call('POST', '/api/v1/secrets', secret)).status).toBe(201)
    await makeScan('refused', { uploadToCodeScanning: true, gitSecretRef: { name: 'weak' } })
    await waitFor(async () => (await standOf('refused'))?.state === 'failed', 'the refusal')
    expect((await standOf('refused'))?.message).toContain('it needs security_events=write')
    expect((await read('refused')).status?.phase).toBe('Ready')
  })

  it('at a commit that is no branch is not given, and says so', async () => {
    const ref = git(site.bare, ['rev-parse', 'main'])
    await makeScan('fixed-ref', { uploadToCodeScanning: true, branch: undefined, ref })
    await waitFor(async () => (await standOf('fixed-ref'))?.state === 'failed', 'the refusal')
    expect((await standOf('fixed-ref'))?.message).toContain('set spec.branch')
  })
})
