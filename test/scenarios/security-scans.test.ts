// Repository scans on the real program: from a repository on a real server to findings, patches and what becomes of them.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Finding, PatchProposal } from '../../src/contract/api/scans/findings.ts'
import type { ReviewSlice } from '../../src/contract/api/scans/runs.ts'
import { addCommit, git } from '../fixtures/git/repository.ts'
import type { VendorAnswer } from '../fixtures/llm/scripted-vendor.ts'
import { waitFor } from '../fixtures/time.ts'
import { base, openScanStand, report, type ScanStand, say, shop, weak } from './scan-stand.ts'

let stand: ScanStand
beforeAll(async () => {
  stand = await openScanStand()
})
afterAll(() => stand.close())
afterEach(() => stand.forget())

describe('a repository scan', () => {
  it('goes from a repository to findings, at first by itself [SCAN-007] [SCAN-047]', async () => {
    const bare = stand.makeRemote('first', shop, 'trunk')
    stand.script.reviews.set('auth/login.go', (id) => say(report(id, ['auth/login.go'])))
    await stand.createScan('first')
    const run = await stand.waitForRun('first')
    const head = git(bare, ['rev-parse', 'trunk'])
    expect(run).toMatchObject({ mode: 'initial', phase: 'succeeded', branch: 'trunk', headCommit: head })
    expect(run).toMatchObject({ acceptedFindings: 1, droppedFindings: 0, failedSlices: [] })
    expect(run.tokens).toBeGreaterThan(0)
    const [finding, ...others] = await stand.findingsOf('first')
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
    const slices = await stand.slicesOf('first')
    expect(slices.find(({ id }) => id === finding?.sliceID)).toMatchObject({ status: 'reviewed' })
    await waitFor(async () => (await stand.scanOf('first')).status?.phase === 'Ready', 'the scan to be ready')
    expect((await stand.scanOf('first')).status).toMatchObject({
      lastScanID: run.id,
      lastProcessedCommit: head,
      branch: 'trunk',
      threatModelVersion: 1,
      findingCounts: { total: 1, critical: 0, high: 1, medium: 0, low: 0 },
    })
  })

  it('reviews what changed, marks as fixed what is gone and opens what returns [FIND-018] [FIND-019] [FIND-020]', async () => {
    const bare = stand.makeRemote('changing')
    const both = ['auth/login.go', 'pay/pay.go']
    for (const path of both) stand.script.reviews.set(path, (id) => say(report(id, [path])))
    await stand.createScan('changing', { schedule: '0 0 1 1 *' })
    await stand.waitForRun('changing')
    expect((await stand.findingsOf('changing')).map(({ filePath }) => filePath).sort()).toEqual(both)
    const [login] = await stand.findingsOf('changing', 'severity=high')
    addCommit(bare, 'main', { ...shop, 'auth/login.go': `// moved\n\n${weak('auth')}` })
    const at = (line: number) => (id: string) => {
      const said = report(id, ['auth/login.go'])
      const [finding] = said.findings
      return say({
        ...said,
        findings: [{ ...finding, evidence: [{ ...finding?.evidence[0], startLine: line, endLine: line }] }],
      })
    }
    stand.script.reviews.set('auth/login.go', at(6))
    await stand.startRun('changing')
    expect(await stand.waitForRun('changing', 2)).toMatchObject({
      mode: 'manual',
      phase: 'succeeded',
      acceptedFindings: 2,
    })
    const moved = (await stand.findingsOf('changing')).filter(({ filePath }) => filePath === 'auth/login.go')
    expect(moved).toMatchObject([{ line: 6, state: 'open' }])
    expect(await stand.findingsOf('changing')).toHaveLength(2)
    expect((await stand.findingsOf('changing')).map(({ id }) => id)).toContain(login?.id)
    stand.script.reviews.delete('auth/login.go')
    addCommit(bare, 'main', { ...shop, 'auth/login.go': 'package auth\n' })
    await stand.startRun('changing')
    await stand.waitForRun('changing', 3)
    const stateOf = async (path: string) =>
      (await stand.findingsOf('changing')).find(({ filePath }) => filePath === path)?.state
    expect([await stateOf('auth/login.go'), await stateOf('pay/pay.go')]).toEqual(['fixed', 'open'])
    addCommit(bare, 'main', shop)
    stand.script.reviews.set('auth/login.go', at(4))
    await stand.startRun('changing')
    await stand.waitForRun('changing', 4)
    expect(await stateOf('auth/login.go')).toBe('open')
  })

  it('keeps what the others found when a slice fails, and repeats that one alone', async () => {
    const bare = stand.makeRemote('partly')
    stand.script.reviews.set('pay/pay.go', (id) => say(report(id, ['pay/pay.go'])))
    stand.script.reviews.set('auth/login.go', () => say('I see no problem.'))
    await stand.createScan('partly')
    const run = await stand.waitForRun('partly')
    expect(run).toMatchObject({ phase: 'failed', reason: 'SlicesFailed', acceptedFindings: 1 })
    expect(run.failedSlices).toHaveLength(1)
    expect(run.errorMessage).toContain('the answer is not JSON')
    expect((await stand.findingsOf('partly')).map(({ filePath }) => filePath)).toEqual(['pay/pay.go'])
    await waitFor(async () => (await stand.scanOf('partly')).status?.phase === 'Error', 'the scan to say so')
    expect((await stand.scanOf('partly')).status?.lastProcessedCommit).toBeUndefined()
    const asked = stand.vendor.requests.length
    stand.script.reviews.set('auth/login.go', (id) => say(report(id, ['auth/login.go'])))
    // The branch moves on: the repeated run reviews the same commit.
    const head = git(bare, ['rev-parse', 'main'])
    addCommit(bare, 'main', { ...shop, 'README.md': '# Another shop\n' })
    expect((await stand.startRun('partly', { retryFailed: true })).body).toMatchObject({
      retryOf: run.id,
      headCommit: head,
    })
    expect(await stand.waitForRun('partly', 2)).toMatchObject({
      phase: 'succeeded',
      reviewedSliceCount: 1,
      headCommit: head,
    })
    expect(stand.vendor.requests.length - asked).toBe(1)
    expect(await stand.findingsOf('partly')).toHaveLength(2)
    await waitFor(
      async () => (await stand.scanOf('partly')).status?.lastProcessedCommit === head,
      'the commit to be processed',
    )
  })

  it('stops at its budget with what it has found', async () => {
    stand.makeRemote('budgeted')
    for (const path of ['auth/login.go', 'pay/pay.go']) stand.script.reviews.set(path, (id) => say(report(id, [path])))
    await stand.createScan('budgeted', { budget: { maxTokens: 90 }, maxParallelReviews: 1 })
    const run = await stand.waitForRun('budgeted')
    expect(run).toMatchObject({ phase: 'failed', reason: 'BudgetExceeded', reviewedSliceCount: 2, tokens: 90 })
    expect(run.errorMessage).toContain('90 tokens')
    expect(run.acceptedFindings).toBeGreaterThan(0)
    expect(await stand.list<ReviewSlice>('repositories/budgeted/slices?status=pending')).toHaveLength(1)
  })

  it('ends with a reason when the repository is empty, gone, or its policy changes', async () => {
    stand.makeRemote('bare', {})
    await stand.createScan('bare')
    expect(await stand.waitForRun('bare')).toMatchObject({ phase: 'failed', reason: 'RepositoryEmpty' })
    await stand.createScan('gone')
    expect(await stand.waitForRun('gone')).toMatchObject({ phase: 'failed', reason: 'RepositoryMissing' })
    stand.makeRemote('ruled')
    const labels = { 'svc.ai/security-policy': 'true' }
    await stand.make('configmaps', { name: 'rules', metadata: { labels }, data: { policy: 'POLICY-WORD' } })
    let change: (() => Promise<unknown>) | undefined = () => stand.call('DELETE', '/api/v1/configmaps/rules')
    stand.script.reviews.set('auth/login.go', async (id) => {
      await change?.()
      change = undefined
      return say(report(id, ['auth/login.go']))
    })
    await stand.createScan('ruled', { customScanInstructionsRef: { name: 'rules' } })
    const run = await stand.waitForRun('ruled')
    expect(run).toMatchObject({ phase: 'failed', reason: 'PolicyUnusable' })
    expect(JSON.stringify(stand.vendor.requests)).toContain('POLICY-WORD')
    expect(run.errorMessage).toContain('config map \\"rules\\" does not exist'.replaceAll('\\', ''))
    expect((await stand.startRun('ruled')).status).toBe(400)
  })

  it('goes on after the service was killed before its reviews and in one, and reviews nothing twice', async () => {
    stand.makeRemote('killed')
    const held = Promise.withResolvers<void>()
    const asked: string[] = []
    const review = (path: string) => async (id: string) => {
      asked.push(path)
      if (asked.length === 2) await held.promise
      return say(report(id, [path]))
    }
    for (const path of ['auth/login.go', 'pay/pay.go']) stand.script.reviews.set(path, review(path))
    await stand.createScan('killed', { maxParallelReviews: 1 })
    // While it starts, fetches or waits for the threat model, and while the second slice is reviewed.
    await stand.kill()
    await stand.start()
    await waitFor(async () => asked.length === 2, 'the second review')
    const first = asked[0]
    await stand.kill()
    held.resolve()
    await stand.start()
    const run = await stand.waitForRun('killed')
    expect(run).toMatchObject({ phase: 'succeeded', acceptedFindings: 2 })
    expect(asked.filter((path) => path === first)).toHaveLength(1)
    expect(await stand.findingsOf('killed')).toHaveLength(2)
  })
})

