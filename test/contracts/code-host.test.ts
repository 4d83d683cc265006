import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createCodeHosts } from '../../src/codehost/code-hosts.ts'
import { createEgress } from '../../src/egress/egress.ts'
import { type CodeHost, type CodeHostCredentials, isCodeHostError } from '../../src/ports/codehost/code-host.ts'
import { type CodeHostServer, startCodeHost } from '../fixtures/codehost/server.ts'

const repository = { host: 'github.com', owner: 'acme', name: 'site' }
const full = 'acme/site'
const patch = '@@ -1,2 +1,3 @@\n line one\n+line two\n line three'
const file = { filename: 'src/a.ts', patch, additions: 1, deletions: 0 }

let server: CodeHostServer
const egress = createEgress()

beforeAll(async () => {
  server = await startCodeHost({ repositories: [full, 'acme/old', 'acme/done', 'acme/busy'] })
})
afterAll(async () => {
  await egress.close()
  await server.close()
})
beforeEach(() => {
  server.seen.length = 0
})

function openHosts() {
  return createCodeHosts({
    hosts: ['github.com'],
    apiUrls: { 'github.com': server.url },
    egress,
    policy: { allowNetworks: [], deny: [] },
    now: Date.now,
    pause: async () => {},
  })
}

function open(credentials?: CodeHostCredentials | string, name = 'site'): CodeHost {
  const given = typeof credentials === 'string' ? ({ kind: 'token', token: credentials } as const) : credentials
  return openHosts().open({ ...repository, name }, { readCredentials: async () => given })
}
const asWriter = (name?: string) => open(server.tokenOf('writer'), name)

async function faultOf(call: Promise<unknown>) {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!isCodeHostError(error)) throw error ?? new Error('nothing was thrown')
  return error
}

describe('a repository', () => {
  it('is what its host says, for the one who is signed in [NAME-011]', async () => {
    expect(await asWriter().getRepository()).toMatchObject({ defaultBranch: 'main', archived: false })
    expect(await asWriter().getLogin()).toBe('writer')
    expect(await asWriter().getPermission('writer')).toBe('write')
    expect(await asWriter().getPermission('stranger')).not.toBe('write')
    expect(server.seen.every(({ login }) => login === 'writer')).toBe(true)
  })

  it('is found under another host only when that is one of the hosts [NAME-010]', () => {
    const elsewhere = { ...repository, host: 'ghe.example.com' }
    expect(() => openHosts().open(elsewhere, { readCredentials: async () => undefined })).toThrow('is no host of')
    const hosts = createCodeHosts({
      hosts: ['github.com', 'ghe.example.com'],
      apiUrls: {},
      egress,
      policy: { allowNetworks: [], deny: [] },
      now: Date.now,
    })
    expect(hosts.apiUrl('github.com').href).toBe('https://api.github.com/')
    expect(hosts.apiUrl('ghe.example.com').href).toBe('https://ghe.example.com/api/v3')
  })

  it('may have another name now: reads follow, writes say which', async () => {
    await server.openPull('acme/old', {})
    await server.move('acme/old', 'acme/new')
    const host = asWriter('old')
    expect((await host.getRepository()).repository).toEqual({ ...repository, name: 'new' })
    expect(await host.listPullRequests()).toHaveLength(1)
    const error = await faultOf(host.createComment(1, 'hello'))
    expect(error).toMatchObject({ fault: 'Moved', movedTo: { ...repository, name: 'new' } })
    expect(error.message).toContain('acme/new')
  })

  it('that is archived takes nothing any more, and says so', async () => {
    const { number } = await server.openPull('acme/done', {})
    await server.archive('acme/done')
    expect(await asWriter('done').getRepository()).toMatchObject({ archived: true })
    const archived = { message: 'Repository was archived so is read-only.' }
    server.fail(/POST .*comments/, { status: 403, body: archived })
    expect(await faultOf(asWriter('done').createComment(number, 'hello'))).toMatchObject({ fault: 'Archived' })
  })
})

