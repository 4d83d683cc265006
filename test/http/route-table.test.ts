// What holds for every route, generated from the table.
import { request as httpRequest, type IncomingMessage, METHODS } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routes as allRoutes } from '../../src/contract/api/index.ts'
import { type Service, startService } from './service.ts'

// The proxies answer in their families' own forms: proxies.test.ts.
const routes = allRoutes.filter((route) => route.family === undefined)

let service: Service
let url: string
let workerToken: string
beforeAll(async () => {
  service = await startService()
  url = await service.listen()
  const identity = { taskUid: 'none', attempt: 1, namespace: 'default', taskName: 'none' }
  workerToken = await service.ports.workerTokens.mint(identity)
})
afterAll(() => service.stop())

/** With any method, over a socket: the framework's own door for tests knows fewer. */
async function ask(method: string, path: string) {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest(`${url}${path}`, { method }, resolve).on('error', reject).end()
  })
  return { status: answer.statusCode, headers: answer.headers, text: await text(answer) }
}

const fill = (path: string) => path.replace(/:[A-Za-z]+/g, 'default')
const lineOf = (route: { method: string; path: string }) => `${route.method} ${fill(route.path)}`
const guarded = routes.filter((route) => route.auth !== 'none')
const users = routes.filter((route) => route.auth === 'user')
const workers = routes.filter((route) => route.auth === 'worker')
// A path with a parameter also takes paths that have a route of their own: DELETE /chat/config is DELETE /chat/:sessionId.
const covers = (pattern: string, path: string) =>
  new RegExp(`^${pattern.replace(/:[A-Za-z]+/g, '[^/]+')}$`).test(fill(path))
const paths = [...new Set(routes.map((route) => route.path))].map(
  (path) => [path, routes.filter((route) => covers(route.path, path))] as const,
)

const title = (route: { method: string; path: string }) => [`${route.method} ${route.path}`, route] as const

describe('the table', () => {
  it('has no route that answers 422; what routes answer beyond the table fails these tests [HTTP-011]', () => {
    expect(routes.filter((route) => 422 in route.responses)).toEqual([])
  })

  it.each([
    ['tasks', 'tasks'],
    ['sessions', 'sessions'],
    ['memories', 'memories'],
    ['memory-proposals', 'memory-proposals'],
    ['agents', 'agents'],
    ['skills', 'skills'],
    ['tools', 'tools'],
    ['security scans', 'security/repositories'],
    ['monitors', 'monitors/repositories'],
  ])('has the public API for %s under /api/v1/ [HTTP-002]', async (_what, path) => {
    const answer = await service.call(`GET /api/v1/${path}`)
    expect(answer.statusCode).toBe(200)
    expect(answer.json().items).toEqual(expect.any(Array))
  })

  it('names vendors and code host by the neutral words: in paths, in types and in values [NAME-004]', async () => {
    const everywhere = allRoutes.map(({ path }) => path)
    for (const path of ['/llma/v1/messages', '/llmo/v1/chat/completions', '/webhooks/codehost'])
      expect(everywhere).toContain(path)
    expect(everywhere.filter((path) => /anthropic|openai|github/i.test(path))).toEqual([])
    for (const type of ['llma', 'llmo']) {
      const made = await service.call('POST /api/v1/providers', { payload: { name: `of-${type}`, spec: { type } } })
      expect(made.json().spec.type).toBe(type)
    }
    const spec = { repoURL: 'https://github.com/acme/widgets', analysisAgentRef: { name: 'a' } }
    const scan = await service.call('POST /api/v1/security/repositories', { payload: { name: 'neutral', spec } })
    expect(scan.json().spec.provider).toBe('codehost')
    const other = { name: 'other', spec: { ...spec, provider: 'github' } }
    expect((await service.call('POST /api/v1/security/repositories', { payload: other })).statusCode).toBe(400)
  })
})

