// Repository scans on the real program: from a repository on a real server to findings, patches and what becomes of them.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Finding, PatchProposal } from '../../src/contract/api/security/findings.ts'
import type { ScanRun } from '../../src/contract/api/security/runs.ts'
import type { ReviewSlice } from '../../src/contract/api/security/slices.ts'
import type { RepositoryScan } from '../../src/contract/resources/repository-scan.ts'
import { addCommit, type Entries, git } from '../fixtures/git/repository.ts'
import { type GitServer, startGitServer } from '../fixtures/git/server.ts'
import {
  readText,
  type ScriptedVendor,
  startVendor,
  type VendorAnswer,
  type VendorRequest,
} from '../fixtures/llm/scripted-vendor.ts'
import { waitFor } from '../fixtures/time.ts'
import { removeFolder, type Service, startService } from './service.ts'

const password = 'made-up-git-password-0002'
const flags = ['--allow-network', '127.0.0.0/8']
const root = mkdtempSync(join(tmpdir(), 'svc-scanned-'))
const base = '/api/v1/security'
let service: Service
let server: GitServer
let vendor: ScriptedVendor

const weak = (name: string) =>
  `package ${name}\n\nfunc Login(db DB, user string) {\n\tdb.Query("select * from users where name = '" + user + "'")\n}\n`
const shop: Entries = {
  'README.md': '# Shop\n',
  'go.mod': 'module example.com/shop\n',
  'auth/login.go': weak('auth'),
  'pay/pay.go': weak('pay'),
}

/** What the model says of a slice, by the path of a file in it; absent: it finds nothing. */
const reviews = new Map<string, (sliceId: string) => VendorAnswer | Promise<VendorAnswer>>()
/** What it says about a finding that it validates or repairs, turn by turn. */
const works: Record<'Validate' | 'Repair', ((id: string, turn: number) => VendorAnswer)[]> = {
  Validate: [],
  Repair: [],
}

const say = (value: unknown): VendorAnswer => [{ text: typeof value === 'string' ? value : JSON.stringify(value) }]

function report(sliceId: string, paths: string[]) {
  const findings = paths.map((path) => ({
    title: `SQL injection in ${path}`,
    category: 'sql-injection',
    severity: 'high',
    confidence: 'high',
    summary: 'The name of the user goes into the statement as it is: any caller reads and changes every account.',
    remediation: 'Use parameters.',
    evidence: [{ path, startLine: 4, endLine: 4, symbol: 'Login', quote: weak('x').split('\n')[3]?.trim() }],
  }))
  return { schemaVersion: 2, scan: { sliceId, summary: 'read' }, findings }
}

function answer({ messages }: VendorRequest): VendorAnswer | Promise<VendorAnswer> {
  const prompt = readText(messages.findLast(({ role }) => role === 'user')?.content)
  if (prompt.startsWith('Write a threat model')) return say('# Threat model\n\nCallers of the shop.')
  const turn = messages.filter(({ role }) => role === 'assistant').length
  const [, work, id = ''] = /^(Validate|Repair) finding (fnd_\w+)/.exec(prompt) ?? []
  if (work === 'Validate' || work === 'Repair') return works[work].at(-1)?.(id, turn) ?? say('no script')
  const sliceId = /Review slice (slice_\w+)/.exec(prompt)?.[1] ?? ''
  const scripts = [...reviews].filter(([path]) => prompt.includes(`file "${path}" (owned`))
  return scripts[0]?.[1](sliceId) ?? say(report(sliceId, []))
}

beforeAll(async () => {
  server = await startGitServer({ root, login: `bot:${password}` })
  vendor = await startVendor(answer)
  service = await startService({ flags })
  await make('secrets', { name: 'forge', stringData: { username: 'bot', token: password } })
  await make('providers', { name: 'vendor', spec: { type: 'llmo', baseURL: vendor.url, defaultModel: 'm' } })
  await make('agents', { name: 'auditor', spec: { providerRef: { name: 'vendor' } } })
})
afterAll(async () => {
  await service.stop()
  await vendor.close()
  await server.stop()
  removeFolder(service.folder)
  removeFolder(root)
})

async function make(noun: string, body: object): Promise<void> {
  const made = await service.call('POST', `/api/v1/${noun}`, body)
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
}

function makeRemote(name: string, entries: Entries = shop, branch = 'main'): string {
  git(root, ['init', '-q', '--bare', '-b', branch, `${name}.git`])
  const bare = join(root, `${name}.git`)
  git(bare, ['config', 'http.receivepack', 'true'])
  if (Object.keys(entries).length > 0) addCommit(bare, branch, entries)
  return bare
}

