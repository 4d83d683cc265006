import { describe, expect, it } from 'vitest'
import type { Resource } from '../../contract/kinds/index.ts'
import { apiVersion } from '../../contract/kinds/resources/metadata.ts'
import { checkFields, matchesFields, readFields } from './fields.ts'

function makeTask(parts: { metadata?: object; spec?: object; status?: object }): Resource<unknown, unknown> {
  const metadata = { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: 't' }
  return {
    apiVersion,
    kind: 'Task',
    metadata: { ...metadata, ...parts.metadata },
    spec: { type: 'ai', ...parts.spec },
    ...(parts.status && { status: parts.status }),
  }
}

describe('readFields', () => {
  it('reads the fields that have a value [TASK-032]', () => {
    expect(readFields('Task', makeTask({}))).toEqual({ uid: 'u', phase: 'Pending', type: 'ai' })
    const task = makeTask({
      metadata: { ownerReferences: [{ apiVersion, kind: 'Task', name: 'boss', uid: 'uid-1', controller: true }] },
      spec: { agentRef: { name: 'writer' } },
      status: { phase: 'Running' },
    })
    expect(readFields('Task', task)).toEqual({
      uid: 'u',
      phase: 'Running',
      type: 'ai',
      agent: 'writer',
      owner: 'uid-1',
    })
  })

  it('has no fields for kinds that cannot be filtered', () => {
    expect(readFields('Agent', { ...makeTask({}), kind: 'Agent' })).toEqual({})
  })
})

describe('matchesFields', () => {
  it('needs every value', () => {
    const task = makeTask({ status: { phase: 'Running' } })
    expect(matchesFields('Task', { phase: 'Running', type: 'ai' }, task)).toBe(true)
    expect(matchesFields('Task', { phase: 'Running', type: 'agent' }, task)).toBe(false)
    expect(matchesFields('Task', { agent: 'writer' }, task)).toBe(false)
    expect(matchesFields('Task', {}, task)).toBe(true)
  })
})

describe('checkFields', () => {
  it('names the unknown field and the known ones', () => {
    expect(() => checkFields('Task', { phase: 'x', colour: 'red' })).toThrow(
      'Task cannot be filtered by "colour": use one of uid, owner, session, agent, phase, type',
    )
    expect(() => checkFields('Agent', { phase: 'x' })).toThrow('it has no filter fields')
    expect(() => checkFields('Task', { toString: 'x' })).toThrow('"toString"')
  })
})
