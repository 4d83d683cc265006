// The document that the service serves, against what it answers: every status and every shape, and the times in them.
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../src/contract/api/index.ts'
import { type Service, startService } from './service.ts'

// biome-ignore lint/suspicious/noExplicitAny: the document is read as any client reads it.
type Document = any
type Answer = Pick<LightMyRequestResponse, 'statusCode' | 'body' | 'headers'>

let service: Service
let document: Document
let ajv: Ajv2020
beforeAll(async () => {
  service = await startService()
  document = (await service.call('GET /openapi.json', { token: null })).json()
  ajv = new Ajv2020({ strict: false })
  formats.default(ajv)
  ajv.addFormat('label-selector', true)
  ajv.addSchema(document, 'served')
})
afterAll(() => service.stop())

/** The described response of an operation, also of one that is shared. */
function describedAt(path: string, method: string, status: number): Document {
  const found = document.paths[path]?.[method]?.responses?.[status]
  return found?.$ref === undefined ? found : document.components.responses[found.$ref.split('/').at(-1)]
}

function misfit(schema: object, value: unknown): string {
  const fits = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"served#/')))
  return fits(value) ? '' : ajv.errorsText(fits.errors)
}

const task = { name: 'one', type: 'container', spec: { image: 'a', command: ['true'] } }
const calls: [
  string,
  string,
  number,
  { payload?: object | string; token?: null; headers?: Record<string, string> }?,
][] = [
  ['POST /api/v1/agents', '/api/v1/agents', 201, { payload: { name: 'bot', spec: {} } }],
  ['POST /api/v1/agents', '/api/v1/agents', 409, { payload: { name: 'bot', spec: {} } }],
  ['POST /api/v1/agents', '/api/v1/agents', 400, { payload: { name: 'Bot!', spec: {} } }],
  ['POST /api/v1/agents', '/api/v1/agents', 401, { payload: {}, token: null }],
  ['POST /api/v1/agents', '/api/v1/agents', 415, { payload: 'x', headers: { 'content-type': 'text/plain' } }],
  ['GET /api/v1/agents', '/api/v1/agents', 200],
  ['GET /api/v1/agents/bot', '/api/v1/agents/{name}', 200],
  ['GET /api/v1/agents/none', '/api/v1/agents/{name}', 404],
  ['POST /api/v1/tasks', '/api/v1/tasks', 201, { payload: task }],
  ['GET /api/v1/tasks', '/api/v1/tasks', 200],
  ['GET /api/v1/tasks/one', '/api/v1/tasks/{id}', 200],
  ['POST /api/v1/memories', '/api/v1/memories', 201, { payload: { content: 'a' } }],
  ['GET /api/v1/memories', '/api/v1/memories', 200],
  ['POST /api/v1/secrets', '/api/v1/secrets', 201, { payload: { name: 'key', stringData: { token: 'value' } } }],
  ['POST /api/v1/tokens', '/api/v1/tokens', 201, { payload: { name: 'ci' } }],
  ['GET /api/v1/audit', '/api/v1/audit', 200],
  ['GET /api/v1/usage', '/api/v1/usage', 200],
  ['GET /api/v1/auth/whoami', '/api/v1/auth/whoami', 200],
  ['GET /llma/v1/models', '/llma/v1/models', 200],
  ['GET /llmo/v1/models', '/llmo/v1/models', 200],
]

describe('the description that is served', () => {
  it('has for each operation the statuses of its route, no more and no fewer [HTTP-046]', async () => {
    const internal = (await service.call('GET /openapi-internal.json', { token: null })).json()
    expect(document.openapi).toMatch(/^3\.1\./)
    for (const { method, path, responses } of routes) {
      const described = (path.startsWith('/internal') ? internal : document).paths[
        path.replace(/:([A-Za-z]+)/g, '{$1}')
      ]
      const operation = described?.[method.toLowerCase()]
      expect([method, path, Object.keys(operation?.responses ?? {})]).toEqual([method, path, Object.keys(responses)])
    }
  })

  it.each(calls)('tells what %s answers at %s: %i [HTTP-046]', async (line, path, status, more = {}) => {
    const answer = (await service.call(line, more as never)) as Answer
    expect([answer.statusCode, answer.statusCode === status ? '' : answer.body]).toEqual([status, ''])
    const described = describedAt(path, line.split(' ', 1)[0]?.toLowerCase() ?? '', status)
    const schema = described?.content['application/json'].schema
    expect(schema).toBeDefined()
    expect(misfit(schema, JSON.parse(answer.body))).toBe('')
  })

  it('refuses what the service refuses, because both come from one schema [HTTP-046]', async () => {
    const schema = document.paths['/api/v1/agents'].post.requestBody.content['application/json'].schema
    const bodies: [object, boolean][] = [
      [{ name: 'fine', spec: { maxTurns: undefined } }, true],
      [{ metadata: { name: 'fine-too' }, spec: {} }, true],
      [{ spec: {} }, false],
      [{ name: 'Not Fine', spec: {} }, false],
      [{ name: 'a', spec: { of_tomorrow: 1 } }, false],
      [{ name: 'a', spec: { providerRef: 'main' } }, false],
      [{ name: 'a'.repeat(64), spec: {} }, false],
    ]
    for (const [body, isTaken] of bodies) {
      const payload = JSON.parse(JSON.stringify(body))
      const { statusCode } = await service.call('POST /api/v1/agents', { payload })
      expect([body, statusCode, misfit(schema, payload) === '']).toEqual([body, isTaken ? 201 : 400, isTaken])
    }
  })
})

describe('times', () => {
  const isTime = (value: unknown): value is string => typeof value === 'string' && /^\d{4}-\d\d-\d\d./.test(value)

  /** Every field of an answer with a time in it, by its name. */
  function times(value: unknown): [string, string][] {
    if (typeof value !== 'object' || value === null) return []
    return Object.entries(value).flatMap(([name, inner]) => (isTime(inner) ? [[name, inner]] : times(inner)))
  }

  it('are RFC 3339 in UTC: of metadata in whole seconds, of records with milliseconds [HTTP-027]', async () => {
    const payload = { name: 'timed', type: 'container', finalizers: undefined, spec: { image: 'a', command: ['true'] } }
    await service.call('POST /api/v1/tasks', { payload })
    await service.runTask('timed')
    await service.call('DELETE /api/v1/tasks/timed')
    await service.call('POST /api/v1/memories', { payload: { content: 'a' } })
    const objects = [
      ...times((await service.call('GET /api/v1/tasks')).json()),
      ...times((await service.call('GET /api/v1/agents')).json()),
    ]
    const metadata = objects.filter(([name]) => /^(creation|deletion)Timestamp$/.test(name))
    expect(new Set(metadata.map(([name]) => name))).toEqual(new Set(['creationTimestamp', 'deletionTimestamp']))
    for (const [name, time] of metadata) expect(time, name).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    const records: [string, string][] = []
    for (const path of ['memories', 'audit', 'tokens']) {
      const found = [...times((await service.call(`GET /api/v1/${path}`)).json())]
      expect(found, path).not.toEqual([])
      records.push(...found)
    }
    for (const [name, time] of records) expect(time, name).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })
})