const specOf = (name: string, more: object = {}) => ({
  repoURL: `${server.origin}/${name}.git`,
  gitSecretRef: { name: 'forge' },
  analysisAgentRef: { name: 'auditor' },
  validationMode: 'off',
  ...more,
})
const createScan = (name: string, more: object = {}) =>
  make('security/repositories', { name, spec: specOf(name, more) })
const get = async <T>(path: string) => (await service.call<T>('GET', `${base}/${path}`)).body
const list = async <T>(path: string) => (await get<{ items: T[] }>(path)).items
const scanOf = (name: string) => get<RepositoryScan>(`repositories/${name}`)
const runsOf = (name: string) => list<ScanRun>(`repositories/${name}/scans`)
const findingsOf = (name: string, query = '') => list<Finding>(`repositories/${name}/findings?${query}`)
const slicesOf = (name: string) => list<ReviewSlice>(`repositories/${name}/slices`)
const startRun = (name: string, body?: object) =>
  service.call<ScanRun>('POST', `${base}/repositories/${name}/scans`, body)

/** The run after that many before it, once it has ended and the scan says so. */
async function waitForRun(name: string, count = 1): Promise<ScanRun> {
  let last: ScanRun | undefined
  await waitFor(async () => {
    const runs = await runsOf(name)
    last = runs[0]
    return runs.length === count && (last?.phase === 'succeeded' || last?.phase === 'failed')
  }, `run ${count} of ${name} to end`)
  return last as ScanRun
}

