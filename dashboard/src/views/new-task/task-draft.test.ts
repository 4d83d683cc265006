import { describe, expect, it } from 'vitest'
import { bodyOf, cloneOf, emptyDraft } from './task-draft.ts'

const options = { hasProgram: false, suffix: 'x1y2' }

describe('a task of the form', () => {
  it('asks a model, under a name made of the prompt', () => {
    expect(bodyOf({ ...emptyDraft('team'), prompt: 'Sum up: the *News* of today, please' }, options)).toEqual({
      name: 'sum-up-the-news-x1y2',
      namespace: 'team',
      type: 'ai',
      prompt: 'Sum up: the *News* of today, please',
    })
  })

  it('goes to an agent, by its program where it has one', () => {
    const draft = { ...emptyDraft('team'), sort: 'agent' as const, agent: 'coder', prompt: 'fix', name: ' mend ' }
    expect(bodyOf(draft, options)).toMatchObject({ name: 'mend', type: 'ai', agentRef: { name: 'coder' } })
    expect(bodyOf(draft, { ...options, hasProgram: true })).toMatchObject({ type: 'agent', prompt: 'fix' })
  })

  it('runs a command, in an image where one is named', () => {
    const draft = { ...emptyDraft('team'), sort: 'command' as const, command: 'echo "1"', timeout: '5m' }
    const body = bodyOf(draft, options)
    expect(body).toMatchObject({ type: 'container', command: ['sh', '-c', 'echo "1"'], timeout: '5m' })
    expect(JSON.parse(JSON.stringify(body))).not.toHaveProperty('image')
    expect(bodyOf({ ...draft, image: 'node:22' }, options)).toMatchObject({ image: 'node:22' })
  })

  it('is cloned without what the service has set', () => {
    const metadata = { name: 'report', namespace: 'team', uid: 'u', labels: { a: 'b', 'svc.ai/retry-of': 'other' } }
    const spec = { type: 'ai', prompt: 'p', requestedBy: { username: 'ada' }, transaction: {} }
    expect(cloneOf({ metadata, spec }, 'x1y2')).toEqual({
      metadata: { name: 'report-x1y2', namespace: 'team', labels: { a: 'b' } },
      spec: { type: 'ai', prompt: 'p' },
    })
  })
})
