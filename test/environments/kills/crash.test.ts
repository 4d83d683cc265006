// kill -9 of the service at moments all over its first work: nothing acknowledged is lost, nothing succeeds twice, no orphan stays.
import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { pause, waitFor } from '../../fixtures/time.ts'
import {
  findProcesses,
  getTask,
  makeFolder,
  removeFolder,
  type Service,
  startService,
} from '../../scenarios/service.ts'

const rounds = Number(process.env.CRASH_ROUNDS ?? 16)
const spanMs = 400
const begin = Math.random()

/**
 * When a round is killed. Multiples of the golden ratio, from a random point on, leave no wide gap: sixteen cover the span as
 * closely as fifty random moments, whose widest gap is a tenth of it.
 */
function momentOf(round: number): number {
  return ((begin + round / 1.618_033_988_75) % 1) * spanMs
}

const folder = makeFolder()
afterAll(() => removeFolder(folder))

const mark = `crash-${process.pid}`
const spec = { type: 'container', command: ['bash', '-c', `sleep 0.1; echo done # ${mark}`] }

/** Creates tasks until the service dies; the names that were acknowledged. */
async function submitUntilDeath(service: Service, round: number): Promise<string[]> {
  const acknowledged: string[] = []
  for (let index = 0; index < 40; index += 1) {
    const name = `r${round}-t${index}`
    try {
      const answer = await service.call('POST', '/api/v1/tasks', { metadata: { name }, spec })
      if (answer.status === 201) acknowledged.push(name)
    } catch {
      break
    }
  }
  return acknowledged
}

type TimelineItem = { type: string; phase?: string }

describe('kill -9 of the service', () => {
  it(`loses nothing over ${rounds} rounds with tasks in flight [TASK-043, TASK-062]`, async () => {
    const acknowledged: string[] = []
    const finishedBefore = new Map<string, string>()
    for (let round = 0; round < rounds; round += 1) {
      const service = await startService({ folder, flags: ['--max-concurrent-tasks', '4'] })
      if (round % 4 === 3) await noteFinished(service, finishedBefore, acknowledged)
      const dying = pause(momentOf(round)).then(() => service.kill())
      acknowledged.push(...(await submitUntilDeath(service, round)))
      await dying
    }
    const service = await startService({ folder, flags: ['--max-concurrent-tasks', '8'] })
    expect(acknowledged.length).toBeGreaterThan(0)
    for (const name of acknowledged) await expectFinished(service, name, finishedBefore.get(name))
    await waitFor(() => findProcesses(mark).length === 0, 'every process of the tasks to be gone')
    await service.stop()
    expect(findProcesses(folder)).toEqual([])
  }, 600_000)
})

/** Results that exist now must be the same at the end. */
async function noteFinished(service: Service, finished: Map<string, string>, names: string[]): Promise<void> {
  for (const name of names.slice(-5)) {
    const task = await getTask(service, name)
    if (task.status?.phase === 'Succeeded') finished.set(name, task.status.completionTime ?? '')
  }
}

async function expectFinished(service: Service, name: string, finishedBefore: string | undefined): Promise<void> {
  const task = await waitFor(async () => {
    const current = await getTask(service, name)
    return ['Succeeded', 'Failed'].includes(current.status?.phase ?? '') ? current : undefined
  }, `${name} to finish`)
  const timeline = await service.call<{ items: TimelineItem[] }>('GET', `/api/v1/tasks/${name}/events`)
  const successes = timeline.body.items.filter((event) => event.phase === 'Succeeded')
  if (task.status?.phase === 'Failed') expect(task.status.message).toMatch(/interrupt/i)
  else expect(successes).toHaveLength(1)
  if (task.status?.phase === 'Succeeded') {
    const result = await service.call<{ result: string }>('GET', `/api/v1/tasks/${name}/result`)
    expect(result.body.result).toBe('done\n')
  }
  if (finishedBefore !== undefined) expect(task.status?.completionTime).toBe(finishedBefore)
}

describe('the orphan check itself', () => {
  it('finds processes by their command line', () => {
    expect(readFileSync(`/proc/${process.pid}/cmdline`, 'utf8')).not.toBe('')
  })
})
