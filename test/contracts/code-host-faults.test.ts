// Each call of the code host with each fault of the network and of the API, over HTTP.
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createCodeHosts } from '../../src/codehost/code-hosts.ts'
import { createEgress } from '../../src/egress/egress.ts'
import { isSvcError } from '../../src/errors.ts'
import { type CodeHost, type CodeHostFault, isCodeHostError } from '../../src/ports/codehost/code-host.ts'
import { type CodeHostServer, startCodeHost } from '../fixtures/codehost/server.ts'

const full = 'acme/site'
const repository = { host: 'github.com', owner: 'acme', name: 'site' }
const patch = '@@ -1,2 +1,3 @@\n line one\n+line two\n line three'
/** The only pull request, and a commit that is not its head. */
const number = 1
const head = 'a'.repeat(40)

let server: CodeHostServer
let elsewhere: Server
let visits: IncomingHttpHeaders[] = []
const egress = createEgress()

beforeAll(async () => {
  server = await startCodeHost({ repositories: [full] })
  await server.openPull(full, { files: [{ filename: 'src/a.ts', patch }] })
  elsewhere = createServer((request, response) => {
    visits.push(request.headers)
    response.writeHead(200, { 'content-type': 'application/json' }).end('[]')
  })
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  await egress.close()
  await server.close()
  elsewhere.close()
})
beforeEach(() => {
  server.seen.length = 0
  visits = []
})
afterEach(() => server.mend())

function open(callTimeoutMs = 30_000): CodeHost {
  const hosts = createCodeHosts({
    hosts: ['github.com'],
    apiUrls: { 'github.com': server.url },
    egress,
    policy: { allowNetworks: ['127.0.0.0/8'], deny: [] },
    now: Date.now,
    pause: async () => {},
    callTimeoutMs,
  })
  return hosts.open(repository, { readCredentials: async () => ({ kind: 'token', token: server.tokenOf('writer') }) })
}

type Call = {
  run(host: CodeHost): Promise<unknown>
  /** The request that meets the fault. */
  at: RegExp
  /** It is sent once, whatever comes of it. */
  writes?: true
  /** Nothing of the answer's body is used. */
  ignoresBody?: true
  /** That there is nothing is an answer. */
  takesMissing?: true
}
type Method = Exclude<keyof CodeHost, 'repository'>

const calls: Record<Method, Call> = {
  getLogin: { run: (host) => host.getLogin(), at: /GET \/user$/ },
  getRepository: { run: (host) => host.getRepository(), at: /GET .*\/site$/ },
  getPermission: { run: (host) => host.getPermission('stranger'), at: /GET .*\/permission$/, takesMissing: true },
  listPullRequests: { run: (host) => host.listPullRequests(), at: /GET .*\/pulls$/ },
  listPullRequestPage: { run: (host) => host.listPullRequestPage({ page: 1, perPage: 10 }), at: /GET .*\/pulls$/ },
  getPullRequest: { run: (host) => host.getPullRequest(number), at: /GET .*\/pulls\/1$/ },
  findPullRequests: { run: (host) => host.findPullRequests({ head: 'topic' }), at: /GET .*\/pulls$/ },
  createPullRequest: {
    run: (host) => host.createPullRequest({ head: 'none', base: 'main', title: 'x' }),
    at: /POST .*\/pulls$/,
    writes: true,
  },
  listFiles: { run: (host) => host.listFiles(number), at: /GET .*\/files$/ },
  getDiff: { run: (host) => host.getDiff(number), at: /GET .*\/pulls\/1$/, ignoresBody: true },
  listChecks: { run: (host) => host.listChecks(head), at: /GET .*\/check-runs$/ },
  listReviews: { run: (host) => host.listReviews(number), at: /GET .*\/reviews$/ },
  postReview: {
    run: (host) => host.postReview(number, { event: 'COMMENT', body: 'x', commit: head }),
    at: /POST .*\/reviews$/,
    writes: true,
  },
  listReviewThreads: { run: (host) => host.listReviewThreads(number), at: /POST \/graphql$/ },
  merge: {
    run: (host) => host.merge(number, { method: 'merge', head }),
    at: /PUT .*\/merge$/,
    writes: true,
  },
  enableAutoMerge: {
    run: (host) => host.enableAutoMerge(number, { method: 'merge', head }),
    at: /POST \/graphql$/,
    writes: true,
  },
  listIssuePage: {
    run: (host) => host.listIssuePage({ page: 1, perPage: 10, unassignedOnly: false }),
    at: /GET .*\/issues$/,
  },
  hasAnalysis: {
    run: (host) => host.hasAnalysis({ ref: 'refs/heads/main', commit: head, category: 'svc/x/' }),
    at: /GET .*\/analyses$/,
    takesMissing: true,
  },
  uploadAnalysis: {
    run: (host) =>
      host.uploadAnalysis({ ref: 'refs/heads/main', commit: head, sarif: '{"version":"2.1.0","runs":[]}' }),
    at: /POST .*\/sarifs$/,
    writes: true,
  },
  getAnalysisUpload: { run: (host) => host.getAnalysisUpload('x'), at: /GET .*\/sarifs\/x$/ },
  getIssue: { run: (host) => host.getIssue(number), at: /GET .*\/issues\/1$/ },
  listComments: { run: (host) => host.listComments(number), at: /GET .*\/comments$/ },
  createComment: { run: (host) => host.createComment(number, 'x'), at: /POST .*\/comments$/, writes: true },
  updateComment: { run: (host) => host.updateComment(1, 'x'), at: /PATCH .*\/comments\/1$/, writes: true },
  addReaction: {
    run: (host) => host.addReaction({ number }, 'eyes'),
    at: /POST .*\/reactions$/,
    writes: true,
    ignoresBody: true,
  },
  addLabels: { run: (host) => host.addLabels(number, ['x']), at: /POST .*\/labels$/, writes: true, ignoresBody: true },
  removeLabel: {
    run: (host) => host.removeLabel(number, 'x'),
    at: /DELETE .*\/labels\/x$/,
    writes: true,
    ignoresBody: true,
    takesMissing: true,
  },
}
const methods = Object.entries(calls)
const reads = methods.filter(([, { writes }]) => !writes)
const writes = methods.filter(([, call]) => call.writes)

