import { describe, expect, it } from 'vitest'
import { apiVersion, type ObjectMeta } from '../../contract/kinds/resources/metadata.ts'
import { parentOf } from './family.ts'

const owner = { apiVersion, kind: 'Task', name: 'boss', uid: 'uid-1', controller: true }
const metadata: ObjectMeta = {
  name: 'child',
  namespace: 'default',
  uid: 'uid-2',
  resourceVersion: '1',
  generation: 1,
  creationTimestamp: '2026-01-01T00:00:00Z',
}

describe('the parent of a task', () => {
  it('is the task that owns it by uid', () => {
    const references = [{ ...owner, controller: false, uid: 'uid-0' }, owner]
    expect(parentOf({ metadata: { ...metadata, ownerReferences: references } })).toEqual({ uid: 'uid-1', name: 'boss' })
  })

  it('is never taken from a label or an annotation', () => {
    const labels = { 'svc.ai/parent-task': 'boss', 'svc.ai/coordinator': 'true' }
    const annotations = { 'svc.ai/parent-task-name': 'boss' }
    const claiming: ObjectMeta = { ...metadata, labels, annotations }
    expect(parentOf({ metadata: claiming })).toBeUndefined()
  })

  it('is never an owner that is not a Task of this service', () => {
    for (const other of [{ kind: 'Agent' }, { apiVersion: 'v1' }, { controller: undefined }]) {
      const ownerReferences = [{ ...owner, ...other }]
      expect(parentOf({ metadata: { ...metadata, ownerReferences: ownerReferences as never } })).toBeUndefined()
    }
  })
})
