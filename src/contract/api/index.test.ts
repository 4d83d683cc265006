import { describe, expect, it } from 'vitest'
import { routes, routesByName } from './index.ts'

const has = (method: string, path: string) => routes.some((route) => route.method === method && route.path === path)

describe('route table', () => {
  it.each([
    ['POST', '/api/v1/tasks'],
    ['GET', '/api/v1/tasks'],
    ['GET', '/api/v1/tasks/:id'],
    ['DELETE', '/api/v1/tasks/:id'],
    ['GET', '/api/v1/tasks/:id/logs'],
    ['GET', '/api/v1/tasks/:id/result'],
    ['GET', '/api/v1/tasks/:id/artifacts'],
    ['GET', '/api/v1/tasks/:id/artifacts/:filename'],
    ['GET', '/api/v1/tasks/:id/plan'],
    ['GET', '/api/v1/tasks/:id/children'],
    ['POST', '/api/v1/tasks/:id/cancel'],
    ['POST', '/api/v1/tasks/:id/retry'],
    ['GET', '/api/v1/tasks/:id/events'],
    ['GET', '/api/v1/skills/:name/content'],
    ['PUT', '/api/v1/providers/:name'],
    ['GET', '/api/v1/usage'],
    ['POST', '/internal/v1/results/:namespace/:taskName'],
    ['POST', '/internal/v1/artifacts/:namespace/:taskName/:filename'],
    ['GET', '/internal/v1/sessions/:namespace/:name/transcript'],
    ['POST', '/internal/v1/plans/:namespace/:taskName'],
    ['GET', '/internal/v1/plans/:namespace/:taskName'],
    ['POST', '/internal/v1/messages/:namespace'],
    ['GET', '/internal/v1/messages/:namespace/:taskName'],
    ['GET', '/healthz'],
    ['GET', '/readyz'],
  ])('has %s %s', (method, path) => {
    expect(has(method, path)).toBe(true)
  })

  it('asks for no body where an action needs nothing of it', () => {
    const actions = routes.filter(
      ({ method, path, family }) => method === 'POST' && path.startsWith('/api/') && path.includes(':') && !family,
    )
    const asking = actions.filter(({ body, bodyOptional }) => body?.safeParse({}).success && bodyOptional !== true)
    expect(asking.map(({ path }) => path)).toEqual([])
    const dismiss = routesByName.dismissFinding
    expect([dismiss?.bodyOptional, dismiss?.body?.parse({})]).toEqual([true, { reason: 'no reason was given' }])
  })

  it('has full CRUD for agents, skills, tools and providers', () => {
    for (const noun of ['agents', 'skills', 'tools', 'providers']) {
      const base = `/api/v1/${noun}`
      expect([has('GET', base), has('POST', base)]).toEqual([true, true])
      expect(['GET', 'PUT', 'DELETE'].every((method) => has(method, `${base}/:name`))).toBe(true)
    }
  })

  it('has no route twice', () => {
    const keys = routes.map((route) => `${route.method} ${route.path}`)
    expect(new Set(keys).size).toBe(keys.length)
  })

  it('has a parameter schema for every parameter of a path', () => {
    for (const route of routes) {
      const inPath = [...route.path.matchAll(/:([A-Za-z]+)/g)].map((match) => match[1])
      expect(Object.keys(route.params?.shape ?? {}).sort(), route.path).toEqual(inPath.sort())
    }
  })

  it('opens nothing but health, its own description and signed deliveries without a credential', () => {
    const open = routes.filter((route) => route.auth === 'none').map((route) => route.path)
    expect(open.sort()).toEqual([
      '/api/v1/auth/links/exchange',
      '/api/v1/auth/methods',
      '/healthz',
      '/openapi-internal.json',
      '/openapi.json',
      '/readyz',
      '/webhooks/codehost',
    ])
  })

  it('keeps workers and users apart', () => {
    for (const { path, auth } of routes)
      expect(path.startsWith('/internal/'), path).toBe(auth === 'worker' || auth === 'runner')
  })

  it('says of every route what can go wrong', () => {
    for (const [name, route] of Object.entries(routesByName)) {
      const statuses = Object.keys(route.responses).map(Number)
      expect(statuses, name).toContain(500)
      // A delivery has a signature in the place of a credential, and who signs in has the code of a link.
      const hasOther = name === 'receiveDelivery' || name === 'exchangeSignInLink'
      expect(statuses.includes(401), name).toBe(route.auth !== 'none' || hasOther)
      expect(statuses.includes(415), name).toBe(route.body !== undefined)
      expect(statuses, name).not.toContain(422)
      expect(
        statuses.some((status) => status < 300),
        name,
      ).toBe(true)
    }
  })

  it('keeps idempotency keys from secrets and tokens [HTTP-036]', () => {
    for (const name of ['createSecret', 'createToken']) expect(routesByName[name]?.headers).toBeUndefined()
    expect(Object.keys(routesByName.createTask?.headers?.shape ?? {})).toContain('idempotency-key')
  })
})
