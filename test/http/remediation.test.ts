// The pull request that repairs a finding, over REST and against a code host over HTTP.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createCodeHosts } from '../../src/codehost/code-hosts.ts'
import type { FindingDraft, PatchProposal } from '../../src/contract/api/scans/findings.ts'
import { createEgress } from '../../src/egress/egress.ts'
import type { CodeHosts, PullRequestDraft } from '../../src/ports/codehost/code-host.ts'
import { makeSlice } from '../contracts/scans.contract.ts'
import { type CodeHostServer, startCodeHost } from '../fixtures/codehost/server.ts'
import { type Service, startService } from './service.ts'

const repo = 'acme/shop'
const base = '/api/v1/security'
const egress = createEgress()
let server: CodeHostServer
let service: Service
/** What happens while the code host is asked to open the pull request. */
let meanwhile: ((draft: PullRequestDraft) => Promise<unknown>) | undefined

/** The real code hosts, with a moment before a pull request is opened. */
function withPause(hosts: CodeHosts): CodeHosts {
  const open: CodeHosts['open'] = (...given) => {
    const host = hosts.open(...given)
    const createPullRequest: typeof host.createPullRequest = async (draft) => {
      await meanwhile?.(draft)
      return host.createPullRequest(draft)
    }
    return { ...host, createPullRequest }
  }
  return { hosts: hosts.hosts, apiUrl: hosts.apiUrl, gitPassword: hosts.gitPassword, open }
}

beforeAll(async () => {
  server = await startCodeHost({ repositories: [repo] })
  const codeHosts = createCodeHosts({
    hosts: ['github.com'],
    apiUrls: { 'github.com': server.url },
    egress,
    policy: { allowNetworks: [], deny: [] },
    now: Date.now,
    pause: async () => {},
  })
  service = await startService({ codeHosts: withPause(codeHosts) })
  const logins = {
    forge: server.tokenOf('writer'),
    reader: server.denyToken('writer', ['pull_requests=write']),
  }
  for (const [name, token] of Object.entries(logins))
    await service.ports.secrets.create({ namespace: 'default', name, stringData: { CODEHOST_TOKEN: token } })
})
afterAll(async () => {
  await service.stop()
  await egress.close()
  await server.close()
})
beforeEach(() => {
  server.seen.length = 0
  meanwhile = undefined
})

const post = (path: string, payload?: object) =>
  service.call(`POST ${base}/${path}`, payload === undefined ? {} : { payload })
const get = async (path: string) => (await service.call(`GET ${base}/${path}`)).json()
const pulls = () => server.call('acme', 'GET', `/repos/${repo}/pulls?state=all`) as unknown as Promise<Pull[]>
const opened = () => server.seen.filter(({ method, path }) => method === 'POST' && path.endsWith('/pulls'))
type Pull = { number: number; title: string; body: string; head: { ref: string }; base: { ref: string } }

const found: FindingDraft = {
  fingerprint: 'f',
  title: 'SQL injection in login, see #1 and @acme',
  summary: 'The name goes into the statement.\n<!-- hidden --> ![x](https://example.com/x) @acme merge this',
  rootCause: 'Text is joined into SQL.',
  remediation: 'Use parameters.',
  category: 'injection',
  filePath: 'auth/login.go',
  line: 4,
  severity: 'high',
  confidence: 'medium',
  evidence: [],
}
const passed: Partial<PatchProposal> = {
  status: 'succeeded',
  summary: 'The statement has a parameter.',
  changedFiles: ['auth/login.go'],
  testsBefore: [{ command: 'go test ./...', exitCode: 1 }],
  testsRun: [{ command: 'go test ./...', exitCode: 0 }],
  regressionTest: { path: 'auth/login_test.go', failsWithout: true },
  risk: 'low',
}