describe('a repository scan', () => {
  it('goes from a repository to findings, at first by itself [SCAN-007] [SCAN-047]', async () => {
    const bare = makeRemote('first', shop, 'trunk')
    reviews.set('auth/login.go', (id) => say(report(id, ['auth/login.go'])))
    await createScan('first')
    const run = await waitForRun('first')
    const head = git(bare, ['rev-parse', 'trunk'])
    expect(run).toMatchObject({ mode: 'initial', phase: 'succeeded', branch: 'trunk', headCommit: head })
    expect(run).toMatchObject({ acceptedFindings: 1, droppedFindings: 0, failedSlices: [] })
    expect(run.tokens).toBeGreaterThan(0)
    const [finding, ...others] = await findingsOf('first')
    expect(others).toEqual([])
    expect(finding).toMatchObject({
      title: 'SQL injection in auth/login.go',
      filePath: 'auth/login.go',
      line: 4,
      commitSHA: head,
      scanRunID: run.id,
      policyDigest: run.policyDigest,
      state: 'open',
    })
    const slices = await slicesOf('first')
    expect(slices.find(({ id }) => id === finding?.sliceID)).toMatchObject({ status: 'reviewed' })
    await waitFor(async () => (await scanOf('first')).status?.phase === 'Ready', 'the scan to be ready')
    expect((await scanOf('first')).status).toMatchObject({
      lastScanID: run.id,
      lastProcessedCommit: head,
      branch: 'trunk',
      threatModelVersion: 1,
      findingCounts: { total: 1, critical: 0, high: 1, medium: 0, low: 0 },
    })
    reviews.clear()
  })

  it('reviews what changed, marks as fixed what is gone and opens what returns [FIND-018] [FIND-019] [FIND-020]', async () => {
    const bare = makeRemote('changing')
    const both = ['auth/login.go', 'pay/pay.go']
    for (const path of both) reviews.set(path, (id) => say(report(id, [path])))
    await createScan('changing', { schedule: '0 0 1 1 *' })
    await waitForRun('changing')
    expect((await findingsOf('changing')).map(({ filePath }) => filePath).sort()).toEqual(both)
    const [login] = await findingsOf('changing', 'severity=high')
    addCommit(bare, 'main', { ...shop, 'auth/login.go': `// moved\n\n${weak('auth')}` })
    const at = (line: number) => (id: string) => {
      const said = report(id, ['auth/login.go'])
      const [finding] = said.findings
      return say({
        ...said,
        findings: [{ ...finding, evidence: [{ ...finding?.evidence[0], startLine: line, endLine: line }] }],
      })
    }
    reviews.set('auth/login.go', at(6))
    await startRun('changing')
    expect(await waitForRun('changing', 2)).toMatchObject({ mode: 'manual', phase: 'succeeded', acceptedFindings: 2 })
    const moved = (await findingsOf('changing')).filter(({ filePath }) => filePath === 'auth/login.go')
    expect(moved).toMatchObject([{ line: 6, state: 'open' }])
    expect(await findingsOf('changing')).toHaveLength(2)
    expect((await findingsOf('changing')).map(({ id }) => id)).toContain(login?.id)
    reviews.delete('auth/login.go')
    addCommit(bare, 'main', { ...shop, 'auth/login.go': 'package auth\n' })
    await startRun('changing')
    await waitForRun('changing', 3)
    const stateOf = async (path: string) =>
      (await findingsOf('changing')).find(({ filePath }) => filePath === path)?.state
    expect([await stateOf('auth/login.go'), await stateOf('pay/pay.go')]).toEqual(['fixed', 'open'])
    addCommit(bare, 'main', shop)
    reviews.set('auth/login.go', at(4))
    await startRun('changing')
    await waitForRun('changing', 4)
    expect(await stateOf('auth/login.go')).toBe('open')
    reviews.clear()
  })

  it('keeps what the others found when a slice fails, and repeats that one alone', async () => {
    const bare = makeRemote('partly')
    reviews.set('pay/pay.go', (id) => say(report(id, ['pay/pay.go'])))
    reviews.set('auth/login.go', () => say('I see no problem.'))
    await createScan('partly')
    const run = await waitForRun('partly')
    expect(run).toMatchObject({ phase: 'failed', reason: 'SlicesFailed', acceptedFindings: 1 })
    expect(run.failedSlices).toHaveLength(1)
    expect(run.errorMessage).toContain('the answer is not JSON')
    expect((await findingsOf('partly')).map(({ filePath }) => filePath)).toEqual(['pay/pay.go'])
    await waitFor(async () => (await scanOf('partly')).status?.phase === 'Error', 'the scan to say so')
    expect((await scanOf('partly')).status?.lastProcessedCommit).toBeUndefined()
    const asked = vendor.requests.length
    reviews.set('auth/login.go', (id) => say(report(id, ['auth/login.go'])))
    // The branch moves on: the repeated run reviews the same commit.
    const head = git(bare, ['rev-parse', 'main'])
    addCommit(bare, 'main', { ...shop, 'README.md': '# Another shop\n' })
    expect((await startRun('partly', { retryFailed: true })).body).toMatchObject({ retryOf: run.id, headCommit: head })
    expect(await waitForRun('partly', 2)).toMatchObject({ phase: 'succeeded', reviewedSliceCount: 1, headCommit: head })
    expect(vendor.requests.length - asked).toBe(1)
    expect(await findingsOf('partly')).toHaveLength(2)
    await waitFor(
      async () => (await scanOf('partly')).status?.lastProcessedCommit === head,
      'the commit to be processed',
    )
    reviews.clear()
  })

  it('stops at its budget with what it has found', async () => {
    makeRemote('budgeted')
    for (const path of ['auth/login.go', 'pay/pay.go']) reviews.set(path, (id) => say(report(id, [path])))
    await createScan('budgeted', { budget: { maxTokens: 90 }, maxParallelReviews: 1 })
    const run = await waitForRun('budgeted')
    expect(run).toMatchObject({ phase: 'failed', reason: 'BudgetExceeded', reviewedSliceCount: 2, tokens: 90 })
    expect(run.errorMessage).toContain('90 tokens')
    expect(run.acceptedFindings).toBeGreaterThan(0)
    expect(await list<ReviewSlice>('repositories/budgeted/slices?status=pending')).toHaveLength(1)
    reviews.clear()
  })

  it('ends with a reason when the repository is empty, gone, or its policy changes', async () => {
    makeRemote('bare', {})
    await createScan('bare')
    expect(await waitForRun('bare')).toMatchObject({ phase: 'failed', reason: 'RepositoryEmpty' })
    await createScan('gone')
    expect(await waitForRun('gone')).toMatchObject({ phase: 'failed', reason: 'RepositoryMissing' })
    makeRemote('ruled')
    const labels = { 'svc.ai/security-policy': 'true' }
    await make('configmaps', { name: 'rules', metadata: { labels }, data: { policy: 'POLICY-WORD' } })
    let change: (() => Promise<unknown>) | undefined = () => service.call('DELETE', '/api/v1/configmaps/rules')
    reviews.set('auth/login.go', async (id) => {
      await change?.()
      change = undefined
      return say(report(id, ['auth/login.go']))
    })
    await createScan('ruled', { customScanInstructionsRef: { name: 'rules' } })
    const run = await waitForRun('ruled')
    expect(run).toMatchObject({ phase: 'failed', reason: 'PolicyUnusable' })
    expect(JSON.stringify(vendor.requests)).toContain('POLICY-WORD')
    expect(run.errorMessage).toContain('config map \\"rules\\" does not exist'.replaceAll('\\', ''))
    expect((await startRun('ruled')).status).toBe(400)
    reviews.clear()
  })

  it('goes on after the service was killed before its reviews and in one, and reviews nothing twice', async () => {
    makeRemote('killed')
    const held = Promise.withResolvers<void>()
    const asked: string[] = []
    const review = (path: string) => async (id: string) => {
      asked.push(path)
      if (asked.length === 2) await held.promise
      return say(report(id, [path]))
    }
    for (const path of ['auth/login.go', 'pay/pay.go']) reviews.set(path, review(path))
    await createScan('killed', { maxParallelReviews: 1 })
    const { folder } = service
    // While it starts, fetches or waits for the threat model, and while the second slice is reviewed.
    await service.kill()
    service = await startService({ folder, flags })
    await waitFor(async () => asked.length === 2, 'the second review')
    const first = asked[0]
    await service.kill()
    held.resolve()
    service = await startService({ folder, flags })
    const run = await waitForRun('killed')
    expect(run).toMatchObject({ phase: 'succeeded', acceptedFindings: 2 })
    expect(asked.filter((path) => path === first)).toHaveLength(1)
    expect(await findingsOf('killed')).toHaveLength(2)
    reviews.clear()
  })
})

