// Repository scans over REST: the resource, what its runs leave, and what people do with findings.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FindingDraft, ReviewOutcome } from '../../src/ports/scans/findings.ts'
import { makeSlice } from '../contracts/scans.contract.ts'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
  await policy('rules', { labels: { 'svc.ai/security-policy': 'true' } })
})
afterAll(() => service.stop())

const base = '/api/v1/security'
const repoURL = 'https://github.com/owner/shop'
const spec = { repoURL, analysisAgentRef: { name: 'auditor' } }

async function policy(name: string, marks: object, data: Record<string, string> = { policy: 'look at logins' }) {
  const made = await service.call('POST /api/v1/configmaps', { payload: { name, metadata: marks, data } })
  expect(made.statusCode).toBe(201)
}
const create = (name: string, more: object = {}, outside: object = {}) =>
  service.call(`POST ${base}/repositories`, { payload: { name, spec: { ...spec, ...more }, ...outside } })
const get = (path: string) => service.call(`GET ${base}/${path}`)
const post = (path: string, payload?: object) =>
  service.call(`POST ${base}/${path}`, payload === undefined ? {} : { payload })
const problemsOf = (answer: { statusCode: number; json(): { error: { details?: { path: string }[] } } }) => [
  answer.statusCode,
  answer.json().error.details?.map(({ path }) => path),
]

async function keyOf(name: string) {
  const scan = await service.ports.resources.get('RepositoryScan', { namespace: 'default', name })
  return { uid: scan?.metadata.uid ?? '', namespace: 'default', name }
}

function draft(fingerprint: string, more: Partial<FindingDraft> = {}): FindingDraft {
  const words = { title: fingerprint, summary: 's', category: 'injection', filePath: 's.go', line: 3 }
  return { fingerprint, ...words, severity: 'high', confidence: 'high', evidence: [], ...more }
}

/** A run that is over, with what it found. */
async function scanned(name: string, accepted: FindingDraft[], more: Partial<ReviewOutcome> = {}) {
  const made = await create(name)
  if (![201, 409].includes(made.statusCode)) throw new Error(made.body)
  const scan = await keyOf(name)
  const { scans, findings } = service.ports.records
  const run = `scan_${service.ports.ids.hex(12)}`
  await scans.startRun(scan, { id: run, mode: 'manual' })
  const statuses = { s: 'pending', t: 'skipped' } as const
  await scans.cutSlices(
    scan,
    run,
    Object.entries(statuses).map(([id, status]) => ({ ...makeSlice(id), status })),
  )
  const outcome = { run, slice: 's', taskName: 'task', covered: ['s.go'], accepted, dropped: [], origin: {}, ...more }
  await findings.recordReview(scan, outcome)
  await scans.changeRun(scan.uid, run, { phase: 'succeeded' })
  const { items } = await findings.list(scan.uid, { limit: 100 })
  return { run, idOf: (title: string) => items.find((one) => one.title === title)?.id ?? '' }
}