describe('pull requests', () => {
  it('are listed by number, with heads, labels, drafts and forks', async () => {
    const first = await server.openPull(full, { title: 'One', labels: ['urgent'], author: 'stranger' })
    const second = await server.openPull(full, { title: 'Two', draft: true })
    const third = await server.openPull(full, { title: 'Three', fork: 'stranger' })
    server.additions.goneForks.add(`${full}#${third.number}`)
    const listed = await asWriter().listPullRequests({ base: 'main' })
    expect(listed.slice(-3)).toMatchObject([
      { number: first.number, title: 'One', labels: ['urgent'], draft: false, fork: false, author: 'stranger' },
      { number: second.number, draft: true, head: { commit: second.head } },
      { number: third.number, fork: true, head: { repository: undefined } },
    ])
    expect(await asWriter().listPullRequests({ base: 'other' })).toEqual([])
  })

  it('cost nearly nothing while nothing changes, and are read anew when something does', async () => {
    const host = asWriter()
    const { number } = await server.openPull(full, {})
    await host.listPullRequests()
    const { remaining } = server.limits
    server.seen.length = 0
    const again = await host.listPullRequests()
    expect(server.seen).toMatchObject([{ status: 304, conditional: true }])
    expect(server.limits.remaining).toBe(remaining)
    const head = await server.push(full, number)
    expect(again.find((pull) => pull.number === number)?.head.commit).not.toBe(head)
    expect((await host.listPullRequests()).find((pull) => pull.number === number)?.head.commit).toBe(head)
  })

  it('have every file and a diff, both up to a limit', async () => {
    const files = Array.from({ length: 250 }, (_, index) => ({ ...file, filename: `src/${index}.ts` }))
    const { number } = await server.openPull(full, { files })
    const host = asWriter()
    expect((await host.listFiles(number)).map(({ path }) => path)).toEqual(files.map(({ filename }) => filename))
    expect(await host.getPullRequest(number)).toMatchObject({ changedFiles: 250 })
    expect(await host.getDiff(number)).toContain('+++ b/src/249.ts')
    server.additions.files.set(`${full}#${number}`, Array(3200).fill(file))
    expect(await host.listFiles(number)).toHaveLength(3000)
    server.additions.files.set(`${full}#${number}`, [{ ...file, patch: '+'.repeat(11 * 1024 * 1024) }])
    expect(await faultOf(host.getDiff(number))).toMatchObject({ fault: 'TooLarge' })
    server.additions.oversized.add(`${full}#${number}`)
    expect(await faultOf(host.getDiff(number))).toMatchObject({ fault: 'TooLarge' })
  })

  it('are made once for a head and a base', async () => {
    const { number } = await server.openPull(full, { branch: 'fix-1' })
    server.fail(/POST .*\/pulls$/, { status: 422, body: { message: 'A pull request already exists for acme:fix-1.' } })
    const draft = { head: 'fix-1', base: 'main', title: 'Fix' }
    expect(await asWriter().createPullRequest(draft)).toMatchObject({ created: false, pullRequest: { number } })
    server.fail(/POST .*\/pulls$/, { status: 422, body: { message: 'Validation Failed', errors: ['no commits'] } })
    const error = await faultOf(asWriter().createPullRequest({ ...draft, head: 'none' }))
    expect(error).toMatchObject({ fault: 'Invalid', message: expect.stringContaining('no commits') })
  })

  it('whose answer is lost are found, not made again', async () => {
    const { number } = await server.openPull(full, { branch: 'fix-2' })
    server.fail(/POST .*\/pulls$/, 'close')
    const made = await asWriter().createPullRequest({ head: 'fix-2', base: 'main', title: 'Fix' })
    expect(made).toMatchObject({ created: false, pullRequest: { number } })
    expect(server.seen.filter(({ method }) => method === 'POST')).toHaveLength(1)
  })

  it('have checks of both kinds, and are merged at the head that was judged', async () => {
    const { number, head } = await server.openPull(full, {})
    await server.addCheck(full, head, { name: 'build', conclusion: 'success' })
    await server.addCheck(full, head, { name: 'lint' })
    await server.addCheck(full, head, { name: 'docs', conclusion: 'skipped' })
    server.addStatus(full, head, { context: 'ci/old', state: 'failure' })
    const host = asWriter()
    const checks = await host.listChecks(head)
    expect(Object.fromEntries(checks.map(({ name, state }) => [name, state]))).toEqual({
      build: 'passed',
      lint: 'pending',
      docs: 'passed',
      'ci/old': 'failed',
    })
    const newer = await server.push(full, number)
    const stale = await faultOf(host.merge(number, { method: 'squash', head }))
    expect(stale).toMatchObject({ fault: 'Conflict', message: expect.stringContaining('Head branch was modified') })
    expect(await host.merge(number, { method: 'squash', head: newer, title: 'Done' })).toMatchObject({
      commit: expect.stringMatching(/^[0-9a-f]{40}$/),
    })
    expect(await host.getPullRequest(number)).toMatchObject({ merged: true, state: 'closed' })
  })

  it('are merged by the code host itself where it allows that', async () => {
    const { number, head } = await server.openPull(full, {})
    await asWriter().enableAutoMerge(number, { method: 'merge', head })
    server.refuseAutoMerge('Pull request is in clean status')
    const error = await faultOf(asWriter().enableAutoMerge(number, { method: 'merge', head }))
    expect(error).toMatchObject({ fault: 'Conflict', message: expect.stringContaining('clean status') })
    server.refuseAutoMerge(undefined)
  })
})

