// Whom tokens are charged to, whichever way they were used; and that every grouping says the same in all.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type UsageItem, usageGroups } from '../../src/contract/api/budgets/usage.ts'
import { noteAttribution } from '../../src/rules/budgets/attribution.ts'
import { type Proxied, startProxied } from '../fixtures/proxy/proxied.ts'
import { passBytes, runTurn } from '../fixtures/proxy/ways.ts'
import { waitFor } from '../fixtures/time.ts'
import { aiTask } from './service.ts'

let proxied: Proxied
beforeAll(async () => {
  proxied = await startProxied()
  await proxied.addProvider('default', { defaultModel: 'm', price: { inputPerMillion: 1, outputPerMillion: 1 } })
})
afterAll(() => proxied.stop())

const usage = async (query: string): Promise<UsageItem[]> =>
  (await proxied.service.call(`GET /api/v1/usage?${query}`)).json().items

async function use(task: string): Promise<void> {
  const { token } = await proxied.service.runTask(task)
  const payload = {
    id: '1',
    provider: { namespace: 'default', name: 'default' },
    model: 'm',
    inputTokens: 10,
    outputTokens: 1,
  }
  const answer = await proxied.service.call(`POST /internal/v1/usage/default/${task}`, { token, payload })
  expect(answer.statusCode).toBe(204)
}

describe('usage', () => {
  it('of tasks counts for agent, root caller, session, monitor, scan and labels, and sums to the same by each', async () => {
    const { resources } = proxied.service.ports
    await proxied.create('/api/v1/tasks', { ...aiTask('labelled'), labels: { team: 'search' } })
    await use('labelled')
    const made = async (name: string, annotations: Record<string, string>) => {
      const own = await resources.get('Task', { namespace: 'default', name: 'labelled' })
      const spec = { ...own?.spec, agentRef: undefined } as never
      await resources.create('Task', { metadata: { namespace: 'default', name, annotations }, spec })
      await use(name)
    }
    await made('scanned', noteAttribution({ agent: 'auditor', scan: 'nightly' }))
    const root = { kind: 'token', id: 'tok-root', name: 'ada' } as const
    const worker = { 'svc.ai/caller': 'task/other', 'svc.ai/caller-kind': 'worker', 'svc.ai/caller-id': 'u1' }
    await made('below', { ...worker, ...noteAttribution({ caller: root, monitor: 'pulls' }) })
    await made('orphan', worker)
    await passBytes(proxied, 'default')
    await runTurn(proxied, 'default')
    await waitFor(async () => (await usage('groupBy=provider'))[0]?.llmCalls === 6, 'all calls to be recorded')

    const keysBy = async (query: string) => (await usage(query)).map(({ key }) => key).sort()
    expect(await keysBy('groupBy=agent')).toEqual(['', 'default/auditor'])
    expect(await keysBy('groupBy=scan')).toEqual(['', 'default/nightly'])
    expect(await keysBy('groupBy=monitor')).toEqual(['', 'default/pulls'])
    expect(await keysBy('groupBy=label&label=team')).toEqual(['', 'search'])
    const callers = (await usage('groupBy=caller')).map(({ caller }) => caller?.kind)
    expect(callers).not.toContain('worker')
    expect((await keysBy('groupBy=caller')).sort()).toEqual(['', 'owner', 'tok-root'])

    const total = (items: UsageItem[]) =>
      items.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0)
    const whole = total(await usage('groupBy=provider'))
    expect(whole).toBeGreaterThan(44)
    for (const groupBy of usageGroups) {
      for (const per of ['', '&per=day', '&per=month']) {
        const query = `groupBy=${groupBy}&label=team${per}`
        expect([query, total(await usage(query))]).toEqual([query, whole])
      }
    }
    const days = await usage('groupBy=agent&per=day')
    expect(days.every(({ at }) => /^\d{4}-\d\d-\d\d$/.test(at ?? ''))).toBe(true)
  })

  it('by label needs the key of the label', async () => {
    const answer = await proxied.service.call('GET /api/v1/usage?groupBy=label')
    expect([answer.statusCode, answer.json().error.message]).toEqual([400, expect.stringContaining('needs label')])
  })
})
