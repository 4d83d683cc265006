import { describe, expect, it } from 'vitest'
import { findAnswerProblem } from './approvers.ts'

const ada = {
  authType: 'oidc',
  username: 'ada',
  uid: 'u-1',
  issuer: 'https://issuer.example.com',
  subject: 'ada-1',
  groups: ['release'],
} as const
const agent = { taskUid: 't-1', taskName: 'job' }

describe('an answer to an approval', () => {
  it('is free to whoever may change the task, without approvers', () => {
    expect(findAnswerProblem(ada, undefined)).toBeUndefined()
  })

  it.each([
    ['the caller', { kind: 'oidc', id: 'https://issuer.example.com#ada-1' }],
    ['a group of the caller', { kind: 'group', id: 'release' }],
  ] as const)('may come from %s, which is named', (_, approver) => {
    expect(findAnswerProblem(ada, [{ kind: 'token', id: 'owner' }, approver])).toBeUndefined()
  })

  it.each([
    ['the display name', { kind: 'oidc', id: 'ada' }],
    ['the id with another kind', { kind: 'token', id: 'https://issuer.example.com#ada-1' }],
    ['a group that is named like the caller', { kind: 'group', id: 'ada' }],
  ] as const)('is not given by %s', (_, approver) => {
    expect(findAnswerProblem(ada, [approver])).toBe(
      `"ada" may not answer: coordination.approvers of the agent names ${approver.kind} ${approver.id}`,
    )
  })

  it.each([
    ['the token of a task', { ...ada, agent }],
    ['a model that acts for somebody', { ...ada, isModel: true }],
  ])('never comes from %s, even where approvers name its person', (_, caller) => {
    const approvers = [{ kind: 'group', id: 'release' }] as const
    for (const named of [undefined, approvers]) expect(findAnswerProblem(caller, named)).toContain('a person must')
  })
})