describe('reviews', () => {
  it('comment on lines of the diff and on no others', async () => {
    const { number, head } = await server.openPull(full, { files: [file] })
    const host = asWriter()
    const draft = { event: 'COMMENT', body: 'Well.', commit: head } as const
    const posted = await host.postReview(number, { ...draft, comments: [{ path: 'src/a.ts', line: 2, body: 'Why?' }] })
    expect(await host.listReviews(number)).toEqual([
      expect.objectContaining({ id: posted.id, author: 'writer', commit: head }),
    ])
    expect(await host.listReviewThreads(number)).toMatchObject([
      { path: 'src/a.ts', line: 2, resolved: false, comments: [{ author: 'writer', body: 'Why?' }] },
    ])
    const stray = { ...draft, comments: [{ path: 'src/a.ts', line: 20, body: 'Why?' }] }
    expect(await faultOf(host.postReview(number, stray))).toMatchObject({ fault: 'Invalid' })
    expect(await host.listReviews(number)).toHaveLength(1)
  })

  it('are listed to the last page', async () => {
    const { number, head } = await server.openPull(full, {})
    for (let count = 0; count < 101; count += 1) {
      await server.call('acme', 'POST', `/repos/${full}/pulls/${number}/reviews`, {
        event: 'COMMENT',
        body: `${count}`,
        commit_id: head,
      })
    }
    expect((await asWriter().listReviews(number)).at(-1)?.body).toBe('100')
  })
})

describe('issues', () => {
  it('are listed without pull requests, commented on, labelled and reacted to', async () => {
    const taken = await server.openIssue('acme/busy', { title: 'Taken', assignees: ['acme'] })
    const free = await server.openIssue('acme/busy', { title: 'Free', body: 'Please.' })
    await server.openPull('acme/busy', {})
    const host = asWriter('busy')
    const page = { page: 1, perPage: 30 }
    const numbers = async (unassignedOnly: boolean) =>
      (await host.listIssuePage({ ...page, unassignedOnly })).issues.map(({ number }) => number)
    expect(await numbers(false)).toEqual([free, taken])
    expect(await numbers(true)).toEqual([free])
    const comment = await host.createComment(free, 'Working on it.')
    await host.updateComment(comment.id, 'Done.')
    expect(await host.listComments(free)).toMatchObject([{ id: comment.id, author: 'writer', body: 'Done.' }])
    await host.addReaction({ number: free, comment: comment.id }, 'eyes')
    await host.addReaction({ number: free, comment: comment.id }, 'eyes')
    expect(server.additions.reactions.get(`acme/busy/comments/${comment.id}`)).toHaveLength(1)
    await server.call('acme', 'POST', '/repos/acme/busy/labels', { name: 'svc', color: 'ededed' })
    await host.addLabels(free, ['svc'])
    expect(await host.getIssue(free)).toMatchObject({
      labels: ['svc'],
      state: 'open',
      isPullRequest: false,
      body: 'Please.',
    })
    await host.removeLabel(free, 'svc')
    await host.removeLabel(free, 'svc')
    expect(await host.getIssue(free)).toMatchObject({ labels: [], commentCount: 1 })
  })
})

