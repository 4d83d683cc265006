// What holds for every route, generated from the table.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routes as allRoutes } from '../../src/contract/api/routes.ts'
import { type Service, startService } from './service.ts'

// The proxies answer in their families' own forms: proxies.test.ts.
const routes = allRoutes.filter((route) => route.family === undefined)

let service: Service
let workerToken: string
beforeAll(async () => {
  service = await startService()
  const identity = { taskUid: 'none', attempt: 1, namespace: 'default', taskName: 'none' }
  workerToken = await service.ports.workerTokens.mint(identity)
})
afterAll(() => service.stop())

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
    const others = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'].filter(
      (method) => !methods.includes(method),
    )
    for (const method of others) {
      const answer = await service.call(`${method} ${fill(path)}`)
      expect([method, answer.statusCode]).toEqual([method, 405])
      expect(
        String(answer.headers.allow)
          .split(', ')
          .filter((name) => name !== 'HEAD')
          .sort(),
      ).toEqual([...new Set(methods)].toSorted())
      expect(answer.json().error.reason).toBe('MethodNotAllowed')
    }
  })
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
