// Settings of the running service, schemas of single kinds, and answers that are compressed.
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { kindNames } from '../../src/contract/kinds/index.ts'
import { aiTask, type Service, startService } from './service.ts'

const shown = {
  name: 'databaseUrl',
  group: 'Storage and retention',
  flag: '--database-url',
  environment: 'SVC_DATABASE_URL',
  help: 'where records are',
  value: '(hidden)',
  source: 'environment' as const,
  default: '',
  values: [],
  isSecret: true,
}

let service: Service
beforeAll(async () => {
  service = await startService({ http: { states: [shown] } })
})
afterAll(() => service.stop())

describe('settings', () => {
  it('are shown to owners alone', async () => {
    const answer = await service.call('GET /api/v1/settings')
    expect(answer.json()).toEqual({ items: [shown], metadata: {} })
    const made = { name: 'e', role: 'editor', serverTools: true } as const
    const { token } = await service.ports.tokens.create(made)
    expect((await service.call('GET /api/v1/settings', { token })).statusCode).toBe(403)
  })
})

describe('the schema of a kind', () => {
  it.each(kindNames)('%s stands by itself, describes each field, and is not sent twice', async (kind) => {
    const answer = await service.call(`GET /api/v1/schemas/${kind}`)
    expect(answer.statusCode).toBe(200)
    const schema = answer.json()
    const { spec } = schema.$defs[schema.$ref.replace('#/$defs/', '')].properties
    const described = JSON.stringify(spec).includes('#/$defs/') ? Object.values(schema.$defs) : [spec]
    const fields = described.flatMap((one) => Object.values((one as { properties?: object }).properties ?? {})) as {
      description?: string
    }[]
    expect(fields.length).toBeGreaterThan(0)
    expect(fields.filter(({ description }) => description === undefined)).toEqual([])
    expect(answer.headers['cache-control']).toBe('no-cache')
    const headers = { 'if-none-match': String(answer.headers.etag) }
    expect((await service.call(`GET /api/v1/schemas/${kind}`, { headers })).statusCode).toBe(304)
  })

  it('has what a form needs: what is required, which words there are, and what holds where nothing is said', async () => {
    const { $defs, $ref } = (await service.call('GET /api/v1/schemas/Provider')).json()
    const { properties, required } = $defs[$ref.replace('#/$defs/', '')]
    expect(required).toContain('spec')
    const text = JSON.stringify([properties.spec, $defs])
    for (const word of ['"enum":["', '"default":', '"required":["', '"description":"']) expect(text).toContain(word)
  })

  it('is there for kinds alone', async () => {
    expect((await service.call('GET /api/v1/schemas/Nothing')).statusCode).toBe(400)
    const document = await service.call('GET /openapi.json')
    const headers = { 'if-none-match': String(document.headers.etag) }
    expect((await service.call('GET /openapi.json', { headers })).statusCode).toBe(304)
  })
})

describe('an answer', () => {
  const ask = (line: string, coding: string, more = {}) =>
    service.call(line, { headers: { 'accept-encoding': coding }, ...more })

  it('of a read is compressed for those who take it', async () => {
    for (const name of ['a', 'b', 'c', 'd']) await service.call('POST /api/v1/tasks', { payload: aiTask(name) })
    const plain = await ask('GET /api/v1/tasks', 'identity')
    const packed = await ask('GET /api/v1/tasks', 'gzip, deflate')
    expect([plain.headers['content-encoding'], packed.headers['content-encoding']]).toEqual([undefined, 'gzip'])
    expect(gunzipSync(packed.rawPayload).toString()).toBe(plain.body)
    expect(packed.rawPayload.length).toBeLessThan(plain.rawPayload.length / 2)
    for (const { headers } of [plain, packed]) expect(headers.vary).toContain('Accept-Encoding')
    expect(packed.headers.etag).toBe(plain.headers.etag)
  })

  it('that is short, or to a write, is not', async () => {
    expect((await ask('GET /healthz', 'gzip')).headers['content-encoding']).toBeUndefined()
    const payload = aiTask('long', { prompt: 'x'.repeat(5000) })
    const made = await ask('POST /api/v1/tasks', 'gzip', { payload })
    expect([made.statusCode, made.headers['content-encoding']]).toEqual([201, undefined])
  })
})