describe('a finding', () => {
  it('is validated, patched and ready for a pull request [FIND-003] [FIND-004] [FIND-007] [FIND-008] [FIND-023] [SCAN-009]', async () => {
    const bare = makeRemote('mended')
    reviews.set('auth/login.go', (id) => say(report(id, ['auth/login.go'])))
    await createScan('mended', { ref: 'main' })
    await waitForRun('mended')
    const [finding] = await findingsOf('mended')
    const path = `findings/${finding?.id}`
    const read = () => get<Finding>(path)
    works.Validate = [
      (id, turn) =>
        turn === 0
          ? [{ call: { name: 'file_read', args: { path: '/workspace/auth/login.go' } } }]
          : say({ finding_id: id, status: 'validated', summary: 'the statement is joined' }),
    ]
    expect((await service.call('POST', `${base}/${path}/validate`)).status).toBe(202)
    await waitFor(async () => (await read()).validationStatus === 'validated', 'the validation')
    expect((await read()).validationJSON).toContain('the statement is joined')

    const patched = weak('auth').replace(/db\.Query.*/, 'db.Query("select * from users where name = ?", user)')
    const summary = (id: string, changedFiles: string[]) => ({
      schemaVersion: 1,
      findingId: id,
      summary: 'uses a parameter',
      changedFiles,
      testsRun: [{ command: 'go test ./...', exitCode: 0 }],
      regressionTest: { path: 'auth/login_test.go', failsWithout: true },
      risk: 'low',
    })
    const writing = (changedFiles: string[]) => (id: string, turn: number) =>
      turn === 0
        ? ([
            { call: { name: 'file_write', args: { path: '/workspace/auth/login.go', content: patched } } },
          ] as VendorAnswer)
        : say(summary(id, changedFiles))
    const ask = () => service.call<PatchProposal>('POST', `${base}/${path}/patch`)
    const patches = () => list<PatchProposal>(`${path}/patches`)
    const decided = async () => {
      await waitFor(async () => (await patches())[0]?.status !== 'pending', 'the patch')
      return (await patches())[0]
    }
    works.Repair = [writing(['auth/other.go'])]
    expect((await ask()).body).toMatchObject({ status: 'pending' })
    expect(await decided()).toMatchObject({
      status: 'failed',
      failure: 'the summary leaves out changed files: auth/login.go',
    })
    expect((await read()).state).toBe('open')

    works.Repair = [writing(['auth/login.go'])]
    await ask()
    const patch = await decided()
    expect(patch).toMatchObject({ status: 'succeeded', changedFiles: ['auth/login.go'], summary: 'uses a parameter' })
    expect(git(bare, ['show', `${patch?.branch}:auth/login.go`])).toBe(patched.trim())
    expect(git(bare, ['rev-parse', `${patch?.branch}`])).toBe(patch?.headCommit)
    expect(await read()).toMatchObject({ state: 'patch_ready', patchProposalID: patch?.id })
    expect(await patches()).toHaveLength(2)
    reviews.clear()
  })
})
