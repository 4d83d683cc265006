// The life of a task from creation to its end, over the real store.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SvcError } from '../../src/errors.ts'
import { cancelAnnotation } from '../../src/rules/tasks/decision.ts'
import { waitFor } from '../fixtures/time.ts'
import { type Bench, openBench } from './bench.ts'

let bench: Bench
beforeEach(async () => {
  bench = await openBench()
})
afterEach(() => bench.dispose())

async function cancel(name: string, reason: string) {
  const task = await bench.getTask(name)
  if (task === undefined) throw new Error('no such task')
  const annotations = { ...task.metadata.annotations, [cancelAnnotation]: reason }
  await bench.resources.update('Task', { ...task, metadata: { ...task.metadata, annotations } })
}

describe('a command task', () => {
  it('runs, stores its output as the result and succeeds [TASK-036] [TASK-046]', async () => {
    await bench.submitTask('hello', { command: ['echo', 'hi'], timeout: '1m' })
    const running = await bench.running('hello')
    expect(running.status).toMatchObject({ attempts: 1, startTime: '2026-03-01T12:00:00.000Z' })
    expect(running.status?.conditions).toMatchObject([{ type: 'JobCreated', status: 'True' }])
    const { run, limits } = bench.workloads.specOf('hello')
    expect(run).toMatchObject({ kind: 'command', command: ['echo', 'hi'], env: { SVC_TASK_NAME: 'hello' } })
    expect(limits).toEqual({ cpu: 1, memoryBytes: 2 * 1024 ** 3, diskBytes: 2 * 1024 ** 3, deadlineSeconds: 60 })
    await bench.jump(2000)
    bench.workloads.succeed('hello', 'hi\n')
    const done = await bench.phase('hello', 'Succeeded')
    expect(done.status).toMatchObject({
      completionTime: '2026-03-01T12:00:02.000Z',
      resultRef: { available: true },
      message: 'task completed successfully',
      conditions: [{ type: 'JobCreated' }, { type: 'Complete', status: 'True', reason: 'TaskSucceeded' }],
    })
    const result = await bench.records.results.get(done.metadata.uid)
    expect(result?.info).toMatchObject({ attempt: 1, size: 3 })
  })

  it('records every transition as an event, in order [TASK-047]', async () => {
    await bench.submitTask('hello')
    await bench.running('hello')
    bench.workloads.succeed('hello', 'hi')
    await bench.phase('hello', 'Succeeded')
    const events = await bench.eventsOf('hello')
    expect(events.map(({ seq, type, phase, attempt }) => [seq, type, phase, attempt])).toEqual([
      [1, 'PhaseChanged', 'Pending', 0],
      [2, 'PhaseChanged', 'Running', 1],
      [3, 'PhaseChanged', 'Succeeded', 1],
    ])
  })

  it('costs two status writes between creation and end', async () => {
    const task = await bench.submitTask('hello')
    const before = Number(task.metadata.resourceVersion)
    await bench.running('hello')
    bench.workloads.succeed('hello', 'hi')
    const done = await bench.phase('hello', 'Succeeded')
    expect(Number(done.metadata.resourceVersion) - before).toBe(2)
  })

  it('does not end before its event and result are stored [TASK-062]', async () => {
    const { events, results } = bench.records
    const [append, put] = [events.append, results.put]
    const tried: string[] = []
    events.append = async (event) => {
      if (event.phase !== 'Succeeded') return await append(event)
      tried.push('event')
      throw new SvcError('StorageFull', 'the disk is full')
    }
    results.put = async () => {
      tried.push('result')
      throw new SvcError('StorageFull', 'the disk is full')
    }
    await bench.submitTask('full')
    await bench.running('full')
    bench.workloads.succeed('full', 'hi')
    await waitFor(() => tried.find((what) => what === 'result'), 'the result was tried')
    expect((await bench.getTask('full'))?.status?.phase).toBe('Running')
    results.put = put
    await waitFor(async () => {
      await bench.jump(60_000)
      return tried.find((what) => what === 'event')
    }, 'the event was tried')
    expect((await bench.getTask('full'))?.status?.phase).toBe('Running')
    events.append = append
    await waitFor(async () => {
      await bench.jump(60_000)
      return (await bench.getTask('full'))?.status?.phase === 'Succeeded' ? true : undefined
    }, 'it has ended')
    expect(bench.workloads.started).toHaveLength(1)
  })

  it('has no result when it wrote nothing', async () => {
    await bench.submitTask('quiet')
    await bench.running('quiet')
    bench.workloads.succeed('quiet')
    expect((await bench.phase('quiet', 'Succeeded')).status?.resultRef).toEqual({ available: false })
  })

  it('has its secrets as environment variables, whose values are removed from its output', async () => {
    await bench.secrets.create({ namespace: 'default', name: 'db', stringData: { password: 'hunter22' } })
    const fromSecret = (name: string, key: string, optional?: boolean) => ({
      name,
      valueFrom: { secretKeyRef: { name: 'db', key, ...(optional !== undefined && { optional }) } },
    })
    const env = [{ name: 'PLAIN', value: '1' }, fromSecret('PASSWORD', 'password'), fromSecret('NONE', 'none', true)]
    await bench.submitTask('hello', { env })
    await bench.running('hello')
    const { run } = bench.workloads.specOf('hello')
    expect(run).toMatchObject({ env: { PLAIN: '1', PASSWORD: 'hunter22' }, redact: ['hunter22'] })
    expect(run.kind === 'command' && 'NONE' in run.env).toBe(false)
    const [, , ...rest] = await bench.eventsOf('hello')
    expect(JSON.stringify([await bench.getTask('hello'), rest])).not.toContain('hunter22')
  })
})

