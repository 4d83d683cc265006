// Monitors when something goes wrong: the code host, the service itself, and what people do meanwhile.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type CodeHostServer, startCodeHost } from '../fixtures/codehost/server.ts'
import { makeVerdict } from '../fixtures/codehost/verdict.ts'
import { type MonitorBench, openMonitorBench } from './monitor-bench.ts'

const repositories = Array.from({ length: 40 }, (_, at) => `acme/faults-${at}`)
let server: CodeHostServer
let bench: MonitorBench
let full: string
beforeAll(async () => {
  server = await startCodeHost({ repositories })
})
afterAll(() => server.close())
beforeEach(async () => {
  full = repositories.pop() ?? ''
  server.limits.remaining = 5000
  bench = await openMonitorBench(server, full)
})
afterEach(() => bench.close())

const patch = '@@ -1,2 +1,3 @@\n line one\n+line two\n line three'
const files = [{ filename: 'src/a.ts', patch }]
const publishing = { review: { publish: { enabled: true } } }
const verdictOf = (number: number, head: string, more: object = {}) => makeVerdict(full, number, head, more)
const runs = async () => bench.records.listRuns(await bench.keyOf(), { limit: 9 })

describe('the code host', () => {
  it('that takes no more requests holds a run up, which then goes on and counts nothing twice', async () => {
    await bench.addMonitor({ branch: 'main' })
    const pulls = [await bench.server.openPull(full, { files }), await bench.server.openPull(full, { files })]
    await bench.step()
    server.limits.remaining = 0
    server.limits.reset = Math.floor(bench.clock.now().getTime() / 1000) + 600
    const run = await bench.run()
    expect(run).toMatchObject({ phase: 'running', heldUpUntil: expect.any(String) })
    const { status } = await bench.getMonitor()
    expect(status).toMatchObject({ phase: 'Ready', heldUpUntil: run.heldUpUntil })
    expect(status?.conditions?.[0]).toMatchObject({
      reason: 'HeldUp',
      message: expect.stringContaining('Held up until'),
    })
    bench.restart()
    const before = server.seen.length
    await bench.step()
    server.limits.remaining = 5000
    bench.advance(601_000)
    for (let at = 0; at < 3; at += 1) await bench.step()
    expect((await runs())[0]).toMatchObject({
      id: run.id,
      phase: 'succeeded',
      selectedCount: pulls.length,
      skippedCount: 0,
    })
    expect((await runs())[0]).not.toHaveProperty('heldUpUntil')
    expect((await bench.getMonitor()).status).not.toHaveProperty('heldUpUntil')
    expect(await bench.listTasks('monrev')).toHaveLength(2)
    expect(server.seen.length).toBeGreaterThan(before)
  })

  it('that takes no more requests in the middle of a list is asked for the rest of it, then', async () => {
    await bench.addMonitor({ branch: 'main', targets: { pullRequests: { maxPerRun: 3 } } })
    await bench.server.openPull(full, { files })
    const [template] = (await server.call('acme', 'GET', `/repos/${full}/pulls`)) as unknown as { head: object }[]
    const pageOf = (from: number) =>
      Array.from({ length: 100 }, (_, at) => {
        const sha = (from + at).toString(16).padStart(40, '0')
        return { ...template, number: from + at, head: { ...template?.head, sha } }
      })
    const path = `/repos/${full}/pulls`
    const link = `<${server.url}${path}?page=2>; rel="next"`
    const first = { status: 200, body: pageOf(1), headers: { link } }
    const second = { status: 200, body: pageOf(101) }
    const until = Math.floor(bench.clock.now().getTime() / 1000) + 600
    const limit = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(until) }
    const refusal = { status: 403, body: { message: 'API rate limit exceeded' }, headers: limit }
    // It is read once more, because it may have changed between its pages.
    for (const answer of [first, refusal, first, second, first, second]) server.fail(new RegExp(`GET ${path}$`), answer)
    server.seen.length = 0
    const run = await bench.run()
    expect(run).toMatchObject({ phase: 'running', heldUpUntil: new Date(until * 1000).toISOString() })
    expect((await bench.getMonitor()).status).toMatchObject({ phase: 'Ready', heldUpUntil: run.heldUpUntil })
    expect(await bench.listTasks('monrev')).toEqual([])
    bench.advance(601_000)
    await bench.step()
    const listed = server.seen.filter((call) => call.path === path)
    expect(listed.map(({ status }) => status)).toEqual([200, 403, 304, 200, 304, 304])
    expect((await runs())[0]).toMatchObject({ id: run.id, phase: 'succeeded', selectedCount: 3, skippedCount: 197 })
  })

  it.each([404, 451, 410])('that has withdrawn the repository (%i) fails the run and says so', async (status) => {
    await bench.addMonitor({ branch: 'main' })
    server.fail(new RegExp(`GET /repos/${full}/pulls$`), { status, body: { message: 'Not here' } })
    expect(await bench.run()).toMatchObject({ phase: 'failed', error: expect.stringContaining('github.com') })
    expect((await bench.getMonitor()).status).toMatchObject({ phase: 'Error' })
  })

  it('that answers 5xx or not at all is asked again, and after half an hour the run has failed', async () => {
    await bench.addMonitor({ branch: 'main' })
    await bench.server.openPull(full, { files })
    server.fail(new RegExp(`GET /repos/${full}/pulls$`), { status: 502, body: { message: 'Bad gateway' } }, 30)
    expect(await bench.run()).toMatchObject({ phase: 'running' })
    bench.advance(1_800_001)
    await bench.step()
    expect((await runs())[0]).toMatchObject({ phase: 'failed', error: expect.any(String) })
    expect(await bench.events()).toContain('run_failed stale_running_run')
    expect((await bench.getMonitor()).status).toMatchObject({ phase: 'Error' })
  })

  it('that wants another token fails the run with what to do', async () => {
    await bench.addMonitor()
    bench.values.codehost = { token: 'ghp_of_nobody' }
    expect(await bench.run()).toMatchObject({ phase: 'failed', error: expect.stringContaining('token') })
  })

  it('that grants no right to review says which right is missing', async () => {
    await bench.addMonitor(publishing)
    bench.values.codehost = { token: server.denyToken('writer', ['pull_requests=write']) }
    const { number, head } = await bench.server.openPull(full, { files })
    await bench.run()
    await bench.answer(number, verdictOf(number, head))
    expect(await bench.item(number)).toMatchObject({
      lastPublishPhase: 'failed',
      lastPublishReason: 'codehost_permission_denied',
    })
    const [event] = await bench.records.listEvents(await bench.keyOf(), {
      limit: 1,
      eventType: 'review_publish_failed',
    })
    expect(event?.metadata?.error).toContain('pull_requests=write')
    bench.advance(600_000)
    server.seen.length = 0
    await bench.step()
    expect(server.seen.filter(({ method }) => method === 'POST')).toEqual([])
  })

  it('that has renamed the repository is followed; nothing is written to the old name', async () => {
    await bench.addMonitor(publishing)
    const { number, head } = await bench.server.openPull(full, { files })
    await bench.run()
    await server.move(full, `${full}-moved`)
    await bench.answer(number, verdictOf(number, head))
    expect(await bench.item(number)).toMatchObject({ lastPublishReason: 'codehost_permanent_error' })
    const [event] = await bench.records.listEvents(await bench.keyOf(), {
      limit: 1,
      eventType: 'review_publish_failed',
    })
    expect(event?.metadata?.error).toContain(`${full}-moved`)
    expect(await bench.run()).toMatchObject({ phase: 'succeeded' })
  })

  it('that has archived the repository takes no review, and says so', async () => {
    await bench.addMonitor(publishing)
    const { number, head } = await bench.server.openPull(full, { files })
    await bench.run()
    server.fail(/POST .*reviews/, { status: 403, body: { message: 'Repository was archived so is read-only.' } })
    await bench.answer(number, verdictOf(number, head))
    expect(await bench.item(number)).toMatchObject({
      lastPublishPhase: 'failed',
      lastPublishReason: 'codehost_permanent_error',
    })
  })

  it('whose answer to a review is lost is asked whether it has it, and gets no second one', async () => {
    await bench.addMonitor(publishing)
    const { number, head } = await bench.server.openPull(full, { files })
    await bench.run()
    const post = server.call
    // The review arrives; its answer does not.
    server.fail(/POST .*reviews/, 'close')
    await bench.answer(number, verdictOf(number, head))
    const item = await bench.item(number)
    expect(item).toMatchObject({ lastPublishPhase: 'started' })
    const body = `arrived <!-- svc:repo-monitor publish=${item?.lastPublishID} -->`
    await post('writer', 'POST', `/repos/${full}/pulls/${number}/reviews`, { event: 'COMMENT', body, commit_id: head })
    bench.restart()
    bench.advance(300_001)
    await bench.step()
    expect(await bench.reviewsAt(number)).toHaveLength(1)
    expect(await bench.item(number)).toMatchObject({ lastPublishPhase: 'succeeded' })
  })

  it('whose refusal is lost gets the review later, once', async () => {
    await bench.addMonitor(publishing)
    const { number, head } = await bench.server.openPull(full, { files })
    await bench.run()
    server.fail(/POST .*reviews/, 'close')
    await bench.answer(number, verdictOf(number, head))
    bench.restart()
    bench.advance(300_001)
    for (let at = 0; at < 3; at += 1) await bench.step()
    expect(await bench.reviewsAt(number)).toHaveLength(1)
  })
})

