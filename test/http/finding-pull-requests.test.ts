// The pull request of a finding, with a fault at each step between the pushed branch and the record: there is one, and it is known.
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { makeSlice } from '../contracts/scans.contract.ts'
import type { CodeHostServer } from '../fixtures/codehost/server.ts'
import { useHostedService } from './hosted-service.ts'
import type { Service } from './service.ts'

const base = '/api/v1/security'
const full = 'acme/site'
let codeHost: CodeHostServer
let service: Service
let count = 0
let id = ''
let branch = ''

const hosted = useHostedService(full)
beforeAll(() => {
  ;({ codeHost, service } = hosted)
})

/** A finding whose patch has passed and was pushed. */
beforeEach(async () => {
  vi.restoreAllMocks()
  count += 1
  const name = `scan-${count}`
  const spec = {
    repoURL: `https://github.com/${full}`,
    branch: 'main',
    analysisAgentRef: { name: 'auditor' },
    gitSecretRef: { name: 'forge' },
  }
  await service.call(`POST ${base}/repositories`, { payload: { name, spec } })
  const stored = await service.ports.resources.get('RepositoryScan', { namespace: 'default', name })
  const scan = { uid: stored?.metadata.uid ?? '', namespace: 'default', name }
  const { scans, findings } = service.ports.records
  await scans.startRun(scan, { id: `run-${count}`, mode: 'manual' })
  await scans.cutSlices(scan, `run-${count}`, [{ ...makeSlice('s'), status: 'pending' }])
  const words = {
    title: 'SQL injection',
    summary: 'Joined. Ask @admins, see #1',
    severity: 'high',
    confidence: 'high',
  } as const
  const accepted = [{ ...words, fingerprint: `v3:${count}`, filePath: 's.go', line: 3, evidence: [] }]
  const review = { run: `run-${count}`, slice: 's', taskName: 't', covered: ['s.go'], dropped: [], origin: {} }
  await findings.recordReview(scan, { ...review, accepted })
  const [finding] = (await findings.list(scan.uid, { limit: 1 })).items
  id = finding?.id ?? ''
  const patch = (await service.call(`POST ${base}/findings/${id}/patch`)).json()
  branch = patch.branch
  const main = (await codeHost.call('acme', 'GET', `/repos/${full}/git/ref/heads/main`)).object as { sha: string }
  await codeHost.call('acme', 'POST', `/repos/${full}/git/refs`, { ref: `refs/heads/${branch}`, sha: main.sha })
  await findings.decidePatch(id, patch.id, (one, now) => ({
    patch: { ...one, status: 'succeeded', summary: 'uses parameters', testsRun: [{ command: 'go test', exitCode: 0 }] },
    finding: { ...now, state: 'patch_ready', validationStatus: 'validated' },
  }))
})

const open = () => service.call(`POST ${base}/findings/${id}/pull-request`)
const read = async () => (await service.call(`GET ${base}/findings/${id}`)).json()
async function pulls() {
  const all = (await codeHost.call('acme', 'GET', `/repos/${full}/pulls?state=all&per_page=100`)) as unknown as {
    number: number
    title: string
    body: string
    head: { ref: string }
  }[]
  return all.filter(({ head }) => head.ref === branch)
}

describe('the pull request of a finding', () => {
  it('says what was found, how it was validated and what ran, and addresses nobody [FIND-022]', async () => {
    const made = (await open()).json()
    expect(made).toMatchObject({ status: 'created' })
    const [pull, ...others] = await pulls()
    expect(others).toEqual([])
    expect(pull).toMatchObject({ number: made.prNumber, title: 'fix(security): SQL injection' })
    expect(pull?.body).toContain(`Finding: \`${id}\``)
    expect(pull?.body).toMatch(/### How it was validated\n\n> validated/)
    expect(pull?.body).toContain('> with the patch: go test ended with 0')
    expect(pull?.body).not.toMatch(/@admins|#1/)
    expect((await open()).json()).toMatchObject({ status: 'existing', prNumber: made.prNumber })
    expect(await pulls()).toHaveLength(1)
  })

  it.each(['close', { status: 502, body: { message: 'Bad Gateway' } }] as const)(
    'is opened by the next try when the code host did not do it: %j',
    async (fault) => {
      codeHost.fail(/^POST .*\/pulls$/, fault)
      const failed = await open()
      expect([failed.statusCode, (await read()).state]).toEqual([502, 'patch_ready'])
      expect((await open()).json()).toMatchObject({ status: 'created' })
      expect(await pulls()).toHaveLength(1)
    },
  )

  it('is found again when the service ended before it was recorded', async () => {
    const broken = vi.spyOn(service.ports.records.findings, 'decidePatch').mockRejectedValueOnce(new Error('ended'))
    expect((await open()).statusCode).toBe(500)
    expect(broken).toHaveBeenCalledOnce()
    expect(await read()).toMatchObject({ state: 'patch_ready' })
    const [pull] = await pulls()
    expect((await open()).json()).toMatchObject({ status: 'existing', prNumber: pull?.number })
    expect(await read()).toMatchObject({ state: 'pr_open', prState: 'open', prNumber: pull?.number })
    expect(await pulls()).toHaveLength(1)
  })

  it('is not opened again when somebody closed it before it was recorded', async () => {
    vi.spyOn(service.ports.records.findings, 'decidePatch').mockRejectedValueOnce(new Error('ended'))
    await open()
    const [pull] = await pulls()
    await codeHost.closePull(full, pull?.number ?? 0)
    expect((await open()).json()).toMatchObject({ status: 'existing', prNumber: pull?.number })
    expect(await pulls()).toHaveLength(1)
  })

  it('names the right that the login lacks', async () => {
    const token = codeHost.denyToken('writer', ['pull_requests=write'])
    await service.call('PUT /api/v1/secrets/forge', { payload: { stringData: { CODEHOST_TOKEN: token } } })
    const refused = await open()
    expect([refused.statusCode, refused.json().error.message]).toEqual([
      403,
      expect.stringContaining('it needs pull_requests=write'),
    ])
    expect((await read()).state).toBe('patch_ready')
  })
})