async function faultOf(call: Promise<unknown>) {
  const error = await call.then(
    (value) => new Error(`it was answered ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  )
  if (!isCodeHostError(error)) throw error
  return error
}

/** How often the request of the call was sent. */
const sent = ({ at }: Call) => server.seen.filter(({ method, path }) => at.test(`${method} ${path}`)).length

/** The host, or the address of its API. */
const named = /github\.com|127\.0\.0\.1/

type Answer = Parameters<CodeHostServer['fail']>[1]
const json = { 'content-type': 'application/json' }
const refused = (status: number, message: string, headers = {}): Answer => ({ status, body: { message }, headers })
const moved = (status: number, to: string): Answer => ({ status, body: {}, headers: { location: to } })

const away: [string, Answer][] = [
  ['500', refused(500, 'Server Error')],
  ['502', { status: 502, text: '<html>Bad gateway</html>', headers: { 'content-type': 'text/html' } }],
  ['503', refused(503, 'Service unavailable')],
  ['504', { status: 504, text: '' }],
  ['a connection that breaks', 'close'],
  ['an answer that breaks off', 'cut'],
  ['no answer', 'hang'],
]

describe.each(away)('%s', (what, answer) => {
  const isSilent = what === 'no answer'
  /** A call that waits for nothing may be over before it was sent. */
  const expectSent = (call: Call, times: number) =>
    isSilent ? expect(sent(call)).toBeLessThanOrEqual(times) : expect(sent(call)).toBe(times)
  const host = () => open(isSilent ? 100 : undefined)

  it.each(reads)('is asked again by %s, three times in all', async (_method, call) => {
    server.fail(call.at, answer, 3)
    expect(await faultOf(call.run(host()))).toMatchObject({
      fault: 'Unreachable',
      message: expect.stringMatching(named),
    })
    expectSent(call, 3)
  })

  it.each(writes)('is never repeated by %s', async (_method, call) => {
    server.fail(call.at, answer)
    expect(await faultOf(call.run(host()))).toMatchObject({
      fault: 'Unreachable',
      message: expect.stringMatching(named),
    })
    expectSent(call, 1)
  })
})

const garbled: [string, Answer][] = [
  ['half of some JSON', { status: 200, text: '{"number": 1, "ti', headers: json }],
  [
    'a page of a proxy',
    { status: 200, text: '<html>Sign in to the network</html>', headers: { 'content-type': 'text/html' } },
  ],
  ['JSON of another shape', { status: 200, body: { unexpected: [1] } }],
  ['null', { status: 200, text: 'null', headers: json }],
]

describe.each(garbled)('%s', (_what, answer) => {
  it.each(methods.filter(([, { ignoresBody }]) => !ignoresBody))('is no answer to %s', async (_method, call) => {
    server.fail(call.at, answer, 3)
    expect(await faultOf(call.run(open()))).toMatchObject({
      fault: 'Unreachable',
      message: expect.stringContaining('github.com'),
    })
    if (call.writes) expect(sent(call)).toBe(1)
  })
})

const rights = { 'x-accepted-github-permissions': 'pull_requests=write' }
const scopes = { 'x-accepted-oauth-scopes': 'repo, public_repo', 'x-oauth-scopes': 'gist' }
const refusals: [number, CodeHostFault, Answer, string][] = [
  [401, 'LoginRefused', refused(401, 'Bad credentials'), 'expired or was taken back'],
  [403, 'MissingRight', refused(403, 'Resource not accessible', rights), 'it needs pull_requests=write'],
  [403, 'MissingRight', refused(403, 'Must have push access', scopes), 'one of the scopes repo, public_repo'],
  [403, 'Archived', refused(403, 'Repository was archived so is read-only.'), 'unarchives'],
  [409, 'Conflict', refused(409, 'Not now'), 'Not now'],
  [413, 'TooLarge', refused(413, 'Too much'), 'Too much'],
  [422, 'Invalid', refused(422, 'Validation Failed'), 'Validation Failed'],
]

describe.each(refusals)('%i (%s)', (_status, fault, answer, words) => {
  it.each(methods)('ends %s at once and says why', async (_method, call) => {
    server.fail(call.at, answer)
    expect(await faultOf(call.run(open()))).toMatchObject({ fault, message: expect.stringContaining(words) })
    expect(sent(call)).toBe(1)
  })
})

describe.each([404, 410, 451])('%i', (status) => {
  const words = status === 451 ? 'legal reasons' : 'github.com'
  it.each(methods)('is nothing to be found for %s', async (_method, call) => {
    server.fail(call.at, refused(status, 'Not here'))
    const outcome = call.takesMissing ? call.run(open()) : faultOf(call.run(open()))
    const found = { fault: 'NotFound', message: expect.stringContaining(words) }
    if (call.takesMissing) expect([undefined, 'none', false]).toContain(await outcome)
    else expect(await outcome).toMatchObject(found)
    expect(sent(call)).toBe(1)
  })
})

const inAnHour = String(Math.floor(Date.now() / 1000) + 3600)
const limits: [string, Answer][] = [
  ['primary', refused(403, 'API rate limit exceeded', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': inAnHour })],
  ['primary, by 429', refused(429, 'Slow down', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': inAnHour })],
  ['secondary, with a time', refused(403, 'You have exceeded a secondary rate limit', { 'retry-after': '90' })],
  ['secondary, without one', refused(403, 'You have exceeded a secondary rate limit')],
]

describe.each(limits)('a rate limit (%s)', (_what, answer) => {
  it.each(methods)('holds %s up, and what is called next', async (_method, call) => {
    const host = open()
    server.fail(call.at, answer)
    const error = await faultOf(call.run(host))
    expect(error).toMatchObject({ fault: 'HeldUp', message: expect.stringMatching(/^Held up until 2/) })
    expect(Date.parse(error.heldUpUntil ?? '')).toBeGreaterThan(Date.now() + 50_000)
    expect(sent(call)).toBe(1)
    expect(await faultOf(call.run(host))).toMatchObject({ fault: 'HeldUp' })
    expect(sent(call)).toBe(1)
  })
})

describe('a redirect', () => {
  const foreign = () => `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`

  it.each(methods)(
    'to another host gets no login from %s, and nothing that changes anything',
    async (_method, call) => {
      server.fail(call.at, moved(call.writes ? 307 : 302, foreign()))
      await call.run(open()).catch((error: unknown) => {
        if (!isSvcError(error)) throw error
      })
      if (call.writes) expect(visits).toEqual([])
      for (const headers of visits) expect(headers).not.toHaveProperty('authorization')
    },
  )

  it.each(methods)('to itself ends %s', async (_method, call) => {
    server.fail(call.at, { status: 307, body: {}, headers: { location: `${server.url}/turn` } }, 3)
    server.fail(/\/turn$/, { status: 307, body: {}, headers: { location: `${server.url}/turn` } }, 100)
    await expect(call.run(open())).rejects.toSatisfy((error) => isSvcError(error))
    if (call.writes) expect(sent(call)).toBe(1)
  })
})

describe('refusals of GraphQL, which come with 200,', () => {
  const answer = (type: string, headers = {}): Answer => {
    return { status: 200, body: { data: null, errors: [{ type, message: 'No.' }] }, headers }
  }
  it.each([
    ['RATE_LIMITED', 'HeldUp'],
    ['NOT_FOUND', 'NotFound'],
    ['FORBIDDEN', 'MissingRight'],
    ['UNPROCESSABLE', 'Conflict'],
  ])('%s are told apart: %s', async (type, fault) => {
    server.fail(/POST \/graphql$/, answer(type, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': inAnHour }))
    const host = open()
    expect(await faultOf(host.listReviewThreads(number))).toMatchObject({ fault })
  })
})