describe('a service that ends in the middle', () => {
  it('of a run goes on with the same run, and reviews nothing twice', async () => {
    const key = await bench.addMonitor(publishing)
    const first = await bench.server.openPull(full, { files })
    const second = await bench.server.openPull(full, { files })
    const putItem = bench.records.putItem.bind(bench.records)
    let left = 2
    bench.records.putItem = async (...given) => {
      left -= 1
      if (left < 0) throw new Error('killed')
      await putItem(...given)
    }
    await bench.run().catch(() => {})
    bench.records.putItem = putItem
    bench.restart()
    await bench.step()
    expect(await bench.records.listRuns(key, { limit: 9 })).toEqual([
      expect.objectContaining({ phase: 'succeeded', selectedCount: 2, skippedCount: 0 }),
    ])
    for (const { number, head } of [first, second]) await bench.answer(number, verdictOf(number, head))
    for (const { number } of [first, second]) expect(await bench.reviewsAt(number)).toHaveLength(1)
  })

  it.each(['addReview', 'startPublishing', 'endPublishing', 'append'] as const)(
    'at %s publishes the verdict once',
    async (method) => {
      await bench.addMonitor(publishing)
      const { number, head } = await bench.server.openPull(full, { files })
      await bench.run()
      const real = bench.records[method].bind(bench.records) as (...given: unknown[]) => Promise<unknown>
      let isDead = false
      ;(bench.records as unknown as Record<string, unknown>)[method] = async (...given: unknown[]) => {
        if (method === 'endPublishing' || method === 'append' || isDead) await real(...given).catch(() => {})
        isDead = true
        throw new Error('killed')
      }
      await bench.answer(number, verdictOf(number, head)).catch(() => {})
      ;(bench.records as unknown as Record<string, unknown>)[method] = real
      bench.restart()
      for (let at = 0; at < 4; at += 1) {
        bench.advance(300_001)
        await bench.step()
      }
      expect(await bench.reviewsAt(number)).toHaveLength(1)
      expect(await bench.item(number)).toMatchObject({ lastVerdict: 'needs_changes', lastPublishPhase: 'succeeded' })
    },
  )

  it('before the reviewer had its files gives them, and lets the task go', async () => {
    await bench.addMonitor()
    const { number, head } = await bench.server.openPull(full, { files })
    const update = bench.resources.update.bind(bench.resources)
    bench.resources.update = (() => Promise.reject(new Error('killed'))) as never
    await bench.run().catch(() => {})
    bench.resources.update = update
    const [waiting] = await bench.listTasks('monrev')
    expect(waiting?.spec.suspend).toBe(true)
    bench.restart()
    await bench.step()
    const [task] = await bench.listTasks('monrev')
    expect(task?.spec.suspend).toBe(false)
    expect(task && (await bench.readInput(task, '.git/svc/pr-review.diff'))).toContain('+line two')
    await bench.answer(number, verdictOf(number, head))
    expect(await bench.item(number)).toMatchObject({ lastVerdict: 'needs_changes' })
  })
})