/** A finding of a scan of its own, as a review leaves it. */
async function find(name: string, spec: object = {}): Promise<string> {
  const repoURL = `https://github.com/${repo}`
  const login = { gitSecretRef: { name: 'forge' } }
  const whole = { repoURL, analysisAgentRef: { name: 'auditor' }, branch: 'main', ...login, ...spec }
  expect((await post('repositories', { name, spec: whole })).statusCode).toBe(201)
  const scan = await service.ports.resources.get('RepositoryScan', { namespace: 'default', name })
  const key = { uid: scan?.metadata.uid ?? '', namespace: 'default', name }
  const { scans, findings } = service.ports.records
  const run = `scan_${service.ports.ids.hex(12)}`
  await scans.startRun(key, { id: run, mode: 'manual' })
  await scans.cutSlices(key, run, [{ ...makeSlice('s'), status: 'pending' }])
  const review = { run, slice: 's', taskName: 'task', covered: ['auth/login.go'], dropped: [], origin: {} }
  await findings.recordReview(key, { ...review, accepted: [found] })
  const { items } = await findings.list(key.uid, { limit: 1 })
  return items[0]?.id ?? ''
}

/** A patch that passed, and its branch on the code host. */
async function patch(id: string, result: Partial<PatchProposal> = passed, pushTo = repo): Promise<PatchProposal> {
  const proposal = (await post(`findings/${id}/patch`)).json() as PatchProposal
  const state = result.status === 'succeeded' ? 'patch_ready' : 'open'
  await service.ports.records.findings.decidePatch(id, proposal.id, (one, finding) => ({
    patch: { ...one, ...result },
    finding: { ...finding, state },
  }))
  if (result.status === 'succeeded') await push(pushTo, proposal.branch)
  return proposal
}

async function push(to: string, branch: string): Promise<void> {
  const owner = to.split('/')[0] as string
  const { object } = await server.call(owner, 'GET', `/repos/${to}/git/ref/heads/main`)
  const { sha } = object as { sha: string }
  await server.call(owner, 'POST', `/repos/${to}/git/refs`, { ref: `refs/heads/${branch}`, sha })
  const content = Buffer.from(branch).toString('base64')
  await server.call(owner, 'PUT', `/repos/${to}/contents/${branch}.txt`, { message: 'x', content, branch })
}

/** As a validation leaves it. */
async function validate(id: string): Promise<void> {
  const said = JSON.stringify({ summary: 'a quote logs anybody in' })
  await service.ports.records.findings.change('default', id, (one) => ({
    ...one,
    validationStatus: 'validated',
    validationJSON: said,
  }))
}

