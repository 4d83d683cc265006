// Health, metrics, description, CORS, log, errors of the inside, drain.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../src/contract/api/index.ts'
import { SvcError } from '../../src/errors.ts'
import { createMetricsServer } from '../../src/http/listeners.ts'
import { createMetrics } from '../../src/observability/metrics.ts'
import { aiTask, ownerToken, type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

describe('health', () => {
  it('needs no credential, nor does the OpenAPI document [HTTP-040] [HEALTH-001]', async () => {
    const live = await service.call('GET /healthz', { token: null })
    expect([live.statusCode, live.json()]).toEqual([200, { status: 'ok' }])
    expect((await service.call('GET /readyz', { token: null })).json()).toEqual({
      status: 'ok',
      checks: { store: 'ok' },
    })
    expect((await service.call('GET /openapi.json', { token: null })).statusCode).toBe(200)
    expect((await service.call('HEAD /healthz', { token: null })).statusCode).toBe(200)
  })

  it('names the kind of dependency that is away, and nothing else [HEALTH-002] [HEALTH-003] [HTTP-014]', async () => {
    const broken = { name: 'store', check: () => Promise.reject(new Error('disk /secret/path of host-7 is gone')) }
    const sick = await startService({ health: [broken, { name: 'other', check: async () => {} }] })
    const answer = await sick.call('GET /readyz', { token: null })
    expect(answer.statusCode).toBe(503)
    expect(answer.json()).toEqual({ status: 'not ready', checks: { store: 'unhealthy', other: 'ok' } })
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    await sick.stop()
  })
})

describe('metrics', () => {
  it('need a token and contain no name of a user, only patterns [HTTP-042]', async () => {
    expect((await service.call('GET /metrics', { token: null })).statusCode).toBe(401)
    await service.call('POST /api/v1/tasks', { payload: aiTask('a-name-to-look-for') })
    await service.call('GET /api/v1/tasks/a-name-to-look-for?namespace=default')
    await service.call('GET /a-path-to-look-for')
    const { body, headers } = await service.call('GET /metrics')
    expect(headers['content-type']).toContain('text/plain')
    expect(body).toContain('svc_api_requests_total{endpoint="/api/v1/tasks/:id",method="GET",status="200"} 1')
    expect(body).toContain('svc_api_requests_total{endpoint="unknown",method="GET",status="404"}')
    expect(body).not.toContain('to-look-for')
  })
})

describe('where metrics are served', () => {
  it('need a token in embedded mode, and have a listener of their own on a cluster [HTTP-041]', async () => {
    expect((await service.call('GET /metrics', { token: null })).statusCode).toBe(401)
    expect((await service.call('GET /metrics')).statusCode).toBe(200)
    const apart = await startService({ http: { metricsApart: true } })
    expect((await apart.call('GET /metrics')).statusCode).toBe(404)
    await apart.stop()
    const metrics = createMetrics()
    const listener = createMetricsServer(metrics).listen(0, '127.0.0.1')
    await once(listener, 'listening')
    const answer = await fetch(`http://127.0.0.1:${(listener.address() as AddressInfo).port}/metrics`)
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('# TYPE svc_')])
    listener.close()
  })
})