describe('pull requests', () => {
  it('of forks are checked out without the login of the repository; of deleted ones from the repository itself', async () => {
    await bench.addMonitor()
    const fork = await bench.server.openPull(full, { fork: 'stranger', files })
    const gone = await bench.server.openPull(full, { fork: 'stranger', files })
    server.additions.goneForks.add(`${full}#${gone.number}`)
    await bench.run()
    const tasks = await bench.listTasks('monrev')
    const workspaceOf = (head: string) => tasks.find(({ spec }) => spec.workspace?.ref === head)?.spec.workspace
    expect(workspaceOf(fork.head)).toEqual({
      gitRepo: `https://github.com/stranger/${full.split('/')[1]}`,
      ref: fork.head,
    })
    expect(workspaceOf(gone.head)).toEqual({ gitRepo: `https://github.com/${full}`, ref: gone.head })
  })

  it('with 3,000 files and a diff that nobody makes any more are reviewed by their patches', async () => {
    await bench.addMonitor()
    const many = Array.from({ length: 3000 }, (_, at) => ({ filename: `src/file-${at}.ts`, patch }))
    const { number } = await bench.server.openPull(full, { files: many })
    server.additions.oversized.add(`${full}#${number}`)
    expect(await bench.run()).toMatchObject({ phase: 'succeeded', selectedCount: 1 })
    const [task] = await bench.listTasks('monrev')
    if (task === undefined) throw new Error('no task')
    const diff = await bench.readInput(task, '.git/svc/pr-review.diff')
    expect(diff.match(/^\+line two$/gm)).toHaveLength(3000)
    expect((await bench.readInput(task, '.git/svc/pr-review.files')).split('\n')).toHaveLength(3001)
  })

  it('with a diff of 9 MB are reviewed', async () => {
    await bench.addMonitor()
    const line = `+${'x'.repeat(1023)}\n`
    const large = `@@ -0,0 +1,9000 @@\n${line.repeat(9000)}`
    await bench.server.openPull(full, { files: [{ filename: 'a.txt', patch: large }] })
    expect(await bench.run()).toMatchObject({ phase: 'succeeded', selectedCount: 1 })
    const [task] = await bench.listTasks('monrev')
    const diff = task === undefined ? '' : await bench.readInput(task, '.git/svc/pr-review.diff')
    expect(diff.length).toBeGreaterThan(9_000_000)
    expect(Buffer.byteLength(diff)).toBeLessThanOrEqual(10 * 1024 * 1024)
  })

  it('that are more than anybody can be given wait for a person', async () => {
    await bench.addMonitor()
    const large = `@@ -0,0 +1,9000 @@\n${`+${'x'.repeat(1023)}\n`.repeat(9000)}`
    const two = ['a.txt', 'b.txt'].map((filename) => ({ filename, patch: large }))
    const { number } = await bench.server.openPull(full, { files: two })
    await bench.run()
    expect(await bench.item(number)).toMatchObject({ lastVerdict: 'needs_human' })
    expect(await bench.events(number)).toContain('review_result_rejected change_too_large')
    expect(await bench.run()).toMatchObject({ selectedCount: 0 })
  })

  it('of which there are 500 are looked at in pages, and reviewed by and by', async () => {
    await bench.addMonitor({ targets: { pullRequests: { maxPerRun: 5 } } })
    const list = Array.from({ length: 500 }, (_, at) => ({
      number: at + 1,
      title: `Change ${at}`,
      state: 'open',
      draft: false,
      labels: [],
      user: { login: 'writer' },
      html_url: 'https://github.com/x',
      created_at: '2030-01-01T00:00:00Z',
      updated_at: '2030-01-01T00:00:00Z',
      base: { ref: 'main', sha: 'b'.repeat(40), repo: { full_name: full } },
      head: {
        ref: `topic-${at}`,
        sha: at.toString(16).padStart(40, '0'),
        repo: { full_name: full, name: full.split('/')[1], owner: { login: 'acme' } },
      },
    }))
    const path = new RegExp(`GET /repos/${full}/pulls$`)
    // Twice: a list is read until nothing has changed between its first and its last page.
    for (const page of [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]) {
      const next = `<${server.url}/repos/${full}/pulls?page=${page + 2}>; rel="next"`
      server.fail(path, {
        status: 200,
        body: list.slice(page * 100, page * 100 + 100),
        headers: page < 4 ? { link: next } : {},
      })
    }
    expect(await bench.run()).toMatchObject({ phase: 'succeeded', selectedCount: 5, skippedCount: 495 })
    expect((await bench.getMonitor()).status).toMatchObject({ openPullRequests: 500, skippedItems: 495 })
  })

  it('of which there are two monitors are reviewed by each of them on its own', async () => {
    await bench.addMonitor(publishing)
    await bench.addMonitor({}, 'others')
    const { number, head } = await bench.server.openPull(full, { files })
    await bench.run()
    await bench.run({}, 'others')
    expect(await bench.listTasks('monrev-reviews')).toHaveLength(1)
    expect(await bench.listTasks('monrev-others')).toHaveLength(1)
    const [other] = await bench.listTasks('monrev-others')
    if (other !== undefined)
      await bench.endTask(other, 'Succeeded', JSON.stringify(verdictOf(number, head, { verdict: 'passed' })))
    await bench.step('others')
    await bench.answer(number, verdictOf(number, head))
    expect(await bench.item(number)).toMatchObject({ lastVerdict: 'needs_changes', lastPublishPhase: 'succeeded' })
    expect(await bench.item(number, 'others')).toMatchObject({
      lastVerdict: 'passed',
      lastPublishReason: 'publish_disabled',
    })
    expect(await bench.reviewsAt(number)).toHaveLength(1)
  })

  it('that are closed while their review runs are not written to', async () => {
    await bench.addMonitor(publishing)
    const { number, head } = await bench.server.openPull(full, { files })
    await bench.run()
    await bench.server.closePull(full, number)
    await bench.answer(number, verdictOf(number, head))
    expect(await bench.reviewsAt(number)).toEqual([])
    expect(await bench.item(number)).toMatchObject({ lastPublishReason: 'pr_closed' })
  })
})

