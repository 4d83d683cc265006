import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyChanges, type ListData } from './list-changes.ts'
import type { LiveChange } from './live-changes.ts'
import type { Summary } from './summary.ts'

function task(index: number, phase = 'Running', more: { namespace?: string; agent?: string } = {}): Summary {
  const name = `task-${String(index).padStart(4, '0')}`
  const creationTimestamp = new Date(index * 1000).toISOString()
  return {
    apiVersion: 'core.svc.ai/v1alpha1',
    kind: 'Task',
    metadata: {
      name,
      namespace: more.namespace ?? 'default',
      uid: `uid-${name}`,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp,
    },
    spec: { type: 'ai', ...(more.agent && { agentRef: { name: more.agent } }) },
    status: { phase },
  } as Summary
}

const change = (type: LiveChange['type'], object: Summary): LiveChange => ({ type, kind: 'Task', object })
const listOf = (items: Summary[], next?: string): ListData => ({ items, next, remaining: undefined })
const names = (data: ListData | 'unknown') =>
  data === 'unknown' ? data : data.items.map(({ metadata }) => Number(metadata.name.slice(5)))

const newest = { allNamespaces: true, sort: '-created' }

describe('a list that lives', () => {
  it('shows the new state of a row, where it stood', () => {
    const before = listOf([task(2), task(1)])
    const after = applyChanges(before, [change('modified', task(1, 'Failed'))], newest) as ListData
    expect(names(after)).toEqual([2, 1])
    expect(after.items[1]?.status?.phase).toBe('Failed')
    expect(after.items[0]).toBe(before.items[0])
  })

  it('has a new object in its place by the order', () => {
    const changes = [change('added', task(5)), change('added', task(3))]
    expect(names(applyChanges(listOf([task(4), task(1)]), changes, newest))).toEqual([5, 4, 3, 1])
    expect(names(applyChanges(listOf([task(1), task(4)]), changes, { namespace: 'default' }))).toEqual([1, 3, 4, 5])
  })

  it('loses what is deleted or matches no longer, and gains what begins to match', () => {
    const filter = { ...newest, phase: 'Running' }
    const changes = [
      change('modified', task(3, 'Succeeded')),
      change('deleted', task(2)),
      change('modified', task(1, 'Running')),
    ]
    expect(names(applyChanges(listOf([task(3), task(2)]), changes, filter))).toEqual([1])
  })

  it('takes several values of a filter, and other namespaces out', () => {
    const filter = { sort: '-created', namespace: 'team', phase: 'Running,Failed' }
    const changes = [
      change('added', task(1, 'Failed', { namespace: 'team' })),
      change('added', task(2, 'Running')),
      change('added', task(3, 'Pending', { namespace: 'team' })),
    ]
    expect(names(applyChanges(listOf([]), changes, filter))).toEqual([1])
  })

  it('takes what has the searched text in its name, in any case', () => {
    const filter = { ...newest, search: '12' }
    const changes = [change('added', task(12)), change('added', task(2))]
    expect(names(applyChanges(listOf([]), changes, filter))).toEqual([12])
    expect(names(applyChanges(listOf([]), changes, { ...newest, search: 'TASK' }))).toEqual([12, 2])
  })

  it('leaves to its page what comes after the last row that was read', () => {
    const before = listOf([task(9), task(8)], 'cursor')
    expect(applyChanges(before, [change('added', task(1))], newest)).toMatchObject({ items: before.items })
  })

  it('is the same list where nothing in it has changed, and unknown where a filter cannot be judged', () => {
    const before = listOf([task(1)])
    expect(applyChanges(before, [change('deleted', task(7))], newest)).toBe(before)
    expect(applyChanges(before, [change('added', task(7))], { ...newest, labelSelector: 'a in (b)' })).toBe('unknown')
  })

  it('is after any changes what a list of the objects that are left would be', () => {
    const step = fc.record({ index: fc.nat(30), phase: fc.constantFrom('Running', 'Failed'), isGone: fc.boolean() })
    fc.assert(
      fc.property(fc.array(fc.array(step, { maxLength: 12 }), { maxLength: 12 }), (rounds) => {
        const there = new Map<number, Summary>()
        let data: ListData | 'unknown' = listOf([])
        const filter = { ...newest, phase: 'Running' }
        for (const round of rounds) {
          const changes = round.map(({ index, phase, isGone }) => {
            const object = task(index, phase)
            if (isGone) there.delete(index)
            else there.set(index, object)
            return change(isGone ? 'deleted' : 'modified', object)
          })
          data = applyChanges(data as ListData, changes, filter)
        }
        const wanted = [...there].filter(([, { status }]) => status?.phase === 'Running').map(([index]) => index)
        expect(names(data)).toEqual(wanted.sort((a, b) => b - a))
      }),
    )
  })
})
