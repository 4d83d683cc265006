// Memory proposals over REST.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

const base = '/api/v1/memory-proposals'
const post = (payload: object) => service.call(`POST ${base}`, { payload })
const step = (id: string, name: string, payload?: object) =>
  service.call(`POST ${base}/${id}/${name}`, payload === undefined ? {} : { payload })
const read = async (id: string) => (await service.call(`GET ${base}/${id}`)).json()
const list = async (query: string) => {
  const answer = await service.call(`GET ${base}?${query}`)
  expect(answer.json().metadata).toEqual({})
  return answer.json().items.map(({ id }: { id: string }) => id)
}
const messageOf = (answer: { statusCode: number; json(): { error: { message: string } } }) => [
  answer.statusCode,
  answer.json().error.message,
]
const fact = { type: 'Memory', title: 'Reset', content: 'Staging is reset.', description: 'why\nTags: staging, db' }

describe('a memory proposal', () => {
  it('is made pending, and read [PROP-006] [PROP-007]', async () => {
    const created = await post({ title: 'A better skill' })
    expect(created.statusCode).toBe(201)
    const proposal = created.json()
    expect(proposal).toEqual({
      id: expect.stringMatching(/^mprop-[0-9a-f-]{36}$/),
      namespace: 'default',
      type: 'skill',
      title: 'A better skill',
      status: 'pending',
      createdBy: expect.objectContaining({ kind: 'token' }),
      createdAt: expect.any(String),
      updatedAt: proposal.createdAt,
    })
    expect(await read(proposal.id)).toEqual(proposal)
    expect((await service.call(`GET ${base}/unknown`)).statusCode).toBe(404)
    expect((await post(fact)).json().type).toBe('memory')
  })

  it('has a title, and nobody decides while making it', async () => {
    expect(messageOf(await post({}))).toEqual([400, expect.stringContaining('title is required')])
    expect(messageOf(await post({ ...fact, status: 'accepted' }))).toEqual([
      400,
      expect.stringContaining('must be pending'),
    ])
    expect((await post({ ...fact, reviewedBy: { name: 'eve' } })).statusCode).toBe(400)
    expect((await post({ ...fact, id: 'taken' })).statusCode).toBe(201)
    expect((await post({ ...fact, id: 'taken' })).statusCode).toBe(409)
  })

  it('keeps no credential', async () => {
    const secret = `ghp_${'abcdefghijklmnopqrstuvwxyz012345'}`
    const texts = { title: secret, description: secret, content: secret, patch: secret, agentName: secret }
    await post({ id: 'secret', type: 'memory', ...texts })
    await step('secret', 'review', { status: 'accepted', reviewer: secret, reviewNote: secret })
    const memory = (await step('secret', 'apply', { appliedBy: secret })).json()
    for (const stored of [memory, await read('secret')]) expect(JSON.stringify(stored)).not.toContain('ghp_')
    expect((await read('secret')).reviewNote).toBe('[REDACTED]')
  })

  it('is reviewed without being applied, by one reviewer [PROP-001] [PROP-008]', async () => {
    await post({ ...fact, id: 'reviewed' })
    const answers = await Promise.all(
      ['ada', 'bob'].map((reviewer) => step('reviewed', 'review', { status: 'accepted', reviewer, reviewNote: 'ok' })),
    )
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([204, 409])
    const proposal = await read('reviewed')
    expect(proposal).toMatchObject({ status: 'accepted', reviewNote: 'ok', reviewedAt: expect.any(String) })
    expect(proposal.reviewer).toBe(answers[0]?.statusCode === 204 ? 'ada' : 'bob')
    // Whatever name is given, the service keeps who called.
    expect(proposal.reviewedBy).toEqual(proposal.createdBy)
    expect(proposal).not.toHaveProperty('appliedMemoryId')
    const late = await step('reviewed', 'review', { status: 'rejected' })
    expect(messageOf(late)).toEqual([409, expect.stringContaining('is accepted and cannot be rejected')])
    expect((await step('reviewed', 'review', { status: 'applied' })).statusCode).toBe(400)
    expect((await step('unknown', 'review', { status: 'rejected' })).statusCode).toBe(404)
  })

  it("is reviewed in the caller's name when none is given", async () => {
    await post({ ...fact, id: 'nameless' })
    await step('nameless', 'review', { status: 'rejected' })
    const { reviewer, reviewedBy } = await read('nameless')
    expect(reviewer).toBe(reviewedBy.name)
  })

  it('is applied to one memory [PROP-002] [PROP-003] [PROP-009] [PROP-010]', async () => {
    await post({ ...fact, id: 'applied', agentName: 'a', taskName: 't' })
    expect(messageOf(await step('applied', 'apply'))).toEqual([
      409,
      expect.stringContaining('is pending and cannot be applied'),
    ])
    await step('applied', 'review', { status: 'accepted' })
    const first = await step('applied', 'apply', { appliedBy: 'ada' })
    expect(first.statusCode).toBe(200)
    expect(first.json()).toMatchObject({
      source: 'memory_proposal',
      sourceProposalId: 'applied',
      content: fact.content,
      tags: ['staging', 'db'],
      agentName: 'a',
      taskName: 't',
    })
    expect((await step('applied', 'apply')).json()).toEqual(first.json())
    expect((await service.call(`GET /api/v1/memories/${first.json().id}`)).json()).toEqual(first.json())
    expect(await read('applied')).toMatchObject({
      status: 'applied',
      appliedBy: 'ada',
      appliedMemoryId: first.json().id,
    })
    expect(messageOf(await step('applied', 'archive'))).toEqual([409, expect.stringContaining('is applied')])
  })

  it('is applied only as a memory with content', async () => {
    await post({ id: 'skill', title: 'x', content: 'y' })
    await post({ id: 'empty', type: 'memory', title: 'x' })
    for (const id of ['skill', 'empty']) {
      await step(id, 'review', { status: 'accepted' })
      expect((await step(id, 'apply')).statusCode).toBe(400)
    }
  })

  it('is archived without being applied [PROP-004] [PROP-011]', async () => {
    await post({ ...fact, id: 'archived' })
    await step('archived', 'review', { status: 'accepted' })
    for (let time = 0; time < 2; time += 1) {
      const answer = await step('archived', 'archive')
      expect([answer.statusCode, answer.body]).toEqual([204, ''])
    }
    expect(await read('archived')).toMatchObject({ status: 'archived' })
    expect(await read('archived')).not.toHaveProperty('appliedMemoryId')
    expect((await step('archived', 'apply')).statusCode).toBe(409)
    expect((await step('unknown', 'archive')).statusCode).toBe(404)
  })
})