describe('a task that fails', () => {
  it('fails with its cause when it may not be repeated', async () => {
    await bench.submitTask('bad')
    await bench.running('bad')
    bench.workloads.fail('bad')
    const failed = await bench.phase('bad', 'Failed')
    expect(failed.status).toMatchObject({
      message: 'the command ended with exit code 3',
      failureReason: 'ExitCode',
      resultRef: { available: false },
    })
    expect(failed.status?.conditions?.at(-1)).toMatchObject({ type: 'Complete', status: 'False', reason: 'TaskFailed' })
  })

  it('shows the cause that the worker reported in its timeline and its condition', async () => {
    await bench.submitTask('keyless', { retryPolicy: { maxRetries: 1, initialDelay: '0s' } })
    await bench.running('keyless')
    bench.workloads.fail('keyless', 'ExitCode', 'too busy', 'ProviderOverloaded')
    await bench.taskWhen('keyless', ({ status }) => status?.attempts === 2, 'runs again')
    await bench.running('keyless')
    bench.workloads.fail('keyless', 'ExitCode', 'set a key', 'MissingApiKey')
    const failed = await bench.phase('keyless', 'Failed')
    const complete = { type: 'Complete', status: 'False', reason: 'MissingApiKey' }
    expect(failed.status?.conditions?.at(-1)).toMatchObject(complete)
    const reasons = (await bench.eventsOf('keyless')).flatMap(({ reason }) => reason ?? [])
    expect(reasons).toEqual(['ProviderOverloaded', 'MissingApiKey'])
  })

  it('is repeated after its delay and not before, even when it is changed meanwhile [TASK-042]', async () => {
    await bench.submitTask('flaky', { retryPolicy: { maxRetries: 1, initialDelay: '20s' } })
    await bench.running('flaky')
    bench.workloads.fail('flaky')
    const waiting = await bench.phase('flaky', 'Pending')
    // Half of 20 s: the bench's random number is 0.5.
    expect(waiting.status).toMatchObject({ nextRetryTime: '2026-03-01T12:00:10.000Z', queuedReason: 'RetryDelay' })
    const labels = { touched: 'yes' }
    await bench.resources.update('Task', { ...waiting, metadata: { ...waiting.metadata, labels } })
    await bench.jump(9000)
    await bench.submitTask('other')
    await bench.running('other')
    expect((await bench.getTask('flaky'))?.status?.phase).toBe('Pending')
    await bench.jump(1000)
    const again = await bench.running('flaky')
    expect(again.status).toMatchObject({ attempts: 2, startTime: '2026-03-01T12:00:10.000Z' })
    expect(again.status?.nextRetryTime).toBeUndefined()
    bench.workloads.fail('flaky')
    expect((await bench.phase('flaky', 'Failed')).status?.message).toMatch(/exit code 3 \(after 2 runs\)/)
    expect((await bench.eventsOf('flaky')).map((event) => event.type)).toContain('RetryScheduled')
  })

  it('shows no credential that its error message contains', async () => {
    await bench.submitTask('leaky')
    await bench.running('leaky')
    bench.workloads.fail('leaky', 'ExitCode', 'refused: Bearer abcdefghijklmnop')
    const failed = await bench.phase('leaky', 'Failed')
    const told = JSON.stringify([failed.status?.message, await bench.eventsOf('leaky')])
    expect(told).toContain('[REDACTED]')
    expect(told).not.toContain('abcdefghijklmnop')
  })

  it('times out, is stopped and is not repeated', async () => {
    await bench.submitTask('slow', { timeout: '1m', retryPolicy: { maxRetries: 3 } })
    await bench.running('slow')
    await bench.jump(59_000)
    expect((await bench.getTask('slow'))?.status?.phase).toBe('Running')
    await bench.jump(1000)
    const failed = await bench.phase('slow', 'Failed')
    expect(failed.status?.message).toMatch(/^task timed out after 1m/)
    expect(bench.workloads.stopped).toEqual(['slow'])
  })

  it('fails with the reason when it cannot be started', async () => {
    bench.workloads.refuseNext(new SvcError('NotConfigured', 'no container engine; start Podman or Docker'))
    await bench.submitTask('image', { image: 'alpine' })
    expect((await bench.phase('image', 'Failed')).status?.message).toBe('no container engine; start Podman or Docker')
  })

  it('waits when there turns out to be no room, without counting the attempt', async () => {
    bench.workloads.refuseNext(new SvcError('Unavailable', 'all places are taken'))
    await bench.submitTask('unlucky')
    const waiting = await bench.phase('unlucky', 'Pending')
    expect(waiting.status).toMatchObject({ attempts: 0, queuedReason: 'Capacity' })
    await bench.jump(1000)
    expect((await bench.running('unlucky')).status?.attempts).toBe(1)
  })
})

