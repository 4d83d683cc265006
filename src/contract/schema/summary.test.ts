import { describe, expect, it } from 'vitest'
import { kindNames } from '../kinds/index.ts'
import { summarize, summarizeText } from './summary.ts'

const task = {
  apiVersion: 'core.svc.ai/v1alpha1',
  kind: 'Task',
  metadata: {
    name: 'a',
    namespace: 'n',
    uid: 'u',
    resourceVersion: '7',
    generation: 1,
    creationTimestamp: '2030-01-01T00:00:00Z',
    labels: { team: 'x' },
    annotations: { note: 'long' },
    finalizers: ['f'],
  },
  spec: { type: 'ai', prompt: 'a long text', ai: { model: 'm', prompt: 'more' }, agentRef: { name: 'writer' } },
  status: { phase: 'Running', attempts: 1, message: 'at work', conditions: [{ type: 'Ready' }] },
}

describe('a summary', () => {
  it('has what tables show where the object has it, and nothing else', () => {
    const { annotations: _notes, finalizers: _held, ...metadata } = task.metadata
    expect(summarize('Task', task)).toEqual({
      apiVersion: task.apiVersion,
      kind: 'Task',
      metadata,
      spec: { type: 'ai', ai: { model: 'm' }, agentRef: { name: 'writer' } },
      status: { phase: 'Running', attempts: 1, message: 'at work' },
    })
    expect(JSON.parse(summarizeText('Task', JSON.stringify(task)))).toEqual(summarize('Task', task))
  })

  it.each(kindNames)('of a %s without spec and status is that of its metadata', (kind) => {
    const metadata = { name: 'a', namespace: 'n' }
    expect(summarize(kind, { apiVersion: 'v', kind, metadata, spec: {} })).toEqual({ apiVersion: 'v', kind, metadata })
  })
})
