// Tasks whose answer must match a schema, with a vendor of each family over a real socket.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Task } from '../../src/contract/kinds/tasks/task.ts'
import { type Say, type StrictVendor, startStrictVendor } from '../fixtures/proxy/strict-vendor.ts'
import { waitFor } from '../fixtures/time.ts'
import { createTask, readResult, removeFolder, runSvc, type Service, startService, waitForPhase } from './service.ts'

const outputSchema = {
  type: 'object',
  properties: { city: { type: 'string' }, people: { type: 'integer' } },
  required: ['city', 'people'],
  additionalProperties: false,
}
const good = '{"city":"Ulm","people":128928}'
const wrong = '{"city":"Ulm","people":"many"}'
const fenced = `\`\`\`json\n${good}\n\`\`\``

/** What the vendor says to a prompt, call by call; the last is said again. */
const scripts: Record<string, Say[]> = {
  atonce: [{ text: good }],
  wrongonce: [{ text: wrong }, { text: good }],
  wrongthrice: [{ text: wrong }, { text: 'Ulm' }, { text: wrong }, { text: good }],
  nojson: [{ text: 'About 130,000 people.' }, { text: `It is ${good}` }, { text: good }],
  fence: [{ text: fenced }],
  refusal: [{ text: 'I will not.', stop: 'refusal' }],
  slow: [{ text: JSON.stringify(`${'a'.repeat(60)}b`) }],
  length: [{ text: '{"city":"Ul', stop: 'max_tokens' }],
  killed: [{ text: wrong }, { text: 'Ulm' }, { text: 'half of it', stall: true }, { text: wrong }, { text: good }],
  plain: [{ status: 400, error: 'unknown field' }, { text: wrong }, { text: good }],
}
const llmoStops: Record<string, string> = { refusal: 'content_filter', max_tokens: 'length' }

const asked = new Map<string, Record<string, unknown>[]>()
let service: Service
let vendor: StrictVendor

function answer(body: Record<string, unknown>): Say {
  const prompt = /case:(\w+)/.exec(JSON.stringify(body.messages))?.[1] ?? ''
  const before = asked.get(prompt) ?? []
  asked.set(prompt, [...before, body])
  const says = scripts[prompt.split('_')[0] ?? ''] ?? []
  const say = says[before.length] ?? says.at(-1) ?? { text: '' }
  const stop = prompt.endsWith('llmo') && say.stop ? { stop: llmoStops[say.stop] ?? say.stop } : {}
  return { ...say, ...stop }
}

beforeAll(async () => {
  vendor = await startStrictVendor(answer)
  service = await startService()
  await service.call('POST', '/api/v1/secrets', { name: 'vendor', stringData: { 'api-key': 'made-up-key-000000' } })
  for (const [name, path] of [
    ['llma', ''],
    ['llmo', '/v1'],
  ]) {
    const secretRef = { name: 'vendor', key: 'api-key' }
    const spec = { type: name, baseURL: `${vendor.url}${path}`, defaultModel: 'test-model', secretRef }
    expect((await service.call('POST', '/api/v1/providers', { name, spec })).status).toBe(201)
  }
})
afterAll(async () => {
  await service.stop()
  await vendor.stop()
  removeFolder(service.folder)
})

const make = (name: string, family: string) =>
  createTask(service, `${name}-${family}`, {
    type: 'ai',
    ai: { providerRef: { name: family }, prompt: `case:${name}_${family}`, outputSchema },
  })

