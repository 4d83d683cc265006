import { describe, expect, it } from 'vitest'
import { SvcError } from '../../../errors.ts'
import { parseOrThrow } from '../../schema/validation.ts'
import { createBodyOf, updateBodyOf } from './resource-body.ts'

const create = (body: unknown) => parseOrThrow(createBodyOf('Provider'), body, 'provider')
const update = (body: unknown) => parseOrThrow(updateBodyOf('Provider'), body, 'provider')

function pathsOf(run: () => unknown): string[] {
  try {
    run()
  } catch (error) {
    if (error instanceof SvcError) return error.details?.map((problem) => problem.path) ?? []
  }
  throw new Error('it was accepted')
}

describe('bodies that make a resource', () => {
  it('have the name at the top or in metadata, and the top wins', () => {
    const spec = { type: 'openai' }
    expect(create({ name: 'p', spec })).toEqual({ metadata: { name: 'p' }, spec: { type: 'llmo', serverTools: true } })
    expect(create({ metadata: { name: 'p', namespace: 'n', labels: { a: 'b' } }, spec }).metadata).toEqual({
      name: 'p',
      namespace: 'n',
      labels: { a: 'b' },
    })
    expect(create({ name: 'top', namespace: 'top', metadata: { name: 'p', namespace: 'n' }, spec }).metadata).toEqual({
      name: 'top',
      namespace: 'top',
    })
  })

  it('name every problem of every part', () => {
    expect(pathsOf(() => create({ nam: 'p', metadata: { extra: 1 }, spec: { type: 'x', more: 1 } }))).toEqual([
      'name',
      'nam',
      'metadata.extra',
      'spec.type',
      'spec.more',
    ])
    expect(pathsOf(() => create({ name: 'p', spec: { type: 'azure-llmo', more: 1 } }))).toEqual([
      'spec.more',
      'spec.azure.deploymentName',
      'spec.baseURL',
    ])
    expect(pathsOf(() => create({ name: 'p' }))).toEqual(['spec'])
    expect(pathsOf(() => create({ name: 'P', spec: { type: 'llma' } }))).toEqual(['name'])
    expect(pathsOf(() => create('x'))).toEqual([''])
  })
})

describe('bodies that replace a resource', () => {
  it('may be what GET gave [HTTP-016]', () => {
    const got = {
      apiVersion: 'core.svc.ai/v1alpha1',
      kind: 'Provider',
      metadata: {
        name: 'p',
        namespace: 'default',
        uid: 'u',
        resourceVersion: '12',
        generation: 3,
        creationTimestamp: '2026-01-01T00:00:00Z',
        annotations: { 'svc.ai/note': 'set by the service' },
      },
      spec: { type: 'llma', serverTools: true },
      status: { ready: true, conditions: [] },
    }
    const { metadata, spec } = update(got)
    expect(spec).toEqual(got.spec)
    expect(metadata).toMatchObject({ uid: 'u', resourceVersion: '12', annotations: got.metadata.annotations })
  })

  it('need only a spec', () => {
    expect(update({ spec: { type: 'llma' } }).spec.type).toBe('llma')
    expect(pathsOf(() => update({}))).toEqual(['spec'])
  })
})
