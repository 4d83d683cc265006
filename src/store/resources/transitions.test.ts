import { describe, expect, it } from 'vitest'
import { isSvcError } from '../../errors.ts'
import {
  applyStatus,
  applyUpdate,
  checkPreconditions,
  isGone,
  isUnchanged,
  makeObject,
  markDeleted,
} from './transitions.ts'

const now = new Date('2026-01-02T03:04:05.678Z')
const later = new Date('2026-01-02T03:05:00.000Z')
const made = makeObject(
  'Task',
  { metadata: { namespace: 'n', name: 'a', labels: {}, finalizers: ['svc.ai/one'] }, spec: { x: 1 } },
  { uid: 'u', now },
)
const current = { ...made, metadata: { ...made.metadata, resourceVersion: '7' } }

describe('transitions of an object', () => {
  it('begin with what the server sets, in whole seconds, and without empty parts', () => {
    expect(made.metadata).toEqual({
      name: 'a',
      namespace: 'n',
      uid: 'u',
      resourceVersion: '',
      generation: 1,
      creationTimestamp: '2026-01-02T03:04:05Z',
      finalizers: ['svc.ai/one'],
    })
  })

  it('set deletionTimestamp once', () => {
    const marked = markDeleted(current, now)
    expect(marked.metadata.deletionTimestamp).toBe('2026-01-02T03:04:05Z')
    expect(markDeleted(marked, later)).toBe(marked)
    expect(isGone(marked)).toBe(false)
    expect(isGone(applyUpdate(marked, { metadata: { finalizers: [] }, spec: { x: 1 } }))).toBe(true)
    expect(isGone(applyUpdate(current, { metadata: {}, spec: { x: 1 } }))).toBe(false)
  })

  it('raise generation for a changed spec alone', () => {
    expect(applyUpdate(current, { metadata: {}, spec: { x: 2 } }).metadata.generation).toBe(2)
    expect(applyUpdate(current, { metadata: { labels: { a: 'b' } }, spec: { x: 1 } }).metadata.generation).toBe(1)
    expect(applyStatus(current, { metadata: {}, spec: { x: 2 }, status: { y: 1 } })).toEqual({
      ...current,
      status: { y: 1 },
    })
    expect(applyStatus({ ...current, status: { y: 1 } }, { metadata: {} })).toEqual(current)
  })

  it('treat empty maps and lists as absent', () => {
    const same = {
      metadata: { labels: {}, annotations: {}, ownerReferences: [], finalizers: ['svc.ai/one'] },
      spec: { x: 1 },
    }
    expect(isUnchanged(current, applyUpdate(current, same))).toBe(true)
  })

  it('check the expected uid and version where they are given', () => {
    const reasonOf = (expected: Parameters<typeof checkPreconditions>[1]) => {
      try {
        checkPreconditions(current, expected)
        return 'none'
      } catch (error) {
        return isSvcError(error) ? `${error.reason}: ${error.message}` : 'other'
      }
    }
    expect([{}, { uid: '', resourceVersion: '' }, { uid: 'u', resourceVersion: '7' }].map(reasonOf)).toEqual([
      'none',
      'none',
      'none',
    ])
    expect(reasonOf({ uid: 'v' })).toContain('Conflict: Task "n/a" is not the object')
    expect(reasonOf({ resourceVersion: '6' })).toContain(
      'Conflict: Task "n/a" was changed in the meantime (resourceVersion is 7, not 6)',
    )
  })
})