describe.each(['llma', 'llmo'])('the answer of a vendor of family %s', (family) => {
  const bodies = (name: string) => asked.get(`${name}_${family}`) ?? []
  const formatOf = (body: Record<string, unknown> | undefined) => body?.output_config ?? body?.response_format

  beforeAll(async () => {
    const names = Object.keys(scripts).filter((name) => !['killed', 'slow'].includes(name))
    await Promise.all(names.map((name) => make(name, family)))
  })

  it.each([
    ['atonce', 1],
    ['wrongonce', 2],
    ['nojson', 3],
    ['fence', 1],
    ['plain', 3],
  ])('is the result as JSON once it matches: %s', async (name, calls) => {
    await waitForPhase(service, `${name}-${family}`, 'Succeeded')
    expect(await readResult(service, `${name}-${family}`)).toBe(good)
    expect(bodies(name)).toHaveLength(calls)
  })

  it('is asked for in words and natively, and only in words once the vendor refused that', () => {
    expect(JSON.stringify(bodies('atonce')[0])).toContain('<output_schema>')
    expect(JSON.stringify(formatOf(bodies('atonce')[0]))).toContain('"schema":{"type":"object"')
    expect(bodies('plain').map((body) => formatOf(body) !== undefined)).toEqual([true, false, false])
  })

  it('fails the task after two corrections, which say what is wrong, and is kept', async () => {
    const name = `wrongthrice-${family}`
    const task = await waitForPhase(service, name, 'Failed')
    expect(bodies('wrongthrice')).toHaveLength(3)
    expect(JSON.stringify(bodies('wrongthrice').at(-1))).toMatch(
      /does not count.*at \/people.*does not count: it is not JSON/,
    )
    expect(task.status?.message).toMatch(
      /does not match ai.outputSchema after 2 corrections: .*\/people.*rejected-answer.txt/,
    )
    expect(task.status?.conditions?.at(-1)).toMatchObject({ type: 'Complete', reason: 'InvalidOutput' })
    const kept = await service.call('GET', `/api/v1/tasks/${name}/artifacts/rejected-answer.txt`)
    expect(kept.body).toBe(wrong)
  })

  it('is not asked for again where the model refused, or was cut', async () => {
    const reasonOf = ({ status }: Task) => status?.conditions?.at(-1)?.reason
    expect(reasonOf(await waitForPhase(service, `refusal-${family}`, 'Failed'))).toBe('ModelRefused')
    const cut = await waitForPhase(service, `length-${family}`, 'Failed')
    expect(reasonOf(cut)).toBe('OutputLimit')
    expect(cut.status?.message).toMatch(/cut before it was whole.*raise maxTokens/)
    expect([bodies('refusal').length, bodies('length').length]).toEqual([1, 1])
  })
})

it('fails the task with what to change where a pattern of the schema takes for ever', async () => {
  const ai = { providerRef: { name: 'llma' }, prompt: 'case:slow_llma', outputSchema: { pattern: '^(a+)+$' } }
  await createTask(service, 'slow', { type: 'ai', ai, retryPolicy: { maxRetries: 2 } })
  const { status } = await waitForPhase(service, 'slow', 'Failed')
  expect(status?.message).toMatch(
    /could not be compared.* 2 s, with the pattern "\^\(a\+\)\+\$".*; simplify the pattern/,
  )
  expect(status?.conditions?.at(-1)).toMatchObject({ type: 'Complete', reason: 'UncheckedOutput' })
  expect(asked.get('slow_llma')).toHaveLength(1)
})

it('is printed by `svc run --schema`, which says what is wrong with a schema', async () => {
  const file = join(service.folder, 'schema.yaml')
  const run = (prompt: string) =>
    runSvc(['run', '--quiet', '--provider', 'llma', '--schema', file, prompt], service.env)
  writeFileSync(file, JSON.stringify(outputSchema))
  expect(await run('case:fence_cli')).toMatchObject({ code: 0, stdout: `${good}\n` })
  writeFileSync(file, 'properties: { city: { $ref: "https://example.com/city.json" } }')
  const refused = await run('case:atonce_cli')
  expect(refused.code).not.toBe(0)
  expect(refused.stderr).toMatch(/ai\.outputSchema\.properties\.city.*\$ref.*must be # or lead to a definition/)
  expect(asked.has('atonce_cli')).toBe(false)
})

it('is corrected twice in all, also when the service is killed in between', async () => {
  await make('killed', 'llma')
  const calls = () => asked.get('killed_llma')?.length ?? 0
  await waitFor(() => calls() === 3, 'the third call')
  await service.kill()
  service = await startService({ folder: service.folder })
  const task = await waitForPhase(service, 'killed-llma', 'Failed')
  expect(task.status).toMatchObject({ attempts: 2, message: expect.stringContaining('after 2 corrections') })
  expect(calls()).toBe(4)
}, 60_000)
