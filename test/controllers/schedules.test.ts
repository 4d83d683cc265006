// Tasks with a schedule: a child at each tick, overlap, deadlines, history, suspension, restarts.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { apiVersion } from '../../src/contract/kinds/resources/metadata.ts'
import { runAnnotation } from '../../src/rules/tasks/schedule.ts'
import { waitFor } from '../fixtures/time.ts'
import { type Bench, openBench } from './bench.ts'

let bench: Bench
beforeEach(async () => {
  bench = await openBench()
})
afterEach(() => bench.dispose())

const minute = 60_000

async function listRuns(): Promise<string[]> {
  const all = await bench.resources.list('Task', {})
  const items = all.items.filter(({ metadata }) => metadata.ownerReferences?.[0]?.name === 'nightly')
  return items.map((task) => task.metadata.name)
}
const nextAt = (time: string) =>
  bench.taskWhen('nightly', ({ status }) => status?.nextScheduleTime === time, `next at ${time}`)
const eventTypes = async () => (await bench.eventsOf('nightly')).map((event) => event.type)

/** `nightly-<unix seconds>` for a minute of the bench's hour. */
const runName = (minutes: number) => `nightly-${Date.parse('2026-03-01T12:00:00Z') / 1000 + minutes * 60}`

async function finishRun(name: string): Promise<void> {
  await bench.running(name)
  bench.workloads.succeed(name)
  await bench.phase(name, 'Succeeded')
}

describe('a task with a schedule', () => {
  it('is Scheduled and creates a child at each tick [TASK-036]', async () => {
    await bench.submitTask('nightly', { schedule: '*/5 * * * *', priority: 700, timeout: '1m' })
    const scheduled = await bench.phase('nightly', 'Scheduled')
    expect(scheduled.status).toMatchObject({
      nextScheduleTime: '2026-03-01T12:05:00.000Z',
      message: 'next run at 2026-03-01T12:05:00.000Z',
    })
    expect(await listRuns()).toEqual([])
    await bench.jump(5 * minute)
    const run = await bench.running(runName(5))
    expect(run.spec).toMatchObject({ priority: 700, timeout: '1m' })
    expect(run.spec.schedule).toBeUndefined()
    expect(run.metadata.ownerReferences).toMatchObject([{ name: 'nightly', uid: scheduled.metadata.uid }])
    const after = await nextAt('2026-03-01T12:10:00.000Z')
    expect(after.status).toMatchObject({ phase: 'Scheduled', lastScheduleTime: '2026-03-01T12:05:00.000Z' })
    expect(await eventTypes()).toContain('ScheduledRun')
  })

  it('creates a requested run once, even while it is suspended and another run is active', async () => {
    await bench.submitTask('nightly', { schedule: '*/5 * * * *' })
    await bench.phase('nightly', 'Scheduled')
    await bench.jump(5 * minute)
    await bench.running(runName(5))
    const task = await nextAt('2026-03-01T12:10:00.000Z')
    await bench.jump(minute)
    const asked = { ...task.metadata.annotations, [runAnnotation]: '2026-03-01T12:06:00.000Z' }
    const spec = { ...task.spec, suspend: true }
    await bench.resources.update('Task', { ...task, metadata: { ...task.metadata, annotations: asked }, spec })
    await bench.running(runName(6))
    const after = await bench.taskWhen(
      'nightly',
      ({ metadata }) => metadata.annotations?.[runAnnotation] === undefined,
      'the ask to be done',
    )
    expect(after.status?.lastScheduleTime).toBe('2026-03-01T12:05:00.000Z')
    expect(await listRuns()).toEqual([runName(5), runName(6)])
  })

  it('skips a tick under Forbid while a run is active, and not under Allow', async () => {
    await bench.submitTask('nightly', { schedule: '*/5 * * * *' })
    await bench.phase('nightly', 'Scheduled')
    await bench.jump(5 * minute)
    await bench.running(runName(5))
    await nextAt('2026-03-01T12:10:00.000Z')
    await bench.jump(5 * minute)
    await nextAt('2026-03-01T12:15:00.000Z')
    expect(await listRuns()).toEqual([runName(5)])
    expect(await eventTypes()).toContain('RunSkipped')
    const task = await bench.getTask('nightly')
    if (task === undefined) throw new Error('gone')
    await bench.resources.update('Task', { ...task, spec: { ...task.spec, concurrencyPolicy: 'Allow' } })
    await bench.jump(5 * minute)
    await bench.running(runName(15))
    expect(bench.workloads.running()).toEqual([runName(5), runName(15)])
  })

  it('skips a tick that was missed by more than the deadline, and says so', async () => {
    await bench.submitTask('nightly', { schedule: '*/5 * * * *' })
    await bench.phase('nightly', 'Scheduled')
    await bench.pause()
    await bench.jump(7 * minute)
    bench.resume()
    const next = await nextAt('2026-03-01T12:10:00.000Z')
    expect(next.status?.lastScheduleTime).toBe('2026-03-01T12:05:00.000Z')
    expect(await listRuns()).toEqual([])
    expect(await eventTypes()).toContain('MissedSchedule')
  })

  it('creates one child for a tick, even when it dies between creating the child and recording it', async () => {
    await bench.submitTask('nightly', { schedule: '*/5 * * * *' })
    const scheduled = await bench.phase('nightly', 'Scheduled')
    await bench.pause()
    await bench.submitTask(
      runName(5),
      {},
      {
        ownerReferences: [{ apiVersion, kind: 'Task', name: 'nightly', uid: scheduled.metadata.uid, controller: true }],
      },
    )
    await bench.jump(5 * minute)
    bench.resume()
    await nextAt('2026-03-01T12:10:00.000Z')
    expect(await listRuns()).toEqual([runName(5)])
    expect(scheduled.status?.lastScheduleTime).toBeUndefined()
  })

  it('keeps as many ended runs as its history limits say', async () => {
    await bench.submitTask('nightly', { schedule: '*/5 * * * *', successfulRunsHistoryLimit: 1 })
    await bench.phase('nightly', 'Scheduled')
    for (const at of [5, 10, 15]) {
      await bench.jump(5 * minute)
      await finishRun(runName(at))
      await bench.jump(200)
    }
    await waitFor(async () => ((await listRuns()).length === 1 ? true : undefined), 'old runs are gone')
    expect(await listRuns()).toEqual([runName(15)])
  })

  it('creates no runs while suspended, and continues afterwards', async () => {
    await bench.submitTask('nightly', { schedule: '@every 10m', suspend: true })
    const resting = await bench.phase('nightly', 'Scheduled')
    expect(resting.status?.conditions).toMatchObject([{ type: 'Suspended', status: 'True' }])
    expect(resting.status?.nextScheduleTime).toBeUndefined()
    await bench.jump(9 * minute)
    await bench.resources.update('Task', { ...resting, spec: { ...resting.spec, suspend: false } })
    const going = await nextAt('2026-03-01T12:10:00.000Z')
    expect(going.status?.conditions).toEqual([])
    await bench.jump(minute)
    await bench.running(runName(10))
  })

  it('has its runs deleted with it', async () => {
    await bench.submitTask('nightly', { schedule: '*/5 * * * *' })
    await bench.phase('nightly', 'Scheduled')
    await bench.jump(5 * minute)
    await bench.running(runName(5))
    await bench.resources.remove('Task', { namespace: 'default', name: 'nightly' })
    await waitFor(async () => ((await listRuns()).length === 0 ? true : undefined), 'the runs are gone')
    expect(bench.workloads.stopped).toEqual([runName(5)])
  })
})