describe('the pull request of a finding', () => {
  it('is opened once, of the branch of the patch, and is the answer from then on [FIND-009] [FIND-022]', async () => {
    const id = await find('once')
    await validate(id)
    const { branch, id: patchId } = await patch(id)
    const made = await post(`findings/${id}/pull-request`)
    expect(made.statusCode).toBe(200)
    const [pull, ...others] = (await pulls()).filter(({ head }) => head.ref === branch)
    expect(others).toEqual([])
    const prURL = expect.stringMatching(new RegExp(`/acme/shop/pull/${pull?.number}$`))
    expect(made.json()).toEqual({ prNumber: pull?.number, prURL, status: 'created' })
    expect(pull).toMatchObject({
      base: { ref: 'main' },
      title: expect.stringMatching(/^fix\(security\): SQL injection/),
    })
    const { status: _created, ...pr } = made.json()
    expect(await get(`findings/${id}`)).toMatchObject({ state: 'pr_open', ...pr })
    const { items } = await get(`findings/${id}/patches`)
    expect(items).toMatchObject([{ id: patchId, status: 'pr_opened', ...pr }])
    const again = await post(`findings/${id}/pull-request`)
    expect([again.statusCode, again.json()]).toEqual([200, { ...pr, status: 'existing' }])
    expect(opened()).toHaveLength(1)
  })

  it('says what was found, how it was validated and what ran, and addresses nobody', async () => {
    const id = await find('told')
    await validate(id)
    const { branch } = await patch(id)
    await post(`findings/${id}/pull-request`)
    const pull = (await pulls()).find(({ head }) => head.ref === branch)
    for (const text of [
      `Finding: \`${id}\` (severity high, confidence medium)`,
      'Place: `auth/login.go:4`',
      '> The name goes into the statement.',
      '> Text is joined into SQL.',
      '> Use parameters.',
      '> validated: a quote logs anybody in',
      '> The statement has a parameter.',
      '> before the patch: go test ./... ended with 1',
      '> with the patch: go test ./... ended with 0',
      '> regression test auth/login_test.go fails without the patch',
    ])
      expect(pull?.body).toContain(text)
    for (const text of ['@acme', '<!--', '![x]']) expect(`${pull?.title}${pull?.body}`).not.toContain(text)
    expect(pull?.title).not.toContain('#1')
  })

  it('is found again where the code host has it and the service does not know', async () => {
    const id = await find('lost')
    const { branch: head } = await patch(id)
    const known = await server.call('writer', 'POST', `/repos/${repo}/pulls`, { head, base: 'main', title: 'by hand' })
    const answer = await post(`findings/${id}/pull-request`)
    expect([answer.statusCode, answer.json()]).toMatchObject([200, { prNumber: known.number, status: 'existing' }])
    expect(await get(`findings/${id}`)).toMatchObject({ state: 'pr_open', prNumber: known.number })
  })

  it('may be asked for again after the code host failed', async () => {
    const id = await find('unreachable')
    await patch(id)
    server.fail(/POST .*\/pulls$/, { status: 500, body: { message: 'broken' } })
    const failed = await post(`findings/${id}/pull-request`)
    expect([failed.statusCode, (await get(`findings/${id}`)).state]).toEqual([502, 'patch_ready'])
    expect((await post(`findings/${id}/pull-request`)).json().status).toBe('created')
  })

  it('is made against the branch that the scan names, from the fork that patches are pushed to', async () => {
    await server.openPull(repo, { branch: 'release' })
    await server.openPull(repo, { fork: 'stranger' })
    const id = await find('forked', { prBaseBranch: 'release', forkRepo: 'https://github.com/stranger/shop.git' })
    const { branch } = await patch(id, passed, 'stranger/shop')
    let asked: object | undefined
    meanwhile = async (draft) => {
      asked = draft
    }
    expect((await post(`findings/${id}/pull-request`)).json().status).toBe('created')
    expect(asked).toMatchObject({ base: 'release', head: `stranger:${branch}` })
  })

  it('does not undo what people decide while it is opened', async () => {
    const id = await find('dismissed')
    await patch(id)
    meanwhile = () => post(`findings/${id}/dismiss`, { reason: 'the input is a constant' })
    const made = await post(`findings/${id}/pull-request`)
    expect(made.json().status).toBe('created')
    const { prNumber } = made.json()
    expect(await get(`findings/${id}`)).toMatchObject({ state: 'dismissed', prNumber })
    const late = await post(`findings/${id}/pull-request`)
    expect([late.statusCode, late.json().error.message]).toEqual([409, expect.stringContaining('it is dismissed')])
  })

  it('is of the newest patch that passed, and of none that failed', async () => {
    const id = await find('failed')
    await patch(id, { status: 'failed', failure: 'the summary leaves out changed files: a.go' })
    const refused = await post(`findings/${id}/pull-request`)
    expect([refused.statusCode, refused.json().error.message]).toEqual([
      400,
      expect.stringContaining('the last one failed: the summary leaves out changed files: a.go'),
    ])
    expect(opened()).toEqual([])
    await patch(id)
    const { branch } = await patch(id)
    expect((await post(`findings/${id}/pull-request`)).json().status).toBe('created')
    expect((await pulls())[0]?.head.ref).toBe(branch)
  })

  it.each([
    ['no login', { gitSecretRef: undefined }, 400, 'set spec.gitSecretRef'],
    ['a login without the right', { gitSecretRef: { name: 'reader' } }, 403, 'pull_requests=write'],
    ['another host', { repoURL: 'https://git.example/acme/shop' }, 400, 'must be on a host of the code host'],
  ])('is refused with %s, and the finding stays as it is', async (what, spec, status, message) => {
    const id = await find(what.replaceAll(' ', '-'), spec)
    await patch(id)
    const refused = await post(`findings/${id}/pull-request`)
    expect([refused.statusCode, refused.json().error.message]).toEqual([status, expect.stringContaining(message)])
    expect(await get(`findings/${id}`)).toMatchObject({ state: 'patch_ready' })
  })

  it('is refused in the words of the code host where it does not take the branch', async () => {
    const id = await find('gone')
    await patch(id)
    const body = { message: 'Validation Failed', errors: [{ field: 'head', code: 'invalid' }] }
    server.fail(/POST .*\/pulls$/, { status: 422, body })
    const refused = await post(`findings/${id}/pull-request`)
    expect([refused.statusCode, refused.json().error.message]).toEqual([400, expect.stringContaining('head invalid')])
    expect(await get(`findings/${id}`)).toMatchObject({ state: 'patch_ready' })
  })
})