describe('every route that needs a credential', () => {
  it.each(guarded.map(title))('%s refuses a request without one [AUTH-003] [HTTP-007]', async (_title, route) => {
    const answer = await service.call(lineOf(route), { token: null })
    expect(answer.statusCode).toBe(401)
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="svc"')
    expect(answer.json().error).toMatchObject({
      code: 401,
      reason: 'Unauthenticated',
      message: 'missing authorization header',
    })
  })

  it.each(guarded.map(title))('%s refuses a bad one, and a cookie [HTTP-007] [HTTP-045]', async (_title, route) => {
    const bad = await service.call(lineOf(route), { token: 'nobody' })
    expect([bad.statusCode, bad.json().error.message]).toEqual([401, 'invalid token'])
    expect(bad.headers['www-authenticate']).toContain('invalid_token')
    const cookie = await service.call(lineOf(route), {
      token: null,
      headers: { cookie: 'token=owner-token-of-the-tests' },
    })
    expect(cookie.statusCode).toBe(401)
  })
})

describe('every route of users', () => {
  it.each(users.map(title))('%s refuses a worker token [AUTH-008]', async (_title, route) => {
    expect((await service.call(lineOf(route), { token: workerToken })).statusCode).toBe(401)
  })
})

describe('every route of workers', () => {
  it.each(workers.map(title))('%s refuses the token of a user [AUTH-009]', async (_title, route) => {
    expect((await service.call(lineOf(route))).statusCode).toBe(401)
  })
})

describe('every path', () => {
  it.each(paths)('%s answers 405 with Allow to methods it does not have [HTTP-009]', async (path, known) => {
    const methods = known.map((route) => route.method as string)
    const others = METHODS.filter((method) => ![...methods, 'HEAD', 'CONNECT'].includes(method))
    for (const method of others) {
      const answer = await ask(method, fill(path))
      expect([method, answer.status]).toEqual([method, 405])
      expect(answer.headers['x-request-id']).toMatch(/^req-/)
      expect(
        String(answer.headers.allow)
          .split(', ')
          .filter((name) => name !== 'HEAD')
          .sort(),
      ).toEqual([...new Set(methods)].toSorted())
      expect(JSON.parse(answer.text).error.reason).toBe('MethodNotAllowed')
    }
  })
})

describe('every path of the proxies', () => {
  const proxied = [...new Set(allRoutes.filter((route) => route.family !== undefined).map((route) => route.path))]
  it.each(proxied)(
    "%s answers 405 with Allow and its family's error to methods it does not have [HTTP-009]",
    async (path) => {
      const own: string[] = allRoutes.filter((route) => route.path === path).map((route) => route.method)
      const methods = ['GET', 'HEAD', 'POST', 'DELETE'].filter((name) => own.includes(name === 'HEAD' ? 'GET' : name))
      for (const method of METHODS.filter((name) => ![...methods, 'CONNECT'].includes(name))) {
        const answer = await ask(method, fill(path))
        expect([method, answer.status, answer.headers.allow]).toEqual([method, 405, methods.join(', ')])
        expect(answer.headers['x-request-id']).toMatch(/^req-/)
        if (method !== 'HEAD') expect(JSON.parse(answer.text).error.type).toBe('invalid_request_error')
      }
    },
  )
})

describe('every route with a JSON body', () => {
  const withBody = routes.filter((route) => route.body !== undefined && route.auth === 'user')
  it.each(withBody.map(title))('%s refuses malformed JSON and other types', async (_title, route) => {
    const headers = { 'content-type': 'application/json' }
    expect((await service.call(lineOf(route), { payload: '{"a":', headers })).statusCode).toBe(400)
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await service.call(lineOf(route), { payload: 'a=b', headers: form })).statusCode).toBe(415)
  })
})

describe('an unknown path', () => {
  it.each(['/', '/api', '/api/v1/nothing', '/API/V1/tasks', '/internal/v1/x', '//api/v1/tasks'])(
    '%s is 404 as JSON',
    async (path) => {
      const answer = await service.call(`GET ${path}`, { headers: { accept: 'text/html' } })
      expect(answer.statusCode).toBe(404)
      expect(answer.json().error).toMatchObject({ code: 404, reason: 'NotFound' })
    },
  )
})