describe('the list of memory proposals', () => {
  beforeAll(async () => {
    const namespace = 'team'
    await post({ ...fact, namespace, id: 'one', taskName: 't-1', agentName: 'a-1' })
    await post({ namespace, id: 'two', title: 'Other', skillName: 'release-notes' })
    await step('one', 'review', { namespace, status: 'accepted' })
  })

  it('is of one namespace, newest first [PROP-005] [PROP-012]', async () => {
    expect(await list('namespace=team')).toEqual(['two', 'one'])
    expect(await list('namespace=nobodys')).toEqual([])
  })

  it.each([
    ['taskName=t-1', 'one'],
    ['agentName=a-1', 'one'],
    ['type=SKILL', 'two'],
    ['status=accepted', 'one'],
    ['status=pending', 'two'],
    ['query=staging%20is', 'one'],
    ['q=RELEASE', 'two'],
    ['limit=1', 'two'],
  ])('is filtered by %s [PROP-013] [PROP-014] [PROP-015] [PROP-016] [PROP-017] [PROP-018]', async (query, id) => {
    expect(await list(`namespace=team&${query}`)).toEqual([id])
  })

  it('refuses what is no filter', async () => {
    for (const query of ['status=done', 'limit=0', 'q=a&query=b', 'odd=1']) {
      expect((await service.call(`GET ${base}?${query}`)).statusCode).toBe(400)
    }
  })
})