describe('the tasks of a review', () => {
  const validation = { mode: 'full', commands: ['npm test'] }

  it('that was overtaken, or whose pull request is closed, are gone after the next pass', async () => {
    await bench.addMonitor()
    const moved = await bench.server.openPull(full, { files })
    const closed = await bench.server.openPull(full, { files })
    const kept = await bench.server.openPull(full, { files })
    await bench.run()
    const headsOf = async () =>
      (await bench.listTasks('monrev')).map(({ metadata }) => metadata.annotations?.['svc.ai/monitor-head-sha'])
    const next = await bench.server.push(full, moved.number, files)
    await bench.server.closePull(full, closed.number)
    await bench.run()
    expect((await headsOf()).toSorted()).toEqual([next, kept.head].toSorted())
  })

  it.each(['monval', 'monrev'])('are its own: %s, which somebody else has made, is not used', async (prefix) => {
    await bench.addMonitor({ ...publishing, validation })
    const { number, head } = await bench.server.openPull(full, { files })
    await bench.run()
    const [checks] = await bench.listTasks('monval')
    if (checks === undefined) throw new Error('no checks')
    // The names can be told from each other.
    const name = checks.metadata.name.replace('monval', prefix)
    if (prefix === 'monval') await bench.resources.remove('Task', checks.metadata)
    const spec = { ...checks.spec, command: ['true'] }
    const foreign = await bench.resources.create('Task', { metadata: { namespace: 'default', name }, spec })
    await bench.endTask(
      foreign,
      'Succeeded',
      JSON.stringify({ version: 1, summary: JSON.stringify(verdictOf(number, head)) }),
    )
    if (prefix === 'monrev') await bench.endChecks(checks, [['fine', 0]])
    await bench.step()
    expect(await bench.reviewsAt(number)).toEqual([])
    expect(bench.warned).toMatchObject([
      { number, error: expect.stringContaining(`task "${name}" is not of the monitor`) },
    ])
    await bench.resources.remove('Task', foreign.metadata)
    await bench.step()
    expect(await bench.listTasks(prefix)).toHaveLength(1)
  })
})

describe('a monitor that is deleted', () => {
  it('takes its records along', async () => {
    const key = await bench.addMonitor()
    await bench.server.openPull(full, { files })
    await bench.run()
    await bench.resources.remove('RepositoryMonitor', { namespace: 'default', name: 'reviews' })
    await bench.sweep()
    expect(await bench.records.listRuns(key, { limit: 9 })).toEqual([])
    expect(await bench.records.listEvents(key, { limit: 9 })).toEqual([])
    expect(await bench.listTasks('monrev')).toEqual([])
  })
})
