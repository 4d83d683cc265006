import { describe, expect, it } from 'vitest'
import { Annotations, apiVersion, Condition, ForeignName, Labels, MetadataInput, Name, ObjectMeta } from './metadata.ts'

describe('names', () => {
  it.each(['a', 'a-b', 'x1', '0', 'a'.repeat(63)])('accepts %s', (name) => {
    expect(Name.parse(name)).toBe(name)
  })

  it.each(['', '-a', 'a-', 'A', 'a_b', 'a.b', 'a/b', '../a', 'a\0', 'a\n', 'ä', 'a'.repeat(64)])(
    'refuses %j',
    (name) => {
      expect(Name.safeParse(name).success).toBe(false)
    },
  )

  it('lets names of foreign objects have dots', () => {
    expect(ForeignName.parse('my.secret-1')).toBe('my.secret-1')
    expect(ForeignName.safeParse('a..b').success).toBe(false)
    expect(ForeignName.safeParse('a'.repeat(254)).success).toBe(false)
  })
})

describe('labels and annotations', () => {
  it.each([{ team: 'a' }, { 'example.com/team': 'A_b.c-1' }, { x: '' }, {}])('accepts the labels %j', (labels) => {
    expect(Labels.safeParse(labels).success).toBe(true)
  })

  it.each([
    { '': 'x' },
    { 'a/b/c': 'x' },
    { '-a': 'x' },
    { a: 'b c' },
    { a: 'x'.repeat(64) },
    { ['x'.repeat(64)]: 'a' },
    { 'Example.com/a': 'x' },
    { a: 1 },
  ])('refuses the labels %j', (labels) => {
    expect(Labels.safeParse(labels).success).toBe(false)
  })

  it('takes any text as an annotation, up to 256 KiB in all', () => {
    expect(Annotations.safeParse({ note: 'any\ntext ä' }).success).toBe(true)
    expect(Annotations.safeParse({ note: 'x'.repeat(262_144) }).success).toBe(false)
    expect(Annotations.safeParse({ note: 'ä'.repeat(140_000) }).success).toBe(false)
  })
})

describe('metadata', () => {
  const stored = {
    name: 'a',
    namespace: 'default',
    uid: 'u',
    resourceVersion: '7',
    generation: 1,
    creationTimestamp: '2026-01-31T12:00:00Z',
  }

  it('is of the one API version [NAME-003]', () => {
    expect(apiVersion).toBe('core.svc.ai/v1alpha1')
  })

  it('keeps what is stored, and wants all that the server sets', () => {
    expect(ObjectMeta.parse(stored)).toEqual(stored)
    expect(ObjectMeta.safeParse({ ...stored, uid: undefined }).success).toBe(false)
    expect(ObjectMeta.safeParse({ ...stored, creationTimestamp: '2026-01-31 12:00' }).success).toBe(false)
  })

  it('lets a client send back everything it got, and nothing that is unknown [HTTP-016]', () => {
    expect(MetadataInput.safeParse({ ...stored, managedFields: [{}], finalizers: ['x'] }).success).toBe(true)
    expect(MetadataInput.safeParse({ label: {} }).success).toBe(false)
  })

  it('knows three states of a condition', () => {
    const condition = { type: 'Ready', reason: 'X', message: '', lastTransitionTime: '2026-01-31T12:00:00.123Z' }
    expect(Condition.safeParse({ ...condition, status: 'Unknown' }).success).toBe(true)
    expect(Condition.safeParse({ ...condition, status: true }).success).toBe(false)
  })
})
