import { describe, expect, it } from 'vitest'
import type { Access, Decision } from '../../contract/api/identity/access.ts'
import type { Authorizer, Caller } from '../../ports/identity/identity.ts'
import type { ContextMode } from '../../rules/identity/context-token.ts'
import { createContextAuthorizer } from './authorizer.ts'

const scopes = { 'task-create': ['svc:tasks:create'] }

function open(mode: ContextMode, answer: Decision) {
  const checked: string[] = []
  const next: Authorizer = {
    authorize: async ({ authType }) => {
      checked.push(authType)
      return answer
    },
  }
  const rules = { mode, scopes: scopes as never }
  return { checked, authorizer: createContextAuthorizer({ rules, next }) }
}

function makeCaller(authType: Caller['authType'], words: string[]): Caller {
  const transaction = {
    profile: 'kontxt',
    type: 'txntoken+jwt',
    id: 't',
    issuer: 'i',
    subject: 's',
    audience: ['svc'],
    scope: words.join(' '),
    scopes: words,
    requestingWorkload: 'w',
    context: {},
    requesterContext: {},
  }
  const rights = { role: 'editor' as const, serverTools: true }
  return { authType, username: 'guest', groups: [], ...rights, ...(authType === 'contextToken' && { transaction }) }
}

const access: Access = { verb: 'create', kind: 'Task', namespace: 'kube-system' }
const refusal: Decision = { allowed: false, reason: 'it belongs to the cluster' }

describe('the authorizer of context tokens in front of the authorizer of the cluster', () => {
  it.each(['enforce', 'audit', 'off'] as const)(
    'asks the cluster as well for what the scopes allow (%s)',
    async (mode) => {
      const { checked, authorizer } = open(mode, refusal)
      expect(await authorizer.authorize(makeCaller('contextToken', ['svc:tasks:create']), access)).toEqual(refusal)
      expect(checked).toEqual(['contextToken'])
    },
  )

  it('does not ask the cluster about what the scopes refuse', async () => {
    const { checked, authorizer } = open('enforce', { allowed: true })
    expect(await authorizer.authorize(makeCaller('contextToken', []), access)).toMatchObject({ allowed: false })
    expect(checked).toEqual([])
  })

  it.each(['tokenReview', 'oidc'] as const)('leaves other callers to the cluster (%s)', async (authType) => {
    const { checked, authorizer } = open('enforce', { allowed: true })
    expect(await authorizer.authorize(makeCaller(authType, []), access)).toEqual({ allowed: true })
    expect(checked).toEqual([authType])
  })
})
