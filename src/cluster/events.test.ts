import { describe, expect, it } from 'vitest'
import { createManualClock } from '../../test/fixtures/time.ts'
import { SvcError } from '../errors.ts'
import { systemIds as ids } from '../lib/system-clock.ts'
import type { EventRecord, Events } from '../ports/tasks/events.ts'
import type { ApiRequest, KubernetesApi } from './api.ts'
import { createClusterEvents, withClusterEvents } from './events.ts'

type Sent = { reason: string; type: string; message: string; involvedObject: object }

function makeEvent(more: Partial<EventRecord>): EventRecord {
  return {
    seq: 1,
    taskUid: 'u1',
    attempt: 1,
    namespace: 'team',
    taskName: 'nightly',
    type: 'PhaseChanged',
    message: 'something happened',
    createdAt: '2026-01-02T03:04:05.678Z',
    ...more,
  }
}

function open(capacity?: number) {
  const sent: (ApiRequest & { body: Sent })[] = []
  const warned: Record<string, unknown>[] = []
  const state: { fault?: SvcError; held?: Promise<void> } = {}
  const request = async (asked: ApiRequest) => {
    await state.held
    if (state.fault) throw state.fault
    sent.push(asked as ApiRequest & { body: Sent })
    return {}
  }
  const clock = createManualClock()
  const events = createClusterEvents({
    api: { request } as Pick<KubernetesApi, 'request'>,
    clock,
    ids,
    apiVersion: 'core.svc.ai/v1alpha1',
    log: { warn: (fields) => warned.push(fields) },
    ...(capacity === undefined ? {} : { capacity }),
  })
  return { sent, warned, state, clock, events, reasons: () => sent.map(({ body }) => `${body.type} ${body.reason}`) }
}

describe('events of tasks on the cluster', () => {
  it('name the task, what happened and when, as kubectl shows it', async () => {
    const { events, sent } = open()
    events.publish(makeEvent({ phase: 'Running', message: 'attempt 1 was started' }))
    await events.settle()
    expect(sent).toMatchObject([
      {
        verb: 'create',
        namespace: 'team',
        tries: 1,
        body: {
          involvedObject: { apiVersion: 'core.svc.ai/v1alpha1', kind: 'Task', name: 'nightly', uid: 'u1' },
          reason: 'Running',
          message: 'attempt 1 was started',
          type: 'Normal',
          firstTimestamp: '2026-01-02T03:04:05Z',
        },
      },
    ])
  })

  it('have the reasons that users of Kubernetes know, and are warnings where something is wrong', async () => {
    const { events, reasons } = open()
    for (const more of [
      { phase: 'Pending' },
      { phase: 'Scheduled' },
      { type: 'Queued', phase: 'Pending', reason: 'Capacity' },
      { type: 'Queued', phase: 'Pending', reason: 'NamespaceLimit' },
      { type: 'ScheduledRun' },
      { type: 'MissedSchedule' },
      { type: 'RetryScheduled', phase: 'Pending', reason: 'OOMKilled' },
      { phase: 'Failed', reason: 'DeadlineExceeded' },
      { phase: 'Succeeded', reason: 'TaskSucceeded' },
    ]) {
      events.publish(makeEvent(more))
    }
    await events.settle()
    expect(reasons()).toEqual([
      'Warning NamespaceTaskLimitReached',
      'Normal ScheduledRun',
      'Warning MissedSchedule',
      'Warning RetryScheduled',
      'Warning DeadlineExceeded',
      'Normal TaskSucceeded',
    ])
  })

  it('are dropped without delaying anybody when too many are queued, which is logged once', async () => {
    const { events, sent, state, warned } = open(3)
    const hold = Promise.withResolvers<void>()
    state.held = hold.promise
    for (let seq = 1; seq <= 10; seq += 1) events.publish(makeEvent({ seq, phase: 'Running' }))
    hold.resolve()
    await events.settle()
    // One is on its way, three wait.
    expect(sent).toHaveLength(4)
    expect(warned).toHaveLength(1)
  })

  it('are lost while the API server is away, and the number lost is logged once a minute', async () => {
    const { clock, events, sent, state, warned } = open()
    state.fault = new SvcError('Unavailable', 'nobody answers')
    const tell = async () => {
      events.publish(makeEvent({ phase: 'Running' }))
      await events.settle()
    }
    await tell()
    await tell()
    clock.jump(60_000)
    await tell()
    expect(warned).toMatchObject([{ lost: 1 }, { lost: 2 }])
    delete state.fault
    await tell()
    expect(sent).toHaveLength(1)
  })

  it('are published after they are in the timeline, and not again for one that was there already', async () => {
    const clock = createManualClock()
    const told: number[] = []
    const kept: EventRecord[] = []
    const store = {
      append: async (draft: EventRecord) => {
        const known = kept.find(({ message }) => message === draft.message)
        if (known) return known
        kept.push({ ...draft, seq: kept.length + 1, createdAt: clock.now().toISOString() })
        return kept.at(-1) as EventRecord
      },
    } as unknown as Events
    const events = withClusterEvents(store, { publish: ({ seq }) => told.push(seq) }, clock)
    await events.append(makeEvent({ message: 'a' }))
    clock.jump(5)
    await events.append(makeEvent({ message: 'a' }))
    await events.append(makeEvent({ message: 'b' }))
    expect(told).toEqual([1, 2])
  })
})