describe('an interrupted attempt', () => {
  it('is closed and followed by another one, without counting as a retry, three times at most [TASK-043]', async () => {
    await bench.submitTask('stubborn')
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      await bench.taskWhen(
        'stubborn',
        ({ status }) => status?.phase === 'Running' && status.attempts === attempt,
        'runs',
      )
      await bench.running('stubborn')
      await bench.crash()
    }
    const failed = await bench.phase('stubborn', 'Failed')
    expect(failed.status).toMatchObject({ attempts: 4, interruptions: 3 })
    expect(failed.status?.message).toMatch(/interrupted/)
    const interrupted = (await bench.eventsOf('stubborn')).filter((event) => event.type === 'Interrupted')
    expect(interrupted.map((event) => event.attempt)).toEqual([1, 2, 3])
  })

  it('is not repeated when its result is stored: the task has succeeded [TASK-043]', async () => {
    await bench.create('Provider', 'default', { type: 'demo' })
    await bench.submitTask('done', { type: 'ai', command: undefined, prompt: 'x' })
    await bench.running('done')
    await bench.putResult('done', 'the answer')
    await bench.crash()
    const done = await bench.phase('done', 'Succeeded')
    expect(done.status).toMatchObject({ attempts: 1, resultRef: { available: true } })
    expect(bench.workloads.started).toHaveLength(1)
  })
})

