// A task that comes back without its status, as from Velero or GitOps, had ended before: it never runs again.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { endedAnnotation, restoredAttemptAnnotation } from '../../src/rules/tasks/end-mark.ts'
import { waitFor } from '../fixtures/time.ts'
import { type Bench, openBench } from './bench.ts'

let bench: Bench
beforeEach(async () => {
  bench = await openBench({ settings: { marksEnds: true } })
})
afterEach(() => bench.dispose())

async function annotate(name: string, annotations: Record<string, string>) {
  const task = await bench.getTask(name)
  if (task === undefined) throw new Error('no such task')
  await bench.resources.update('Task', { ...task, metadata: { ...task.metadata, annotations } })
}

/** Makes the task anew of its metadata and spec alone; returns the new one's uid. */
async function restoreWithoutStatus(name: string): Promise<string> {
  const task = await bench.getTask(name)
  if (task === undefined) throw new Error('no such task')
  await bench.pause()
  const released = await bench.resources.update('Task', { ...task, metadata: { ...task.metadata, finalizers: [] } })
  await bench.resources.remove('Task', released.metadata)
  const { namespace, labels, annotations } = task.metadata
  const copy = { metadata: { namespace, name, labels, annotations }, spec: task.spec }
  const created = await bench.resources.create('Task', copy as never)
  bench.resume()
  return created.metadata.uid
}

describe('a task that is restored without its status', () => {
  it.each(['Succeeded', 'Failed'] as const)('is %s again, and starts nothing', async (phase) => {
    await bench.submitTask('once')
    await bench.running('once')
    await bench.jump(2000)
    if (phase === 'Succeeded') bench.workloads.succeed('once')
    else bench.workloads.fail('once')
    const { status } = await bench.phase('once', phase)
    const uid = await restoreWithoutStatus('once')
    const restored = await bench.phase('once', phase)
    expect(restored.metadata.uid).toBe(uid)
    expect(restored.status).toMatchObject({ completionTime: status?.completionTime, resultRef: { available: false } })
    expect(restored.status?.message).toContain('restored without its status')
    // Another one starts, and so the first would have.
    await bench.submitTask('new')
    await bench.running('new')
    expect(bench.workloads.started.map(({ taskName }) => taskName)).toEqual(['once', 'new'])
  })

  it('runs when its mark says nothing that can be read', async () => {
    await bench.pause()
    await bench.submitTask('odd')
    await annotate('odd', { [endedAnnotation]: 'Finished yesterday' })
    bench.resume()
    await bench.running('odd')
  })
})

describe('the mark of an end', () => {
  it('is given to a task that ended before there were marks', async () => {
    await bench.submitTask('old')
    await bench.running('old')
    bench.workloads.succeed('old')
    const { status } = await bench.phase('old', 'Succeeded')
    await bench.pause()
    await annotate('old', {})
    bench.resume()
    const mark = await waitFor(
      async () => (await bench.getTask('old'))?.metadata.annotations?.[endedAnnotation],
      'the mark is there',
    )
    expect(mark).toBe(`Succeeded ${status?.completionTime}`)
  })
})

describe('what ran when a backup was taken', () => {
  it('fails as interrupted in place of running once more', async () => {
    await bench.submitTask('ran')
    await bench.running('ran')
    await bench.pause()
    await annotate('ran', { [restoredAttemptAnnotation]: '1' })
    bench.workloads.lose('ran')
    bench.resume()
    const { status } = await bench.phase('ran', 'Failed')
    expect(status).toMatchObject({ failureReason: 'Interrupted', attempts: 1 })
    expect(bench.workloads.started).toHaveLength(1)
  })
})