describe('the resource', () => {
  it('is created with the fields of its kind and what they leave open [SCAN-001] [SCAN-006] [SCAN-011] [SCAN-017] [SCAN-020]', async () => {
    const made = await create('made', { branch: 'main' })
    expect(made.statusCode).toBe(201)
    expect(made.json()).toMatchObject({
      kind: 'RepositoryScan',
      metadata: { name: 'made', namespace: 'default' },
      spec: { ...spec, provider: 'codehost', validationMode: 'light', owner: 'owner', repository: 'shop' },
    })
    expect(made.json().spec).toMatchObject({ branch: 'main', prBaseBranch: 'main' })
    expect((await create('made')).statusCode).toBe(409)
  })

  it('names every field that is missing [SCAN-002] [SCAN-004] [SCAN-005]', async () => {
    const nameless = await service.call(`POST ${base}/repositories`, { payload: { spec } })
    expect(problemsOf(nameless)).toEqual([400, ['name']])
    const bare = await service.call(`POST ${base}/repositories`, { payload: { name: 'bare', spec: {} } })
    expect(problemsOf(bare)).toEqual([400, ['spec.repoURL', 'spec.analysisAgentRef']])
    const unnamed = await create('bare', { analysisAgentRef: {} })
    expect(problemsOf(unnamed)).toEqual([400, ['spec.analysisAgentRef.name']])
  })

  it('may be in a namespace, which each request can name [SCAN-003] [SCAN-032]', async () => {
    const made = await create('elsewhere', {}, { namespace: 'team' })
    expect(made.json().metadata.namespace).toBe('team')
    expect((await get('repositories/elsewhere')).statusCode).toBe(404)
    expect((await get('repositories/elsewhere?namespace=team')).statusCode).toBe(200)
    expect((await get('repositories/elsewhere/findings?namespace=team')).json().items).toEqual([])
    expect((await get('repositories/elsewhere/findings')).statusCode).toBe(404)
  })

  it.each([
    [{ ref: 'v1.2.0' }, 201],
    [{ ref: '4b825dc642cb6eb9a060e54bf8d69288fbee4904' }, 201],
    [{ ref: '--upload-pack=x' }, 400],
    [{ schedule: '0 3 * * *', timeZone: 'Europe/Berlin' }, 201],
    [{ schedule: 'nightly' }, 400],
    [{ timeZone: 'Europe/Berlin' }, 400],
    [{ budget: {} }, 400],
    [{ budget: { maxTokens: 1000 } }, 201],
    [{ validationMaxFindingsPerRun: 5, validationMinSeverity: 'low', validationMinConfidence: 'low' }, 201],
    [{ validationMaxFindingsPerRun: 1.5 }, 400],
    [{ validationMinSeverity: 'severe' }, 400],
    [{ validationMinConfidence: 'sure' }, 400],
  ])('takes or refuses %j with %d [SCAN-008] [SCAN-010]', async (more, status) => {
    const name = `spec-${service.ports.ids.hex(8)}`
    const answer = await create(name, more)
    expect(answer.statusCode).toBe(status)
    if (status === 201) expect((await get(`repositories/${name}`)).json().spec).toMatchObject(more)
  })

  it('is listed page by page, read, replaced and deleted [SCAN-021] [SCAN-022] [SCAN-023] [SCAN-024] [SCAN-033] [SCAN-034]', async () => {
    for (const name of ['page-a', 'page-b', 'page-c']) await create(name, {}, { namespace: 'pages' })
    const first = (await get('repositories?namespace=pages&limit=2')).json()
    expect(first.items.map((one: { metadata: { name: string } }) => one.metadata.name)).toEqual(['page-a', 'page-b'])
    const rest = await get(`repositories?namespace=pages&limit=2&continue=${first.metadata.continue}`)
    expect(rest.json().items).toHaveLength(1)
    expect((await get('repositories?limit=0')).statusCode).toBe(400)
    const changed = { spec: { ...spec, maxFindingsPerRun: 3 } }
    const put = await service.call(`PUT ${base}/repositories/page-a?namespace=pages`, { payload: changed })
    expect([put.statusCode, put.json().spec.maxFindingsPerRun]).toEqual([200, 3])
    expect((await service.call(`DELETE ${base}/repositories/page-a?namespace=pages`)).statusCode).toBe(204)
    expect((await get('repositories/page-a?namespace=pages')).statusCode).toBe(404)
  })

  it('refuses an agent that runs a program, at once where it exists', async () => {
    const runtime = { type: 'llmo-cli' }
    const agent = { name: 'program', spec: { runtime } }
    expect((await service.call('POST /api/v1/agents', { payload: agent })).json()).toMatchObject({ spec: { runtime } })
    for (const field of ['analysisAgentRef', 'patchAgentRef']) {
      const payload = { name: 'programmed', spec: { ...spec, [field]: { name: 'program' } } }
      const refused = await service.call('POST /api/v1/security/repositories', { payload })
      expect([refused.statusCode, refused.json().error.message]).toEqual([
        400,
        expect.stringContaining(`spec.${field} names an agent that runs a program`),
      ])
    }
  })

  it('takes policies that are marked as such, of its own namespace [SCAN-015] [SCAN-016] [SCAN-018] [SCAN-019]', async () => {
    const annotated = { annotations: { 'svc.ai/security-policy': 'True' } }
    await policy('noted', annotated, { other: 'x' })
    const both = {
      customScanInstructionsRef: { name: 'rules' },
      falsePositivePolicyRef: { name: 'noted', key: 'other' },
    }
    const made = await create('with-policy', both)
    expect(made.statusCode).toBe(201)
    expect(made.json().spec.customScanInstructionsRef).toEqual({ name: 'rules', key: 'policy' })
    const stored = (await service.call('GET /api/v1/security/repositories/with-policy')).json()
    expect(stored.spec.falsePositivePolicyRef).toEqual({ name: 'noted', key: 'other' })
    for (const falsePositivePolicyRef of [
      'noted',
      { key: 'other' },
      { name: 'noted', key: 7 },
      { name: 'noted', entry: 'other' },
    ]) {
      const refused = await create('no-object', { falsePositivePolicyRef })
      expect([refused.statusCode, refused.json().error.message]).toEqual([
        400,
        expect.stringContaining('falsePositivePolicyRef'),
      ])
    }
    const far = await create('far-policy', both, { namespace: 'team' })
    expect(far.json().error.message).toContain('config map "rules" does not exist in the namespace of the scan')
  })

  it.each([
    ['plain', {}, { policy: 'x' }, 'is no policy'],
    ['off', { labels: { 'svc.ai/security-policy': 'false' } }, { policy: 'x' }, 'is no policy'],
    ['empty', { labels: { 'svc.ai/security-policy': 'true' } }, { other: 'x' }, 'has no entry "policy"'],
    ['long', { labels: { 'svc.ai/security-policy': 'true' } }, { policy: 'é'.repeat(16_385) }, '32770 bytes'],
    ['leaky', { labels: { 'svc.ai/security-policy': 'true' } }, { policy: `ghp_${'a1B2'.repeat(9)}` }, 'a secret'],
  ])('refuses the policy %s', async (name, marks, data, message) => {
    await policy(name, marks, data)
    const refused = await create('refused', { falsePositivePolicyRef: { name } })
    expect(problemsOf(refused)).toEqual([400, ['spec.falsePositivePolicyRef']])
    expect(refused.json().error.message).toContain('invalid repository scan policy: falsePositivePolicyRef: ')
    expect(refused.json().error.message).toContain(message)
    expect(refused.body).not.toContain('ghp_')
  })
})

