// What is said by REST of a Tool whose MCP server is to run in an actor.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ActorsDouble, type OpenedActors, openActors, startActors } from '../fixtures/actors/actors.ts'
import { type Service, startService } from './service.ts'

let double: ActorsDouble
let opened: OpenedActors
let service: Service
let apart: Service

beforeAll(async () => {
  double = await startActors({ workers: 0 })
  opened = openActors(double)
  const { toolActors } = opened
  service = await startService({ toolActors })
  apart = await startService({ toolActors, usecases: { isolateNamespaces: true } })
})
afterAll(async () => {
  await Promise.all([service.stop(), apart.stop()])
  await opened.close()
  await double.stop()
})

const actor = { templateRef: { name: 'agents' } }
const specOf = (mcp: object, rest: object = {}) => ({ description: 'd', mcp, ...rest })
const post = (name: string, spec: object, at = service) =>
  at.call('POST /api/v1/tools', { payload: { name, namespace: 'team-a', spec } })

async function problemOf(spec: object, at = service): Promise<{ path: string; message: string }> {
  const answer = await post('refused', spec, at)
  expect(answer.statusCode).toBe(400)
  return answer.json().error.details[0]
}

describe('a tool on an actor, at its creation', () => {
  it('needs no address, has its defaults, and may name a Secret that is sent as a header [MCP-001] [MCP-004] [MCP-017]', async () => {
    const http = { authSecretRef: { name: 'keys', key: 'token' } }
    const answer = await post('plain', specOf({ actor }, { http }))
    expect(answer.statusCode).toBe(201)
    expect(answer.json().spec).toMatchObject({
      http: { method: 'POST', authInject: 'header' },
      mcp: { path: '/mcp', actor: { templateRef: { name: 'agents' }, boot: false } },
    })
    const named = { http: { ...http, authInject: 'header' } }
    expect((await post('named', specOf({ actor }, named))).statusCode).toBe(201)
  })

  it.each([
    [{ actor: {} }, 'spec.mcp.actor.templateRef'],
    [{ actor: { templateRef: {} } }, 'spec.mcp.actor.templateRef.name'],
    [{}, 'spec.mcp.actor'],
  ])('is refused without a template: %j [MCP-005]', async (mcp, path) => {
    expect((await problemOf(specOf(mcp))).path).toBe(path)
  })

  it('is refused with a secret in the body [MCP-003]', async () => {
    const { path } = await problemOf(specOf({ actor }, { http: { authInject: 'body' } }))
    expect(path).toBe('spec.http.authInject')
  })

  it('is refused with another method than POST [MCP-002]', async () => {
    expect((await problemOf(specOf({ actor }, { http: { method: 'GET' } }))).path).toBe('spec.http.method')
  })

  it('is refused where there are no actors [MCP-014]', async () => {
    const without = await startService()
    expect(await problemOf(specOf({ actor }), without)).toMatchObject({
      path: 'spec.mcp.actor',
      message: expect.stringContaining('not enabled on this service'),
    })
    await without.stop()
  })

  it('is refused with a pool of actors of another template, and taken with one of its own [MCP-008]', async () => {
    const pooled = { ...actor, poolRef: { name: 'warm' } }
    expect((await post('pooled', specOf({ actor: pooled }))).statusCode).toBe(201)
    expect(await problemOf(specOf({ actor: { ...pooled, templateRef: { name: 'others' } } }))).toEqual({
      path: 'spec.mcp.actor.poolRef',
      message: 'the pool "team-a/warm" has actors of template "templates/agents", not of "templates/others"',
    })
    const change = specOf({ actor: { ...pooled, templateRef: { name: 'others' } } })
    const changed = await service.call('PUT /api/v1/tools/pooled?namespace=team-a', { payload: { spec: change } })
    expect(changed.statusCode).toBe(400)
  })

  it('is refused with a pool that is meant for no actors', async () => {
    const empty = { ...double.pools.get('team-a/warm'), name: 'empty' } as never
    double.pools.set('team-a/empty', {
      ...(empty as object),
      annotations: { 'svc.ai/actor-template': 'templates/agents', 'svc.ai/target-actors': '0' },
    } as never)
    const { message } = await problemOf(specOf({ actor: { ...actor, poolRef: { name: 'empty' } } }))
    expect(message).toContain('must be 1 to 1000')
  })

  it('has no status but what the service writes, by whatever request', async () => {
    const status = {
      available: true,
      endpoint: 'http://forged.invalid',
      actor: { actorID: 'forged', routeHost: 'forged.invalid' },
    }
    const metadata = { name: 'forged', namespace: 'team-a' }
    const answers = [
      await service.call('POST /api/v1/tools', { payload: { metadata, spec: specOf({ actor }), status } }),
      await service.call('PUT /api/v1/tools/forged?namespace=team-a', {
        payload: { metadata, spec: specOf({ actor }, { description: 'other' }), status },
      }),
    ]
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 200])
    const stored = await service.call('GET /api/v1/tools/forged?namespace=team-a')
    expect(stored.statusCode).toBe(200)
    expect(stored.json()).toMatchObject({ spec: { description: 'other' } })
    expect(stored.json()).not.toHaveProperty('status')
  })

  it('is refused with a pool of another namespace where namespaces are isolated', async () => {
    const far = specOf({ actor: { ...actor, poolRef: { name: 'warm', namespace: 'team-b' } } })
    expect((await problemOf(far, apart)).message).toContain(
      'names namespace "team-b", but tools of "team-a" may only use their own',
    )
    expect((await post('far', far)).statusCode).toBe(201)
  })
})
