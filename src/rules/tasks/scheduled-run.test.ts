import { describe, expect, it } from 'vitest'
import { Name } from '../../contract/kinds/resources/metadata.ts'
import { Task, TaskSpec } from '../../contract/kinds/tasks/task.ts'
import { parentOf } from './family.ts'
import { listExpiredRuns, makeScheduledRun, nameScheduledRun } from './scheduled-run.ts'

type Parts = { spec?: object; status?: object; labels?: Record<string, string>; annotations?: Record<string, string> }

function makeTask(name: string, parts: Parts = {}): Task {
  return Task.parse({
    apiVersion: 'core.svc.ai/v1alpha1',
    kind: 'Task',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: parts.labels ?? { team: 'a' },
      annotations: parts.annotations,
    },
    spec: { type: 'ai', prompt: 'x', ...parts.spec },
    status: parts.status,
  })
}

const tick = new Date('2026-01-10T12:00:00Z')

describe('scheduled runs', () => {
  it('are named by the second of their tick', () => {
    expect(nameScheduledRun('nightly', tick)).toBe('nightly-1768046400')
  })

  it('have names that are valid and distinct though the task name is long', () => {
    const names = ['a', 'b'].map((end) => nameScheduledRun(`${'x'.repeat(62)}${end}`, tick))
    for (const name of names) expect(Name.safeParse(name).success).toBe(true)
    expect(new Set(names).size).toBe(2)
    expect(nameScheduledRun(`${'x'.repeat(62)}a`, tick)).toBe(names[0])
  })

  it('have the spec of their task without its schedule, and the task as owner and parent', () => {
    const schedule = { schedule: '@hourly', timeZone: 'Europe/Berlin', suspend: false, successfulRunsHistoryLimit: 9 }
    const parent = makeTask('nightly', { spec: { ...schedule, priority: 700, timeout: '5m' } })
    const run = makeScheduledRun(parent, tick)
    expect(run.spec).toEqual(TaskSpec.parse({ type: 'ai', prompt: 'x', priority: 700, timeout: '5m' }))
    expect(run.metadata.ownerReferences).toMatchObject([{ kind: 'Task', uid: 'uid-nightly', controller: true }])
    expect(run.metadata.labels).toEqual({
      team: 'a',
      'svc.ai/parent-task': 'nightly',
      'svc.ai/scheduled-run': 'true',
    })
    expect(parentOf({ metadata: { ...parent.metadata, ...run.metadata } })).toEqual({
      uid: parent.metadata.uid,
      name: 'nightly',
    })
  })

  it('count for the caller who made the schedule, and copy no other annotation [USAGE-002]', () => {
    const annotations = { 'svc.ai/caller': 'ann', 'svc.ai/cancel-requested': '', note: 'x' }
    const run = makeScheduledRun(makeTask('nightly', { spec: { schedule: '@hourly' }, annotations }), tick)
    expect(run.metadata.annotations).toEqual({ 'svc.ai/parent-task-name': 'nightly', 'svc.ai/caller': 'ann' })
    const orphan = makeScheduledRun(makeTask('nightly', { spec: { schedule: '@hourly' } }), tick)
    expect(orphan.metadata.annotations).toEqual({ 'svc.ai/parent-task-name': 'nightly' })
  })

  it('are removed beyond the history limits, oldest first, but never cancelled or active ones', () => {
    const labels = { 'svc.ai/scheduled-run': 'true' }
    const ended = (name: string, phase: string, hour: number) =>
      makeTask(name, { labels, status: { phase, completionTime: `2026-01-02T0${hour}:00:00Z` } })
    const children = [
      ended('s3', 'Succeeded', 3),
      ended('s1', 'Succeeded', 1),
      ended('s2', 'Succeeded', 2),
      ended('f1', 'Failed', 1),
      ended('f2', 'Failed', 2),
      ended('c1', 'Cancelled', 1),
      makeTask('r1', { labels, status: { phase: 'Running' } }),
      makeTask('other', { status: { phase: 'Succeeded', completionTime: '2026-01-01T00:00:00Z' } }),
    ]
    const limits = { successfulRunsHistoryLimit: 1, failedRunsHistoryLimit: 0 }
    const expired = listExpiredRuns(makeTask('nightly', { spec: { schedule: '@hourly', ...limits } }), children)
    expect(expired.map((task) => task.metadata.name)).toEqual(['s1', 's2', 'f1', 'f2'])
  })
})
