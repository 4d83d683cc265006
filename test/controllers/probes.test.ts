// Parked tasks that wait for something outside: the service asks, ever less often, and no worker runs meanwhile.
import { afterEach, expect, it } from 'vitest'
import type { ParkWait } from '../../src/contract/api/tasks/parking.ts'
import type { Probe } from '../../src/ports/tasks/parking.ts'
import { waitFor } from '../fixtures/time.ts'
import { type Bench, openBench } from './bench.ts'

let bench: Bench
afterEach(() => bench.dispose())

const hour = 3_600_000
const checks: Omit<Extract<ParkWait, { kind: 'probe' }>, 'until'> = {
  kind: 'probe',
  call: '1-c',
  what: 'the checks of pull request 7',
  probe: 'checks',
  args: { number: 7 },
}

/** A task that has parked; `asked` counts what its probe was asked. */
async function parkFor(answer: (asked: number) => ReturnType<Probe>, more: Partial<ParkWait> = {}) {
  const asked: object[] = []
  const probe: Probe = ({ task, args }) => {
    asked.push({ task: task.metadata.name, args })
    return answer(asked.length)
  }
  bench = await openBench({ probes: { checks: probe } })
  await bench.create('Provider', 'default', { type: 'demo' })
  await bench.submitTask('review', { type: 'ai', command: undefined, prompt: 'review' })
  const { metadata } = await bench.running('review')
  const until = new Date(bench.clock.now().getTime() + hour).toISOString()
  await bench.records.parkings.park({ taskUid: metadata.uid, attempt: 1 }, [{ ...checks, until, ...more } as ParkWait])
  bench.workloads.fail('review', 'ExitCode', 'the run waits', 'Parked')
  return {
    asked,
    parked: () => isParked('True', 'is parked'),
    goesOn: () => isParked('False', 'goes on'),
    askedTimes: (times: number) => waitFor(() => asked.length >= times || undefined, `asked ${times} times`),
  }
}

const isParked = (status: string, what: string) =>
  bench.taskWhen(
    'review',
    (task) => task.status?.conditions?.find(({ type }) => type === 'Parked')?.status === status,
    what,
  )

it('a task goes on once its probe says that it has come, and no worker runs before', async () => {
  const { asked, parked, goesOn, askedTimes } = await parkFor(async (times) => (times < 3 ? 'waiting' : 'arrived'))
  const { status } = await parked()
  expect(status?.conditions).toContainEqual(expect.objectContaining({ type: 'Parked', reason: 'WaitingForProbe' }))
  expect(status?.message).toContain('waits for the checks of pull request 7')
  await askedTimes(1)
  await bench.jump(9_000)
  expect(bench.workloads.running()).toEqual([])
  await bench.jump(1_000)
  await askedTimes(2)
  await bench.jump(15_000)
  expect((await goesOn()).status?.attempts).toBe(2)
  expect(asked).toEqual(Array.from({ length: 3 }, () => ({ task: 'review', args: { number: 7 } })))
})

it('a probe that fails is asked again, and the wait ends in time', async () => {
  const { askedTimes, goesOn } = await parkFor(async () => {
    throw new Error('the code host is down')
  })
  await askedTimes(1)
  await bench.jump(10_000)
  await askedTimes(2)
  expect(bench.lines).toContainEqual(
    expect.objectContaining({ fields: expect.objectContaining({ error: 'the code host is down' }) }),
  )
  await bench.jump(hour)
  expect((await goesOn()).status?.attempts).toBe(2)
})

it('a service that starts asks anew, about what was stored', async () => {
  let hasCome = false
  const { parked, askedTimes, goesOn } = await parkFor(async () => (hasCome ? 'arrived' : 'waiting'))
  await parked()
  await askedTimes(1)
  hasCome = true
  await bench.crash()
  expect((await goesOn()).status?.attempts).toBe(2)
})

it('a probe that this version does not have lets the task go on, whose tool can say so', async () => {
  const { goesOn } = await parkFor(async () => 'waiting', { probe: 'of-another-version' })
  expect((await goesOn()).status?.attempts).toBe(2)
})

it('nothing is asked for a task that was cancelled', async () => {
  const { asked, askedTimes, parked } = await parkFor(async () => 'waiting')
  await parked()
  await askedTimes(1)
  const task = await bench.getTask('review')
  if (task === undefined) throw new Error('no task')
  const annotations = { ...task.metadata.annotations, 'svc.ai/cancel-requested': 'enough' }
  await bench.resources.update('Task', { ...task, metadata: { ...task.metadata, annotations } })
  await bench.phase('review', 'Cancelled')
  await bench.jump(hour)
  await bench.submitTask('later')
  await bench.running('later')
  expect(asked).toHaveLength(1)
})
