import { describe, expect, it } from 'vitest'
import { callerKey, identifyCaller } from './caller-identity.ts'

const person = { authType: 'oidc', username: 'ann', uid: 's-1', issuer: 'https://login.test', subject: 's-1' } as const

describe('the identity of a caller', () => {
  it('is issuer and subject, whatever the name is', () => {
    expect(identifyCaller(person)).toEqual({ kind: 'oidc', id: 'https://login.test#s-1', name: 'ann' })
    const { id } = identifyCaller({ ...person, username: 'owner' })
    expect(id).toBe('https://login.test#s-1')
    expect(identifyCaller({ ...person, issuer: 'https://other.test' }).id).not.toBe(id)
  })

  it('is the id of a token, and for a user of the cluster the uid or else the name', () => {
    expect(identifyCaller({ authType: 'token', username: 'ci', uid: 'tok-1' }).id).toBe('tok-1')
    const account = { authType: 'tokenReview', username: 'system:serviceaccount:team:ci' } as const
    expect(identifyCaller({ ...account, uid: 'u-1' }).id).toBe('u-1')
    expect(identifyCaller(account).id).toBe(account.username)
  })

  it('is the task, for the command line of an agent', () => {
    const agent = { taskUid: 't-1', taskName: 'build' }
    const caller = { authType: 'token', username: 'task/build', uid: 't-1/2', agent } as const
    expect(identifyCaller(caller)).toEqual({ kind: 'worker', id: 't-1', name: 'task/build' })
  })

  it('has a different key for each kind of caller with the same id', () => {
    const keys = (['token', 'tokenReview', 'oidc'] as const).map((authType) =>
      callerKey(identifyCaller({ authType, username: 'x', uid: 'owner' })),
    )
    expect(new Set(keys).size).toBe(3)
  })
})