describe('runs', () => {
  it('are started on request, one at a time, and listed page by page [SCAN-027] [SCAN-028] [SCAN-035]', async () => {
    await create('runs')
    const answers = await Promise.all([post('repositories/runs/scans'), post('repositories/runs/scans')])
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([201, 409])
    expect(answers.find(({ statusCode }) => statusCode === 409)?.json().error.message).toContain('already running')
    const [run] = answers.filter(({ statusCode }) => statusCode === 201).map((answer) => answer.json())
    expect(run).toMatchObject({ mode: 'manual', phase: 'pending', id: expect.stringMatching(/^scan_[0-9a-f]{12}$/) })
    const { uid } = await keyOf('runs')
    await service.ports.records.scans.changeRun(uid, run.id, { phase: 'failed' })
    expect((await post('repositories/runs/scans')).statusCode).toBe(201)
    const first = (await get('repositories/runs/scans?limit=1')).json()
    const rest = (await get(`repositories/runs/scans?limit=1&cursor=${first.metadata.continue}`)).json()
    expect([first.items.length, rest.items.length, rest.metadata.continue]).toEqual([1, 1, undefined])
    expect(rest.items[0].id).toBe(run.id)
    expect((await get('repositories/none/scans')).statusCode).toBe(404)
    expect((await post('repositories/none/scans')).statusCode).toBe(404)
  })

  it('repeat only what failed, where something did', async () => {
    await create('again')
    const retry = () => post('repositories/again/scans', { retryFailed: true })
    expect((await retry()).json().error.message).toContain('there is no run to retry')
    await scanned('again', [])
    expect((await retry()).json().error.message).toContain('left no slice to review: it is succeeded')
    expect((await post('repositories/again/scans', { retry: true })).statusCode).toBe(400)
  })

  it('have slices, by status and one by one, and what they dropped [SCAN-029] [SCAN-030] [SCAN-031] [SCAN-038] [SCAN-044]', async () => {
    const dropped = [{ id: 'd1', reason: 'title is required', layer: 'validation' }] as const
    const { run } = await scanned('sliced', [], { dropped: [...dropped] })
    const ids = async (query = '') =>
      (await get(`repositories/sliced/slices${query}`)).json().items.map(({ id }: { id: string }) => id)
    expect((await ids()).sort()).toEqual(['s', 't'])
    expect(await ids('?status=reviewed')).toEqual(['s'])
    expect((await get('repositories/sliced/slices?status=done')).statusCode).toBe(400)
    expect((await get('repositories/sliced/slices/t')).json()).toMatchObject({ id: 't', status: 'skipped' })
    expect((await get('repositories/sliced/slices/none')).json().error.message).toContain('review slice not found')
    const [record] = (await get('repositories/sliced/dropped-findings')).json().items
    expect(record).toMatchObject({ id: 'd1', scanRunID: run, sliceID: 's', layer: 'validation' })
  })

  it('page through slices and dropped findings by either name of the cursor [SCAN-036] [SCAN-037]', async () => {
    const dropped = ['d1', 'd2', 'd3'].map((id) => ({ id, reason: id, layer: 'cap' }) as const)
    await scanned('paged', [], { dropped })
    for (const [noun, sizes] of [
      ['slices', [1, 1]],
      ['dropped-findings', [2, 1]],
    ] as const) {
      const first = (await get(`repositories/paged/${noun}?limit=${sizes[0]}`)).json()
      const next = first.metadata.continue
      const rest = (await get(`repositories/paged/${noun}?limit=${sizes[0]}&cursor=${next}`)).json()
      expect([first.items.length, rest.items.length]).toEqual(sizes)
      expect((await get(`repositories/paged/${noun}?limit=${sizes[0]}&continue=${next}`)).json()).toEqual(rest)
      expect((await get(`repositories/paged/${noun}?cursor=50`)).statusCode).toBe(400)
      expect((await get(`repositories/paged/findings?cursor=${next}`)).statusCode).toBe(400)
    }
  })

  it('filter what was dropped [SCAN-039] [SCAN-040] [SCAN-041] [SCAN-042] [SCAN-043]', async () => {
    const { run } = await scanned('dropping', [], {
      dropped: [
        { id: 'd1', reason: 'title is required', layer: 'validation' },
        { id: 'd2', reason: 'docs-only finding', layer: 'filter' },
      ],
    })
    const ids = async (query: string) =>
      (await get(`repositories/dropping/dropped-findings?${query}`)).json().items.map(({ id }: { id: string }) => id)
    expect((await ids(`scanRunID=${run}`)).sort()).toEqual(['d1', 'd2'])
    expect(await ids('scanRunID=scan_other')).toEqual([])
    expect(await ids('sliceID=t')).toEqual([])
    expect((await ids('sliceID=s')).length).toBe(2)
    expect(await ids('layer=filter')).toEqual(['d2'])
    expect((await get('repositories/dropping/dropped-findings?layer=mood')).statusCode).toBe(400)
    expect(await ids('reason=title%20is%20required')).toEqual(['d1'])
    expect(await ids('reason=title')).toEqual([])
    expect(await ids('reason=contains=DOCS')).toEqual(['d2'])
    expect(await ids('reason=contains=docs-only%20f')).toEqual(['d2'])
  })

  it('have a threat model that people can change [SCAN-025] [SCAN-026]', async () => {
    await create('modelled')
    const path = `${base}/repositories/modelled/threat-model`
    expect((await get('repositories/modelled/threat-model')).json().error.message).toContain('threat model not found')
    const put = (payload: object) => service.call(`PUT ${path}`, { payload })
    expect((await put({ content: '# One' })).json()).toMatchObject({ version: 1, source: 'edited' })
    expect((await put({ content: '# Two', source: 'team' })).json()).toMatchObject({ version: 2, source: 'team' })
    expect((await get('repositories/modelled/threat-model')).json()).toMatchObject({ content: '# Two', version: 2 })
    const blank = await put({ content: ' \n' })
    expect([...problemsOf(blank), blank.json().error.message]).toEqual([
      400,
      ['content'],
      expect.stringContaining('content is required'),
    ])
  })
})

