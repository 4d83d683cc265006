import { describe, expect, it } from 'vitest'
import { findReadySandbox, judgeClaim, type SandboxClaim } from './objects.ts'

function claim(ready?: { status: string; reason: string; message?: string }, more: object = {}): SandboxClaim {
  const metadata = { name: 'c', namespace: 'n', uid: 'u', resourceVersion: '1', creationTimestamp: '', ...more }
  return { metadata, status: { conditions: ready && [{ type: 'Ready', ...ready }], sandbox: { name: 'pool-x1' } } }
}

const not = (reason: string) => claim({ status: 'False', reason, message: 'why' })

describe('the state of a claim', () => {
  it('is ready with its sandbox, whatever that is called', () => {
    const ready = claim({ status: 'True', reason: 'DependenciesReady' })
    expect(judgeClaim(ready)).toEqual({ phase: 'Ready' })
    expect(findReadySandbox(ready)).toBe('pool-x1')
    expect(judgeClaim(undefined)).toEqual({ phase: 'Absent' })
  })

  it('is waited for while that can help', () => {
    for (const reason of [
      'DependenciesNotReady',
      'WarmPoolNotFound',
      'TemplateNotFound',
      'ReconcilerError',
      'SandboxMissing',
      'AdoptionConflict',
    ]) {
      expect(judgeClaim(not(reason))).toEqual({ phase: 'Pending', message: `${reason}: why` })
    }
    expect(judgeClaim(claim())).toMatchObject({ phase: 'Pending', message: expect.stringContaining('not looked') })
    const ready = { status: 'True', reason: 'DependenciesReady' }
    expect(judgeClaim(claim(ready, { deletionTimestamp: 'now' }))).toMatchObject({ phase: 'Pending' })
    expect(judgeClaim(not('SandboxSuspended'))).toEqual({ phase: 'Suspended' })
  })

  it('has failed where only the template or a new claim can help', () => {
    expect(judgeClaim(not('InvalidMetadata'))).toMatchObject({ phase: 'Failed', reason: 'TemplateIncompatible' })
    for (const reason of ['PodFailed', 'PodSucceeded', 'SandboxExpired', 'ClaimExpired', 'MultiplePods']) {
      expect(judgeClaim(not(reason))).toMatchObject({
        reason: 'WorkspaceLost',
        message: expect.stringContaining('why'),
      })
    }
  })
})
