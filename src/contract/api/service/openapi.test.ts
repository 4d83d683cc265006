import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { routesByName } from '../index.ts'
import { defineRoute, documentAs } from '../resources/route.ts'
import { buildOpenApi } from './openapi.ts'

type Json = Record<string, unknown>

const document = buildOpenApi(routesByName, { version: '1.2.3' })
const text = JSON.stringify(document)
const components = document.components as { schemas: Record<string, Json>; responses: Json }
const paths = document.paths as Record<string, Record<string, Json>>

function resolve(reference: string): unknown {
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((value, part) => (value as Json | undefined)?.[part], document)
}

describe('OpenAPI document', () => {
  it('is of version 3.1 and has the version of the service', () => {
    expect(document.openapi).toBe('3.1.0')
    expect((document.info as Json).version).toBe('1.2.3')
  })

  it('has every route with every status', () => {
    for (const [name, route] of Object.entries(routesByName)) {
      const path = route.path.replace(/:([A-Za-z]+)/g, '{$1}')
      const operation = paths[path]?.[route.method.toLowerCase()]
      expect(operation?.operationId).toBe(name)
      expect(Object.keys(operation?.responses as Json)).toEqual(Object.keys(route.responses))
    }
  })

  it('has no reference that leads nowhere', () => {
    const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? '')
    expect(references.length).toBeGreaterThan(100)
    for (const reference of new Set(references)) expect(resolve(reference), reference).toBeDefined()
    expect(text).not.toContain('$defs')
  })

  it('has no component that nothing refers to', () => {
    for (const name of Object.keys(components.schemas)) expect(text).toContain(`"#/components/schemas/${name}"`)
  })

  it('distinguishes what is sent from what is answered where the two differ', () => {
    expect(components.schemas.ProviderSpec?.required).toContain('serverTools')
    expect(components.schemas.ProviderSpecInput?.required).toEqual(['type'])
    expect(components.schemas.ObjectMetaInput).toBeUndefined()
  })

  it('publishes rules that are refinements where JSON Schema can say them', () => {
    const { schemas } = components
    expect(schemas.ProviderCreate).toMatchObject({
      not: { allOf: [{ not: { required: ['name'] } }, { not: { required: ['metadata'] } }] },
    })
    expect(schemas.ProviderUpdate).not.toHaveProperty('not')
    expect(schemas.BudgetScope).toMatchObject({
      dependentRequired: { agent: ['namespace'] },
      not: { required: ['token', 'caller'] },
    })
    expect(schemas.ProviderSpecInput).toMatchObject({
      not: {
        allOf: [
          { not: { properties: { type: { enum: ['azure-llmo', 'azure-openai'] } }, required: ['azure', 'baseURL'] } },
          { not: { not: { required: ['azure'] } } },
        ],
      },
      properties: { baseURL: { format: 'uri' } },
    })
    expect(schemas.TokenCreate?.properties).toMatchObject({ expires: { anyOf: [{ format: 'date-time' }, {}, {}] } })
    expect(text).toContain('"not":{"required":["name","configMapRef"]},"minProperties":1')
    expect(text).toContain('"format":"label-selector"')
    expect(text).not.toContain('x-svc-published')
  })

  it('shows what a parameter means, not how it is read', () => {
    const parameters = paths['/api/v1/tasks']?.get?.parameters as { name: string; schema: Json; required: boolean }[]
    const limit = parameters.find((parameter) => parameter.name === 'limit')
    expect(limit).toMatchObject({ required: false, schema: { type: 'integer', minimum: 1, default: 100 } })
    const body = paths['/api/v1/tasks']?.post?.requestBody as { content: Record<string, { schema: Json }> }
    expect(body.content['application/json']?.schema).toEqual({ $ref: '#/components/schemas/TaskCreate' })
    expect(Object.keys(components.schemas.TaskCreate?.properties as Json)).toEqual(
      expect.arrayContaining(['name', 'prompt', 'metadata', 'spec', 'status']),
    )
    const properties = components.schemas.TaskCreate?.properties as { spec: { properties: Json } } | undefined
    const specKeys = Object.keys(properties?.spec.properties ?? {})
    expect(specKeys).toContain('schedule')
    expect(specKeys).not.toContain('requestedBy')
  })

  it('offers streams beside JSON', () => {
    const responses = paths['/api/v1/tasks/{id}/logs']?.get?.responses as Record<string, { content: Json }> | undefined
    expect(Object.keys(responses?.['200']?.content ?? {})).toEqual(['application/json', 'text/event-stream'])
  })

  it('says which credential each side needs', () => {
    expect(paths['/healthz']?.get?.security).toEqual([])
    expect(paths['/api/v1/tasks']?.get?.security).toEqual([{ bearer: [] }, { apiKey: [] }])
    expect(paths['/internal/v1/messages/{namespace}']?.post?.security).toEqual([{ worker: [] }])
  })

  it('refuses two schemas of one name', () => {
    const route = (schema: z.ZodType) =>
      defineRoute({
        method: 'GET',
        path: '/x',
        tag: 'x',
        summary: 'x',
        description: 'x',
        responses: { 200: { description: 'x', schema } },
        auth: 'none',
      })
    const one = documentAs(z.unknown(), z.object({ a: z.string() }).meta({ id: 'TestTwice' }))
    const table = { one: route(one) }
    expect(() => buildOpenApi(table, { version: '1' })).not.toThrow()
    const other = z.object({ nested: z.object({ b: z.string() }).meta({ id: 'TestTwice' }) })
    expect(() => buildOpenApi({ ...table, two: route(other) }, { version: '1' })).toThrow('TestTwice')
  })
})
