// Parked tasks over the real stores: when they go on, and what a kill at any moment does to them.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ParkWait } from '../../src/contract/api/tasks/parking.ts'
import type { Task } from '../../src/contract/kinds/tasks/task.ts'
import { type Bench, openBench } from './bench.ts'

let bench: Bench
beforeEach(async () => {
  bench = await openBench()
  await bench.create('Provider', 'default', { type: 'demo' })
})
afterEach(() => bench.dispose())

const isParked = ({ status }: Task) =>
  status?.phase === 'Running' && status.conditions?.some(({ type, status: is }) => type === 'Parked' && is === 'True')

async function submitParent(spec: object = {}): Promise<Task> {
  await bench.submitTask('lead', { type: 'ai', command: undefined, prompt: 'lead', ...spec })
  return bench.running('lead')
}

async function submitChild(name: string, { metadata: { uid } }: Task): Promise<Task> {
  const owner = { apiVersion: 'core.svc.ai/v1alpha1', kind: 'Task', name: 'lead', uid, controller: true }
  const labels = { 'svc.ai/coordinator': 'true', 'svc.ai/parent-task': 'lead' }
  await bench.submitTask(name, {}, { ownerReferences: [owner], labels })
  return bench.running(name)
}

async function storeWait(parent: Task, children: Task[], attempt = 1): Promise<void> {
  const tasks = children.map(({ metadata: { name, uid } }) => ({ name, uid }))
  const wait: ParkWait = { kind: 'tasks', call: '0-1-w', tasks, until: '2026-03-01T14:00:00.000Z' }
  await bench.records.parkings.park({ taskUid: parent.metadata.uid, attempt }, [wait])
}

async function park(parent: Task, children: Task[]): Promise<void> {
  await storeWait(parent, children)
  bench.workloads.fail('lead', 'ExitCode', 'the run waits', 'Parked')
  await bench.taskWhen('lead', (task) => isParked(task) === true, 'is parked')
}

const goesOn = (attempts: number) =>
  bench.taskWhen('lead', (task) => !isParked(task) && task.status?.attempts === attempts, `goes on as ${attempts}`)

describe('a parked task', () => {
  it('goes on at once when the last of its children has ended, without any time passing', async () => {
    const parent = await submitParent()
    const children = [await submitChild('one', parent), await submitChild('two', parent)]
    await park(parent, children)
    bench.workloads.succeed('two')
    await bench.phase('two', 'Succeeded')
    bench.workloads.fail('one')
    expect((await goesOn(2)).status).toMatchObject({ parkings: 1, phase: 'Running' })
  })

  it('goes on at once when the child that it waits for is deleted', async () => {
    const parent = await submitParent()
    const child = await submitChild('one', parent)
    await park(parent, [child])
    await bench.resources.remove('Task', child.metadata, {})
    await goesOn(2)
  })

  it('keeps saying which memories its conversation began with', async () => {
    const { memories } = bench.records
    const note = (content: string) =>
      memories.create({
        id: bench.ids.next('mem'),
        namespace: 'default',
        source: 'manual',
        content,
        tags: [],
        disabled: false,
      })
    const first = await note('The zebra archive opens on Monday.')
    const parent = await submitParent({ prompt: 'When does the zebra archive open?' })
    expect(parent.status?.memories).toMatchObject([{ id: first.id }])
    const child = await submitChild('one', parent)
    await park(parent, [child])
    const later = await note('The zebra archive opens at nine.')
    bench.workloads.succeed('one')
    expect((await goesOn(2)).status?.memories).toEqual(parent.status?.memories)
    expect((await memories.get({ namespace: 'default', id: later.id }))?.recalledCount).toBe(0)
  })
})

describe('a coordinator that is killed as it parks', () => {
  it('is parked when what it waits for was stored, and that is no loss', async () => {
    const parent = await submitParent()
    const child = await submitChild('one', parent)
    await storeWait(parent, [child])
    bench.workloads.lose('lead')
    await bench.jump(30_000)
    const parked = await bench.taskWhen('lead', (task) => isParked(task) === true, 'is parked')
    expect(parked.status).toMatchObject({ attempts: 1, parkings: 1 })
    expect(parked.status?.interruptions ?? 0).toBe(0)
    bench.workloads.succeed('one')
    await goesOn(2)
  })

  it('starts again when it was not stored yet, and parks then', async () => {
    const parent = await submitParent()
    const child = await submitChild('one', parent)
    bench.workloads.lose('lead')
    await bench.jump(30_000)
    expect((await goesOn(2)).status).toMatchObject({ interruptions: 1 })
    await storeWait(parent, [child], 2)
    bench.workloads.fail('lead', 'ExitCode', 'the run waits', 'Parked')
    await bench.taskWhen('lead', (task) => isParked(task) === true, 'is parked')
    bench.workloads.succeed('one')
    expect((await goesOn(3)).status).toMatchObject({ parkings: 1, interruptions: 1 })
  })

  it('is parked when the service was killed with it, whose next one finds what was stored', async () => {
    const parent = await submitParent()
    const child = await submitChild('one', parent)
    await storeWait(parent, [child])
    await bench.crash()
    const parked = await bench.taskWhen('lead', (task) => isParked(task) === true, 'is parked')
    expect(parked.status?.attempts).toBe(1)
    await bench.taskWhen('one', ({ status }) => status?.attempts === 2, 'runs again')
    await bench.running('one')
    bench.workloads.succeed('one')
    await goesOn(2)
  })
})
