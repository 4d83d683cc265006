// Families of tasks that coordinate, as large as they may become: over the real stores and use cases, with played workers.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { waitFor } from '../fixtures/time.ts'
import { type Bench, openBench } from './bench.ts'
import { type FamilyPlayer, type Plan, playFamily } from './family-player.ts'

const mostAtOnce = 4

let bench: Bench
let player: FamilyPlayer
beforeEach(async () => {
  bench = await openBench({ settings: { maxTasksPerNamespace: mostAtOnce } })
  await bench.create('Provider', 'default', { type: 'demo' })
})
afterEach(async () => {
  await player.stop()
  await bench.dispose()
})

async function makeCoordinator(name: string, allowed: string[]): Promise<void> {
  const allowedAgents = allowed.map((one) => ({ name: one }))
  await bench.create('Agent', name, { coordination: { enabled: true, allowedAgents, maxDepth: 3 } })
}

const start = (name: string, agent: string) =>
  bench.submitTask(name, { type: 'ai', command: undefined, prompt: 'lead', agentRef: { name: agent } })

async function listFamily() {
  const { items } = await bench.resources.list('Task', { namespace: 'default' })
  return items
}

/** Ten children, ten of each of those, and one of each of these. */
function planWide(agent: string, depth: number): Plan | undefined {
  if (agent === 'leaf') return undefined
  return depth < 2 ? { agent: 'lead', children: 10 } : { agent: 'leaf', children: 1 }
}

describe('210 tasks below one coordinator', () => {
  it('end in four places, with the service killed in between, and each is heard once', async () => {
    await bench.create('Agent', 'leaf', {})
    await makeCoordinator('lead', ['lead', 'leaf'])
    player = playFamily(bench, planWide)
    await start('root', 'lead')
    await waitFor(() => player.answered() > 60, 'a third of them')
    await bench.crash()
    const root = await bench.taskWhen('root', ({ status }) => status?.completionTime !== undefined, 'ends')
    expect(root.status?.phase).toBe('Succeeded')
    const family = await listFamily()
    expect(family.every(({ status }) => status?.phase === 'Succeeded')).toBe(true)
    expect(family).toHaveLength(1 + 10 + 100 + 100)
    expect(player.most()).toBeLessThanOrEqual(mostAtOnce)
    expect((await bench.readResult('root'))?.match(/Succeeded done/g)).toHaveLength(100)
  })
})

describe('a coordinator that forks without end', () => {
  it('is stopped by the depth of its agent, and its family ends', async () => {
    await makeCoordinator('fork', ['fork'])
    player = playFamily(bench, () => ({ agent: 'fork', children: 2 }))
    await start('fork', 'fork')
    const root = await bench.taskWhen('fork', ({ status }) => status?.completionTime !== undefined, 'ends')
    expect(root.status?.phase).toBe('Succeeded')
    const family = await listFamily()
    expect(family).toHaveLength(1 + 2 + 4 + 8)
    expect(family.every(({ status }) => status?.phase === 'Succeeded')).toBe(true)
    expect(player.refused).toHaveLength(8)
    expect(player.refused[0]).toContain('coordination.maxDepth is 3: do the work yourself')
  })
})
