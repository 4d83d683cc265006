// `svc usage`, `svc audit`, `svc budget`, and which provider the command line takes where none is named.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ScriptedVendor, startVendor } from '../fixtures/llm/scripted-vendor.ts'
import { startUpstream } from '../fixtures/proxy/upstream.ts'
import { waitFor } from '../fixtures/time.ts'
import { removeFolder, runSvc, type Service, startService } from './service.ts'

let service: Service
let vendor: ScriptedVendor
const svc = (...args: string[]) => runSvc(args, service.env)

async function addProvider(name: string, more: object = {}): Promise<void> {
  const spec = { type: 'llmo', baseURL: vendor.url, defaultModel: `model-of-${name}`, ...more }
  await service.call('POST', '/api/v1/providers', { name, spec })
}

beforeAll(async () => {
  service = await startService()
  vendor = await startVendor(() => [{ text: 'ok' }])
})
afterAll(async () => {
  await service.stop()
  await vendor.close()
  removeFolder(service.folder)
})

describe('the command line without a provider', () => {
  it('takes the only one there is, goes on with that of a session, and names several', async () => {
    await addProvider('first', { price: { inputPerMillion: 1_000_000, outputPerMillion: 1_000_000 } })
    const chat = await svc('chat', '-q', '--session', 'talk', 'hello')
    expect([chat.code, chat.stdout]).toEqual([0, 'ok\n'])
    expect(vendor.requests.at(-1)?.model).toBe('model-of-first')
    await addProvider('second')
    expect((await svc('chat', '-q', '--session', 'talk', 'and now?')).stdout).toBe('ok\n')
    expect(vendor.requests.at(-1)?.model).toBe('model-of-first')
    const unclear = await svc('run', 'hello')
    expect([unclear.code, unclear.stderr]).toEqual([
      2,
      expect.stringContaining('give --provider first or --provider second'),
    ])
    expect((await svc('run', '-q', '--provider', 'second', 'hello')).code).toBe(0)
    expect((await service.call('GET', '/api/v1/providers/demo')).status).toBe(404)
  })
})

describe('svc usage', () => {
  it('sums by day, model and more, with cost where there is a price', async () => {
    await waitFor(async () => (await svc('usage', '--by', 'model')).stdout.includes('model-of-second'), 'the usage')
    const days = await svc('usage')
    expect(days.stdout).toMatch(/^DAY +CALLS +IN .*OUT/)
    expect(days.stdout).toContain(new Date().toISOString().slice(0, 10))
    const models = (await svc('usage', '--by', 'model')).stdout.trimEnd().split('\n')
    expect(models.find((line) => line.startsWith('model-of-first'))).toMatch(/\d USD +100\.0%$/)
    expect(models.find((line) => line.startsWith('model-of-second'))).not.toContain('USD')
    const { items } = { items: JSON.parse((await svc('usage', '--by', 'caller', '-o', 'json')).stdout) }
    expect(items[0].caller).toMatchObject({ kind: 'token', id: 'owner' })
    expect((await svc('usage', '--since', '1h', '--until', '2020-01-01T00:00:00Z')).stderr).toContain('no usage yet')
    expect((await svc('usage', '--since', 'soon')).code).toBe(2)
    const total = models.at(-1)?.split(/ {2,}/) ?? []
    expect([total[0], total.at(-1)]).toEqual(['TOTAL', expect.stringMatching(/^\d+ USD$/)])
    for (const by of ['agent', 'caller', 'task', 'session', 'monitor', 'scan', 'namespace', 'provider', 'month']) {
      const lines = (await svc('usage', '--by', by, '--month')).stdout.trimEnd().split('\n')
      const last = lines.findLast((line) => line.startsWith('TOTAL'))
      expect([by, last?.split(/ {2,}/)]).toEqual([by, total])
    }
    const csv = await svc('usage', '--by', 'model', '-o', 'csv')
    expect(csv.stdout).toBe((await svc('usage', '--by', 'model', '--csv')).stdout)
    expect(csv.stdout).toMatch(/^at,key,llmCalls,/)
    expect((await svc('task', 'list', '-o', 'csv')).stderr).toContain('-o csv is for usage alone')
  })
})

describe('what was read from a cache, and written to one', () => {
  it('is told apart from the vendor on, in usage and metrics', async () => {
    const upstream = await startUpstream()
    await addProvider('remembering', { type: 'llma', baseURL: upstream.url })
    const body = { model: 'remembering/m', max_tokens: 64, messages: [{ role: 'user', content: 'hi' }] }
    expect((await service.call('POST', '/llma/v1/messages', body)).status).toBe(200)
    const lines = async () => (await svc('usage', '--by', 'model')).stdout.split('\n')
    const line = await waitFor(async () => (await lines()).find((text) => text.startsWith('m ')), 'the usage')
    expect((await lines())[0]).toMatch(/^MODEL +CALLS +IN +CACHED +WRITTEN +OUT/)
    expect(line).toMatch(/^m +1 +15 +4 +1 +5\b/)
    const { body: metrics } = await service.call<string>('GET', '/metrics')
    expect(metrics).toContain('svc_tokens_total{namespace="default",provider="remembering",kind="cache_write"} 1')
    await upstream.stop()
  })
})

describe('svc budget', () => {
  it('bounds the time and the iterations of each task', async () => {
    const set = await svc('-n', 'other', 'budget', 'set', 'patience', '--task-time', '24h', '--task-iterations', '50')
    expect([set.code, set.stdout]).toEqual([
      0,
      expect.stringMatching(/^budget patience set: 24h or 50 iterations a task,/),
    ])
    expect((await svc('budget', 'list')).stdout).toMatch(/patience +namespace other +24h or 50 iterations a task/)
    expect((await svc('budget', 'set', 'patience', '--task-time', 'soon')).code).toBe(2)
    expect((await svc('budget', 'delete', 'patience')).code).toBe(0)
  })

  it('sets, lists and removes budgets, which refuse with a reason', async () => {
    const set = await svc('-n', 'default', 'budget', 'set', 'tiny', '--tokens', '0.001k', '--per', 'day')
    expect([set.code, set.stdout]).toEqual([
      0,
      expect.stringMatching(/^budget tiny set: 1 tokens a day, \d+ tokens spent/),
    ])
    expect((await svc('budget', 'list')).stdout).toMatch(/tiny +namespace default +1 tokens a day +\d+ tokens +used up/)
    const refused = await svc('chat', '-q', '--session', 'talk', 'more')
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain('the budget "tiny" of 1 tokens a day for namespace "default" is used up')
    expect((await svc('budget', 'set', 'wrong')).code).toBe(2)
    expect((await svc('budget', 'delete', 'tiny')).code).toBe(0)
    expect((await svc('chat', '-q', '--session', 'talk', 'more')).stdout).toBe('ok\n')
  })
})

describe('svc audit', () => {
  it('tells who did what, newest first, and what was refused', async () => {
    const made = await svc('token', 'create', 'reader', '--role', 'viewer', '-o', 'json')
    const { token } = JSON.parse(made.stdout)
    expect((await runSvc(['--token', token, 'secret', 'list'], service.env)).code).not.toBe(0)
    await waitFor(async () => (await svc('audit', '--refused')).stdout.includes('reader'), 'the refusal to be noted')
    const all = await svc('audit', '--kind', 'Provider', '--limit', '10')
    expect(all.stdout).toMatch(/owner +api +create +Provider +default +second/)
    expect(all.stdout.indexOf('second')).toBeLessThan(all.stdout.indexOf('first'))
  })
})