describe('the description', () => {
  it('is OpenAPI 3.1 and lists every route', async () => {
    const document = (await service.call('GET /openapi.json', { token: null })).json()
    expect(document.openapi).toMatch(/^3\.1/)
    const internal = (await service.call('GET /openapi-internal.json', { token: null })).json()
    const paths = (of: { paths: object }) => Object.keys(of.paths)
    expect(paths(internal).every((path) => path.startsWith('/internal/'))).toBe(true)
    expect(paths(document).some((path) => path.startsWith('/internal/'))).toBe(false)
    const described = Object.entries({ ...document.paths, ...internal.paths } as Record<string, object>).flatMap(
      ([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const known = routes.map((route) => `${route.method} ${route.path.replace(/:([A-Za-z]+)/g, '{$1}')}`)
    expect(described.sort()).toEqual(known.sort())
  })
})

describe('web pages of other origins', () => {
  const preflight = { origin: 'https://page.example', 'access-control-request-method': 'POST' }

  it('may not read answers by default [HTTP-044]', async () => {
    const asked = await service.call('OPTIONS /api/v1/tasks', { headers: preflight, token: null })
    expect([asked.statusCode, asked.headers['access-control-allow-origin']]).toEqual([405, undefined])
    const answer = await service.call('GET /healthz', { headers: { origin: 'https://page.example' } })
    expect(answer.headers['access-control-allow-origin']).toBeUndefined()
  })

  it('may read answers when the owner allows their origin, and no other origin may', async () => {
    const open = await startService({ http: { corsAllowedOrigins: ['https://page.example'] } })
    const asked = await open.call('OPTIONS /api/v1/tasks', { headers: preflight, token: null })
    expect(asked.statusCode).toBe(204)
    expect(asked.headers).toMatchObject({ 'access-control-allow-origin': 'https://page.example', vary: 'Origin' })
    expect(asked.headers['access-control-allow-credentials']).toBeUndefined()
    const other = await open.call('GET /healthz', { headers: { origin: 'https://other.example' } })
    expect(other.headers['access-control-allow-origin']).toBeUndefined()
    await open.stop()
  })
})

describe('a fault of the service', () => {
  it('is 500 without internal details, which are in the log with the id of the request', async () => {
    const { resources } = service.usecases
    const { getText } = resources
    resources.getText = () => Promise.reject(new Error('inner words'))
    const answer = await service.call('GET /api/v1/tasks/x', { headers: { 'x-request-id': 'look-me-up' } })
    resources.getText = getText
    expect(answer.statusCode).toBe(500)
    const { error } = answer.json()
    expect(error).toEqual({ code: 500, reason: 'Internal', message: 'Internal Server Error', requestId: 'look-me-up' })
    const line = service.logged.find((entry) => entry.includes('request failed'))
    expect(line).toContain('look-me-up')
    expect(line).toContain('inner words')
  })
})

describe('a dependency that is away, or a limit that is reached', () => {
  it.each([
    ['Unavailable', 503],
    ['TooManyRequests', 429],
  ] as const)('%s is %i with a time to come back [HTTP-012] [HTTP-014]', async (reason, status) => {
    const { resources } = service.usecases
    const { getText } = resources
    resources.getText = () => Promise.reject(new SvcError(reason, 'later', { retryAfterSeconds: 6.5 }))
    const ask = () =>
      service.server.inject({ url: '/api/v1/agents/x', headers: { authorization: `Bearer ${ownerToken}` } })
    const timed = await ask()
    resources.getText = () => Promise.reject(new SvcError(reason, 'later'))
    const untimed = await ask()
    resources.getText = getText
    expect([timed.statusCode, timed.headers['retry-after']]).toEqual([status, '7'])
    expect(Number(untimed.headers['retry-after'])).toBeGreaterThan(0)
  })
})

describe('the log', () => {
  it('contains no token and no name of a user', async () => {
    await service.call('POST /api/v1/tasks', { payload: aiTask('hidden-name') })
    const text = service.logged.join('')
    expect(text).toContain('/api/v1/tasks')
    expect(text).not.toContain(ownerToken)
    expect(text).not.toContain('hidden-name')
  })
})

describe('every answer', () => {
  it('carries the basic security headers', async () => {
    for (const line of ['GET /healthz', 'GET /nothing', 'GET /api/v1/tasks']) {
      const { headers } = await service.call(line)
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
      })
      expect(headers['x-powered-by']).toBeUndefined()
    }
  })
})

describe('draining', () => {
  it('makes readyz fail, tells streams to come back, finishes requests and ends in time', async () => {
    const other = await startService()
    const url = await other.listen()
    await other.call('POST /api/v1/tasks', { payload: aiTask('long') })
    await other.runTask('long')
    const headers = { authorization: `Bearer ${ownerToken}` }
    const stream = await fetch(`${url}/api/v1/tasks/long/logs?follow=true`, { headers })
    let finish = () => {}
    let isAsked = false
    const { getText } = other.usecases.resources
    other.usecases.resources.getText = async (...args) => {
      isAsked = true
      await new Promise<void>((resolve) => {
        finish = resolve
      })
      return getText(...args)
    }
    const slow = fetch(`${url}/api/v1/tasks/long`, { headers })
    await expect.poll(() => isAsked).toBe(true)
    const drained = other.drain(5000)
    const ready = await other.call('GET /readyz', { token: null })
    expect([ready.statusCode, ready.json().status]).toEqual([503, 'not ready'])
    const text = await stream.text()
    expect(text).toMatch(/retry: \d+\n/)
    expect(text).not.toContain('event: end')
    finish()
    const answer = await slow
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close'])
    await drained
    await expect(fetch(`${url}/healthz`)).rejects.toThrow()
    await other.ports.close()
  })

  it('cuts off requests that do not end in time', async () => {
    const other = await startService()
    const url = await other.listen()
    let isAsked = false
    other.usecases.resources.getText = () => {
      isAsked = true
      return new Promise(() => {})
    }
    const hanging = fetch(`${url}/api/v1/tasks/x`, { headers: { authorization: `Bearer ${ownerToken}` } })
    const refused = expect(hanging).rejects.toThrow()
    await expect.poll(() => isAsked).toBe(true)
    await other.drain(50)
    await refused
    await other.ports.close()
  })
})