describe('a login', () => {
  it('that is wrong is refused by name of the host, and is nowhere in the message', async () => {
    const token = 'ghp_wrong0000000000000000000000000000000'
    const error = await faultOf(open(token).listPullRequests())
    expect(error).toMatchObject({ fault: 'LoginRefused', message: expect.stringContaining('github.com') })
    expect(JSON.stringify([error.message, error.stack])).not.toContain(token)
    expect(await faultOf(open().getLogin())).toMatchObject({ fault: 'LoginRefused' })
  })

  it('that lacks a right says which', async () => {
    const { number, head } = await server.openPull(full, {})
    const token = server.denyToken('writer', ['pull_requests=write'])
    const error = await faultOf(open(token).postReview(number, { event: 'COMMENT', body: 'x', commit: head }))
    expect(error).toMatchObject({ fault: 'MissingRight', right: 'pull_requests=write' })
    expect(error.message).toContain('it needs pull_requests=write')
  })

  it('may be an App: one token for one repository, which git can use as well', async () => {
    const credentials = { kind: 'app', appId: server.app.appId, privateKey: server.app.privateKey } as const
    const hosts = openHosts()
    const host = hosts.open(repository, { readCredentials: async () => credentials })
    const { number } = await server.openPull(full, {})
    await host.createComment(number, 'from the app')
    await host.listPullRequests()
    expect(await host.getLogin()).toBe('svc-app[bot]')
    expect(await hosts.gitPassword(repository, credentials)).toMatch(/^ghs_/)
    expect(server.seen.filter(({ path }) => path.endsWith('/access_tokens'))).toHaveLength(1)
    const bad = open({ ...credentials, appId: '99' })
    expect(await faultOf(bad.listPullRequests())).toMatchObject({ fault: 'LoginRefused' })
  })
})

describe('faults', () => {
  it('of reading are tried again, of writing never', async () => {
    const { number } = await server.openPull(full, {})
    server.fail(/GET .*\/pulls\/\d+$/, { status: 502, body: {} }, 2)
    expect(await asWriter().getPullRequest(number)).toMatchObject({ number })
    server.seen.length = 0
    server.fail(/POST .*comments/, { status: 502, body: {} })
    expect(await faultOf(asWriter().createComment(number, 'x'))).toMatchObject({ fault: 'Unreachable' })
    expect(server.seen).toHaveLength(1)
    server.fail(/GET .*\/pulls\/\d+$/, 'close', 3)
    const error = await faultOf(asWriter().getPullRequest(number))
    expect(error).toMatchObject({ fault: 'Unreachable', reason: 'UpstreamFailed' })
  })

  it('end with the caller', async () => {
    const stop = new AbortController()
    const credentials = { kind: 'token', token: server.tokenOf('writer') } as const
    const host = openHosts().open(repository, { readCredentials: async () => credentials, signal: stop.signal })
    server.fail(/GET .*\/pulls$/, 'hang')
    const listing = host.listPullRequests()
    stop.abort(new Error('enough'))
    await expect(listing).rejects.toThrow('enough')
  })

  it.each(['primary', 'secondary'] as const)(
    'of a %s rate limit hold the login up, and nothing is sent until then',
    async (kind) => {
      const host = asWriter()
      const { number } = await server.openPull(full, {})
      if (kind === 'primary') server.limits.remaining = 0
      else server.limits.secondary = { retryAfter: 120 }
      const error = await faultOf(host.getPullRequest(number))
      server.limits.remaining = 5000
      server.limits.secondary = undefined
      expect(error).toMatchObject({
        fault: 'HeldUp',
        reason: 'TooManyRequests',
        message: expect.stringMatching(/^Held up until 2/),
      })
      expect(Date.parse(error.heldUpUntil ?? '')).toBeGreaterThan(Date.now() + 60_000)
      server.seen.length = 0
      expect(await faultOf(host.listPullRequests())).toMatchObject({ fault: 'HeldUp' })
      expect(server.seen).toEqual([])
    },
  )

  it('of addresses stay refusals: only the address that the owner has set may be private', async () => {
    const hosts = createCodeHosts({
      hosts: ['127.0.0.1:8443'],
      apiUrls: {},
      egress,
      policy: { allowNetworks: [], deny: [] },
      now: Date.now,
      pause: async () => {},
    })
    const host = hosts.open({ ...repository, host: '127.0.0.1:8443' }, { readCredentials: async () => undefined })
    await expect(host.getRepository()).rejects.toMatchObject({ reason: 'Forbidden' })
  })
})
