import { describe, expect, it } from 'vitest'
import { pageOf, recordContext } from '../../../../test/fixtures/cli/recording-context.ts'
import { runCommandLine } from '../../program.ts'

const repositories = '/api/v1/monitors/repositories'
const one = `${repositories}/:name`
const sha = 'a'.repeat(40)

async function type(line: string[], answers: Record<string, unknown>) {
  const recording = recordContext({ answers })
  const code = await runCommandLine(line, recording.context)
  return { code, ...recording }
}

const monitor = (more: object = {}) => ({
  kind: 'RepositoryMonitor',
  metadata: { name: 'reviews', namespace: 'default' },
  spec: {
    repoURL: 'https://github.com/acme/site',
    owner: 'acme',
    repository: 'site',
    suspend: false,
    targets: { pullRequests: { enabled: true, includeDrafts: false, maxPerRun: 20 } },
    review: {},
    ...more,
  },
})
const item = { number: 42, state: 'open', labels: [], headSHA: sha, title: 'Faster', author: 'ada' }

describe('svc monitor', () => {
  it('creates one of what is typed', async () => {
    const line = ['monitor', 'create', 'reviews', '--repo', 'https://github.com/acme/site', '--reviewer', 'rev']
    const more = ['--secret', 'login', '--publish', 'inline', '--post-passed', 'on', '--events', 'on']
    const { code, calls } = await type(
      [...line, ...more, '--max-per-run', '3', '--check', 'npm test', '--check', 'ls'],
      { 'GET /api/v1/agents/:name': {}, 'GET /api/v1/secrets': { items: [{ name: 'login' }], metadata: {} } },
    )
    const made = calls.at(-1)
    expect([code, made?.route, made?.input.body]).toEqual([
      0,
      `POST ${repositories}`,
      {
        name: 'reviews',
        spec: {
          repoURL: 'https://github.com/acme/site',
          agents: { reviewer: { name: 'rev' } },
          gitSecretRef: { name: 'login' },
          review: {
            exactEventEnabled: true,
            publish: {
              enabled: true,
              mode: 'summary_with_inline_findings',
              inline: { enabled: true },
              postPassed: true,
            },
          },
          targets: { pullRequests: { maxPerRun: 3 } },
          validation: { commands: ['npm test', 'ls'] },
        },
      },
    ])
  })

  it('keeps what else was said of publishing', async () => {
    const publish = { enabled: true, postPassed: true, inline: { enabled: true, maxComments: 3 } }
    const stored = monitor({ review: { publish } })
    const answers = { [`GET ${one}`]: stored, [`PUT ${one}`]: stored }
    const { calls } = await type(['monitor', 'update', 'reviews', '--publish', 'off'], answers)
    expect(calls.at(-1)?.input.body).toMatchObject({ spec: { review: { publish: { ...publish, enabled: false } } } })
  })

  it('needs a repository and a reviewer', async () => {
    expect((await type(['monitor', 'create', 'reviews', '--reviewer', 'x'], {})).noted()).toContain('--repo')
  })

  it('lists, with the repository', async () => {
    const { printed } = await type(['monitor', 'list'], { [`GET ${repositories}`]: pageOf([monitor()]) })
    expect(printed()).toMatch(/NAME +REPOSITORY\nreviews +https:\/\/github.com\/acme\/site/)
  })

  it('starts a run over all or one pull request', async () => {
    const answers = { [`POST ${one}/runs`]: { id: 'monrun-1' } }
    const all = await type(['monitor', 'run', 'reviews'], answers)
    expect([all.calls[0]?.input.body, all.printed()]).toEqual([{}, expect.stringContaining('monitor items reviews')])
    const single = await type(['monitor', 'run', 'reviews', '--pr', '#42', '--sha', sha], answers)
    expect(single.calls[0]?.input.body).toEqual({ targetNumber: 42, targetSHA: sha })
    expect(single.printed()).toContain('monitor why 42 reviews')
    const wrong = await type(['monitor', 'run', 'reviews', '--pr', 'x'], answers)
    expect([wrong.code, wrong.calls]).toEqual([2, []])
  })

  it('shows runs, pull requests and events', async () => {
    const at = '2029-12-31T23:59:00Z'
    const run = { id: 'monrun-1', trigger: 'manual', phase: 'running', queuedAt: at, heldUpUntil: at, targetNumber: 42 }
    const runs = await type(['monitor', 'runs', 'reviews'], { [`GET ${one}/runs`]: pageOf([run]) })
    expect(runs.printed()).toMatch(/1m +monrun-1 +manual +#42 +running +held up until/)
    const seen = { ...item, lastVerdict: 'passed', lastPublishReason: 'publish_disabled', updatedAt: at }
    const items = await type(['monitor', 'items', 'reviews', '--verdict', 'passed'], {
      [`GET ${one}/items`]: pageOf([seen]),
    })
    expect(items.calls[0]?.input.query).toMatchObject({ verdict: 'passed', limit: 20 })
    expect(items.printed()).toMatch(/42 +open +passed +publish_disabled +aaaaaaaaaa +1m +ada +Faster/)
    const event = {
      eventType: 'item_skipped',
      itemNumber: 42,
      actor: 'controller',
      summary: 'it is a draft',
      createdAt: at,
    }
    const events = await type(['monitor', 'events', 'reviews', '--pr', '42'], {
      'GET /api/v1/monitors/events': pageOf([event]),
    })
    expect(events.calls[0]?.input.query).toMatchObject({ name: 'reviews', itemNumber: 42 })
    expect(events.printed()).toMatch(/1m +42 +item_skipped +controller +it is a draft/)
    const none = await type(['monitor', 'items', 'reviews'], { [`GET ${one}/items`]: pageOf([]) })
    expect([none.printed(), none.noted()]).toEqual(['', expect.stringContaining('monitor run reviews')])
  })

  it('shows what a review found, each text on lines of its own', async () => {
    const finding = {
      id: 'find-1',
      priority: 'P1',
      file: 'a.ts',
      line: 3,
      title: 'Lo\nst',
      body: 'one\ntwo',
      state: 'shown',
    }
    const validation = { status: 'failed', commands: [{ command: 'npm test', exitCode: 1, output: '' }] }
    const review = {
      number: 42,
      headSHA: sha,
      verdict: 'needs_changes',
      summary: 'a\nb',
      taskName: 't',
      createdAt: 'now',
      validation,
      findings: [finding],
    }
    const { printed } = await type(['monitor', 'reviews', 'reviews'], { [`GET ${one}/reviews`]: pageOf([review]) })
    expect(printed()).toBe(
      [
        '#42 at aaaaaaaaaa: needs_changes, now, task t',
        'a b',
        'check `npm test`: 1',
        '  P1 Lo st (a.ts:3), shown  find-1',
        '     one two',
        '',
      ].join('\n'),
    )
  })

  it('dismisses a finding, and takes that back', async () => {
    const route = `PUT ${one}/items/:number/findings/:id`
    const { calls, noted } = await type(['monitor', 'dismiss', 'reviews', 'find-1', '--pr', '42'], {})
    expect(calls[0]).toMatchObject({
      route,
      input: { params: { name: 'reviews', number: '42', id: 'find-1' }, body: { dismissed: true } },
    })
    expect(noted()).toContain('left out')
    const undone = await type(['monitor', 'dismiss', 'reviews', 'find-1', '--pr', '42', '--undo'], {})
    expect(undone.calls[0]?.input.body).toEqual({ dismissed: false })
  })
})

describe('svc monitor why', () => {
  const other = {
    ...monitor({ owner: 'acme', repository: 'other' }),
    metadata: { name: 'others', namespace: 'default' },
  }
  const answers = (items: object[], events: object[] = []) => ({
    [`GET ${repositories}`]: pageOf([monitor(), other]),
    [`GET ${one}`]: monitor(),
    [`GET ${one}/items`]: pageOf(items),
    [`GET ${one}/reviews`]: pageOf([]),
    'GET /api/v1/monitors/events': pageOf(events),
  })
  const draft = { ...item, draft: true, skipReason: 'draft' }

  it('says why, and what to do', async () => {
    const { code, printed } = await type(['monitor', 'why', '42', 'reviews'], answers([draft]))
    expect([code, printed()]).toEqual([
      0,
      'Pull request 42 is not reviewed because it is a draft.\nWhat to do: mark it as ready for review, or svc monitor update reviews --drafts on\n',
    ])
    const { printed: data } = await type(['monitor', 'why', '42', 'reviews', '-o', 'json'], answers([draft]))
    expect(JSON.parse(data())).toMatchObject([{ monitor: 'reviews', what: expect.stringContaining('draft') }])
  })

  it('asks every monitor, or those of the repository in the address', async () => {
    expect((await type(['monitor', 'why', '#42'], answers([draft]))).printed()).toMatch(/^reviews: .*\n.*\n\nothers: /)
    const page = 'https://github.com/Acme/Other/pull/42/files'
    const { calls, printed } = await type(['monitor', 'why', page], answers([draft]))
    expect(printed()).toMatch(/^Pull request 42 is not reviewed/)
    expect(calls[1]?.input).toMatchObject({ params: { name: 'others' }, query: { number: 42 } })
    const none = await type(['monitor', 'why', 'https://github.com/acme/none/pull/42'], answers([draft]))
    expect([none.code, none.noted()]).toEqual([1, expect.stringContaining('no monitor of acme/none')])
  })

  it('finds why one that is not known was left', async () => {
    const event = (number: number, reason: string) => ({ eventType: 'inventory_skipped', metadata: { number, reason } })
    const events = [event(41, 'not_open'), event(42, 'other_base_branch')]
    const { calls, printed } = await type(['monitor', 'why', '42', 'reviews'], {
      ...answers([], events),
      [`GET ${repositories}/:name/runs`]: { items: [], metadata: {} },
    })
    expect(printed()).toContain('made against another branch')
    expect(calls.map(({ input }) => input.query)).toContainEqual(
      expect.objectContaining({ eventType: 'inventory_skipped' }),
    )
  })

  it.each(['x', '0', 'https://github.com/acme/site/issues/1', '-1x'])('refuses %s', async (pr) => {
    expect((await type(['monitor', 'why', '--', pr], {})).code).toBe(2)
  })
})