describe('a finding', () => {
  it('is validated, patched and ready for a pull request [FIND-003] [FIND-004] [FIND-007] [FIND-008] [FIND-023] [SCAN-009]', async () => {
    const bare = stand.makeRemote('mended')
    stand.script.reviews.set('auth/login.go', (id) => say(report(id, ['auth/login.go'])))
    await stand.createScan('mended', { ref: 'main' })
    await stand.waitForRun('mended')
    const [finding] = await stand.findingsOf('mended')
    const path = `findings/${finding?.id}`
    const read = () => stand.get<Finding>(path)
    stand.script.works.Validate = [
      (id, turn) =>
        turn === 0
          ? [{ call: { name: 'file_read', args: { path: '/workspace/auth/login.go' } } }]
          : say({ finding_id: id, status: 'validated', summary: 'the statement is joined' }),
    ]
    expect((await stand.call('POST', `${base}/${path}/validate`)).status).toBe(202)
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
    const ask = () => stand.call<PatchProposal>('POST', `${base}/${path}/patch`)
    const patches = () => stand.list<PatchProposal>(`${path}/patches`)
    const decided = async () => {
      await waitFor(async () => (await patches())[0]?.status !== 'pending', 'the patch')
      return (await patches())[0]
    }
    stand.script.works.Repair = [writing(['auth/other.go'])]
    expect((await ask()).body).toMatchObject({ status: 'pending' })
    expect(await decided()).toMatchObject({
      status: 'failed',
      failure: 'the summary leaves out changed files: auth/login.go',
    })
    expect((await read()).state).toBe('open')

    stand.script.works.Repair = [writing(['auth/login.go'])]
    await ask()
    const patch = await decided()
    expect(patch).toMatchObject({ status: 'succeeded', changedFiles: ['auth/login.go'], summary: 'uses a parameter' })
    expect(git(bare, ['show', `${patch?.branch}:auth/login.go`])).toBe(patched.trim())
    expect(git(bare, ['rev-parse', `${patch?.branch}`])).toBe(patch?.headCommit)
    expect(await read()).toMatchObject({ state: 'patch_ready', patchProposalID: patch?.id })
    expect(await patches()).toHaveLength(2)
  })
})