describe('cancellation', () => {
  it('stops a running task and records the reason [TASK-037]', async () => {
    await bench.submitTask('long')
    await bench.running('long')
    await cancel('long', 'no longer needed')
    const cancelled = await bench.phase('long', 'Cancelled')
    expect(cancelled.status?.message).toBe('cancelled: no longer needed')
    expect(cancelled.status?.conditions?.at(-1)).toMatchObject({ status: 'False', reason: 'TaskCancelled' })
    expect(bench.workloads.stopped).toEqual(['long'])
    expect(bench.workloads.running()).toEqual([])
  })

  it('ends a task that has not started', async () => {
    bench.workloads.setCapacity(0)
    await bench.submitTask('queued')
    await bench.phase('queued', 'Pending')
    await cancel('queued', '')
    expect((await bench.phase('queued', 'Cancelled')).status?.message).toBe('cancelled on request')
    bench.workloads.setCapacity(1)
    await bench.submitTask('next')
    await bench.running('next')
    expect(bench.workloads.started.map((spec) => spec.taskName)).toEqual(['next'])
  })
})

describe('deletion', () => {
  it('stops a running task first, then removes it with all its records [TASK-038]', async () => {
    const { uid } = (await bench.submitTask('doomed')).metadata
    await bench.running('doomed')
    await bench.records.logs.append({ taskUid: uid, attempt: 1 }, ['a line'])
    await bench.putResult('doomed', 'half')
    await bench.resources.remove('Task', { namespace: 'default', name: 'doomed' })
    await waitFor(async () => ((await bench.getTask('doomed')) === undefined ? true : undefined), 'it is gone')
    expect(bench.workloads.stopped).toEqual(['doomed'])
    expect(await bench.records.results.get(uid)).toBeUndefined()
    expect(await bench.records.events.list({ taskUid: uid })).toEqual([])
    const lines = []
    for await (const line of bench.records.logs.read(uid, {})) lines.push(line)
    expect(lines).toEqual([])
  })

  it('lets a later task of the same name start without the records of the earlier one [TASK-044]', async () => {
    await bench.submitTask('again')
    await bench.running('again')
    bench.workloads.succeed('again', 'old')
    await bench.phase('again', 'Succeeded')
    await bench.resources.remove('Task', { namespace: 'default', name: 'again' })
    await waitFor(async () => ((await bench.getTask('again')) === undefined ? true : undefined), 'it is gone')
    await bench.submitTask('again')
    const running = await bench.running('again')
    expect(running.status?.attempts).toBe(1)
    expect(await bench.records.results.get(running.metadata.uid)).toBeUndefined()
    expect(await bench.eventsOf('again')).toHaveLength(2)
  })

  it('is completed for tasks that were deleted while no controller ran', async () => {
    await bench.submitTask('old')
    await bench.running('old')
    bench.workloads.succeed('old')
    await bench.phase('old', 'Succeeded')
    await bench.pause()
    await bench.resources.remove('Task', { namespace: 'default', name: 'old' })
    expect((await bench.getTask('old'))?.metadata.deletionTimestamp).toBeDefined()
    bench.resume()
    await waitFor(async () => ((await bench.getTask('old')) === undefined ? true : undefined), 'it is gone')
  })
})

describe('a controller at its start', () => {
  it('finds tasks that were created while none ran, and adds a missing finalizer', async () => {
    await bench.pause()
    await bench.submitTask('early', {}, { finalizers: [] })
    bench.resume()
    const running = await bench.running('early')
    expect(running.metadata.finalizers).toEqual(['svc.ai/cleanup'])
  })

  it('adds nothing to a timeline once its term is over, whatever it was about to say [MODE-009]', async () => {
    await bench.submitTask('late')
    await bench.running('late')
    const told = await bench.eventsOf('late')
    bench.term.isOver = true
    bench.workloads.succeed('late')
    await waitFor(() => bench.lines.find(({ fields }) => JSON.stringify(fields).includes('does not lead')), 'a refusal')
    expect(await bench.eventsOf('late')).toEqual(told)
    expect((await bench.getTask('late'))?.status?.phase).toBe('Running')
    bench.term.isOver = false
    await bench.jump(60_000)
    await bench.phase('late', 'Succeeded')
  })

  it('continues to watch an attempt that outlived the previous controller', async () => {
    await bench.submitTask('survivor')
    await bench.running('survivor')
    await bench.pause()
    bench.resume()
    bench.workloads.succeed('survivor', 'x')
    expect((await bench.phase('survivor', 'Succeeded')).status?.attempts).toBe(1)
  })
})