describe('findings', () => {
  it('are listed, filtered and read [FIND-005] [FIND-006] [FIND-011] [FIND-012] [FIND-013] [FIND-014] [FIND-015]', async () => {
    const { idOf } = await scanned('listed', [
      draft('a'),
      draft('b', { severity: 'low', category: 'xss' }),
      draft('c', { confidence: 'low' }),
    ])
    await post(`findings/${idOf('c')}/dismiss`, { reason: 'constant' })
    await service.ports.records.findings.change('default', idOf('a'), (one) => ({
      ...one,
      validationStatus: 'validated',
    }))
    const titles = async (query: string) =>
      (await get(`repositories/listed/findings?${query}`)).json().items.map(({ title }: { title: string }) => title)
    expect((await titles('')).sort()).toEqual(['a', 'b', 'c'])
    expect(await titles('severity=low')).toEqual(['b'])
    expect(await titles('validationStatus=validated')).toEqual(['a'])
    expect(await titles('state=dismissed')).toEqual(['c'])
    expect((await titles('sliceID=s')).length).toBe(3)
    expect(await titles('sliceID=t')).toEqual([])
    expect(await titles('category=xss')).toEqual(['b'])
    expect(await titles('category=XSS')).toEqual([])
    for (const query of ['severity=bad', 'state=resolved', 'validationStatus=x', 'recommended=yes', 'limit=0'])
      expect((await get(`repositories/listed/findings?${query}`)).statusCode, query).toBe(400)
    expect((await get(`findings/${idOf('a')}`)).json()).toMatchObject({ title: 'a', repositoryScan: 'listed' })
    expect((await get('findings/fnd_none')).json().error.message).toContain('finding not found')
    expect((await get(`findings/${idOf('a')}?namespace=team`)).statusCode).toBe(404)
  })

  it('page, and are recommended in an order of their own [FIND-010] [FIND-016]', async () => {
    await scanned('ordered', [
      draft('low', { severity: 'low' }),
      draft('worst', { severity: 'critical' }),
      draft('mid'),
    ])
    const first = (await get('repositories/ordered/findings?recommended=true&limit=2')).json()
    expect(first.items.map(({ title }: { title: string }) => title)).toEqual(['worst', 'mid'])
    const next = first.metadata.continue
    const rest = (await get(`repositories/ordered/findings?recommended=true&limit=2&cursor=${next}`)).json()
    expect(rest.items.map(({ title }: { title: string }) => title)).toEqual(['low'])
    expect((await get(`repositories/ordered/findings?limit=2&cursor=${next}`)).statusCode).toBe(400)
    const plain = (await get('repositories/ordered/findings?limit=2')).json()
    const last = await get(`repositories/ordered/findings?limit=2&cursor=${plain.metadata.continue}`)
    expect(last.json().items).toHaveLength(1)
  })

  it('are dismissed with a reason by somebody, and reopened [FIND-001] [FIND-002] [FIND-021]', async () => {
    const { idOf } = await scanned('decided', [draft('a')])
    const path = `findings/${idOf('a')}`
    expect(problemsOf(await post(`${path}/dismiss`, { reason: ' ' }))).toEqual([400, ['reason']])
    const past = { reason: 'x', until: '2020-01-01T00:00:00Z' }
    expect(problemsOf(await post(`${path}/dismiss`, past))).toEqual([400, ['until']])
    const refused = await post(`${path}/reopen`)
    expect([refused.statusCode, refused.json().error.message]).toEqual([409, expect.stringContaining('it is open')])
    const until = '2999-01-01T00:00:00.000Z'
    expect((await post(`${path}/dismiss`, { reason: 'constant', until })).statusCode).toBe(204)
    const dismissed = (await get(path)).json()
    expect(dismissed).toMatchObject({ state: 'dismissed', dismissal: { reason: 'constant', until } })
    expect(dismissed.dismissal.by).not.toBe('')
    const tries = [post(`${path}/dismiss`, { reason: 'x' }), post(`${path}/validate`), post(`${path}/patch`)]
    for (const again of await Promise.all(tries))
      expect([again.statusCode, again.json().error.message]).toEqual([
        409,
        expect.stringContaining('it is dismissed; reopen it first'),
      ])
    expect((await post(`${path}/reopen`)).statusCode).toBe(204)
    expect((await get(path)).json().dismissal).toBeUndefined()
    expect((await post('findings/fnd_none/reopen')).statusCode).toBe(404)
  })

  it('are validated and patched once at a time', async () => {
    const { idOf } = await scanned('worked', [draft('a')])
    const path = `findings/${idOf('a')}`
    const validating = await post(`${path}/validate`)
    expect([validating.statusCode, validating.json().validationStatus]).toEqual([202, 'pending'])
    expect((await post(`${path}/validate`)).json().error.message).toContain('being validated already')
    const answers = await Promise.all([post(`${path}/patch`), post(`${path}/patch`)])
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([201, 409])
    const conflict = answers.find(({ statusCode }) => statusCode === 409)
    expect(conflict?.json().error.message).toContain('it is patch_pending')
    const { items } = (await get(`${path}/patches`)).json()
    expect(items).toHaveLength(1)
    expect(items[0]).toMatchObject({ status: 'pending', branch: expect.stringMatching(/^svc\/security\/fnd-/) })
    const early = await post(`${path}/pull-request`)
    expect([early.statusCode, early.json().error.message]).toEqual([
      400,
      expect.stringContaining('no successful patch proposal available'),
    ])
  })

  it('of a scan that was deleted and made again show nothing of the former one', async () => {
    const { idOf } = await scanned('remade', [draft('a')])
    await service.call(`PUT ${base}/repositories/remade/threat-model`, { payload: { content: '#' } })
    await service.call(`DELETE ${base}/repositories/remade`)
    expect((await get(`findings/${idOf('a')}`)).statusCode).toBe(404)
    await create('remade')
    expect((await get(`findings/${idOf('a')}`)).statusCode).toBe(404)
    expect((await get(`findings/${idOf('a')}/patches`)).statusCode).toBe(404)
    expect((await post(`findings/${idOf('a')}/dismiss`, { reason: 'x' })).statusCode).toBe(404)
    for (const noun of ['scans', 'slices', 'dropped-findings', 'findings'])
      expect((await get(`repositories/remade/${noun}`)).json().items, noun).toEqual([])
    expect((await get('repositories/remade/threat-model')).statusCode).toBe(404)
  })
})
