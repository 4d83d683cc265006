// What every database does so that those who look at records learn that they have changed.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RecordChange } from '../../src/ports/resources/records.ts'
import { waitFor } from '../fixtures/time.ts'
import { type OpenBench, useBench } from './record-bench.ts'

export function describeRecordChanges(name: string, open: OpenBench): void {
  describe(`changes of records on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    let told: string[]
    let end: () => void
    beforeEach(() => {
      told = []
      const spell = ({ kind, namespace = 'anywhere' }: RecordChange) => `${kind} ${namespace}`
      end = bench()
        .stores()
        .changes.subscribe((change) => told.push(change === undefined ? 'everything' : spell(change)))
    })
    afterEach(() => end())
    const heard = (line: string) => waitFor(() => told.includes(line), line)

    it('are told with kind and namespace', async () => {
      const { approvals, memoryProposals, sessions, usage, budgets, memories } = bench().stores()
      const expiresAt = new Date(bench().now().getTime() + 60_000)
      const task = { uid: 'u', name: 't' }
      await approvals.ask({ namespace: 'one', task, call: 'c', tool: 't', arguments: {}, message: 'm', expiresAt })
      await heard('Approval one')
      await memoryProposals.create({ id: 'p', namespace: 'two', type: 'memory', title: 't', content: 'c' })
      await heard('MemoryProposal two')
      await memories.create({ id: 'm', namespace: 'one', content: 'c', source: 'api', disabled: false } as never)
      await heard('Memory one')
      await sessions.ensure({ namespace: 'one', name: 's' }, { create: true, sessionType: 'chat' })
      await heard('Session one')
      const call = { provider: 'p', model: 'm', inputTokens: 1, outputTokens: 1, cachedTokens: 0, demo: false }
      const createdAt = bench().now().toISOString()
      await usage.record(['one', 'two'].map((namespace) => ({ ...call, id: namespace, namespace, createdAt })))
      await heard('Usage one')
      await heard('Usage two')
      await budgets.put({ name: 'b', spec: {} as never })
      await heard('Budget anywhere')
    })

    it('are told where they are, when a call names only an id of what another one has placed', async () => {
      const { scans } = bench().stores()
      const run = await scans.startRun({ uid: 'scan-1', namespace: 'two', name: 's' }, {
        id: 'r',
        trigger: 'manual',
      } as never)
      await heard('Scan two')
      told.length = 0
      await scans.changeRun('scan-1', run.id, {})
      await heard('Scan two')
      await scans.changeRun('scan-2', 'r', {})
      await heard('Scan anywhere')
    })

    it('are not told for what is only read, or is refused', async () => {
      const { memoryProposals, sessions } = bench().stores()
      await memoryProposals.list({ namespace: 'one', limit: 1 })
      await expect(memoryProposals.review({ namespace: 'one', id: 'none' }, {} as never)).rejects.toThrow()
      await sessions.ensure({ namespace: 'last', name: 's' }, { create: true, sessionType: 'chat' })
      await heard('Session last')
      expect(told).toEqual(['Session last'])
    })

    it('are told of once, however many come together', async () => {
      const { sessions } = bench().stores()
      const ensure = (at: number) =>
        sessions.ensure({ namespace: 'one', name: `s-${at}` }, { create: true, sessionType: 'chat' })
      await ensure(0)
      await heard('Session one')
      await Promise.all(Array.from({ length: 100 }, (_, at) => ensure(at)))
      await sessions.ensure({ namespace: 'last', name: 's' }, { create: true, sessionType: 'chat' })
      await heard('Session last')
      expect(told.filter((line) => line === 'Session one').length).toBeLessThan(20)
    })
  })
}
