import { describe, expect, it } from 'vitest'
import type { CallFailure } from '../../contract/kinds/tasks/failures.ts'
import { judgeCall } from './cool-down.ts'

const judge = (reason: CallFailure) => judgeCall({ reason, message: 'x' })

describe('the end of a call', () => {
  it('says that a provider answered when there was an answer, or fault was found with the request', () => {
    expect(judgeCall(undefined)).toBe('answered')
    const faults = ['RequestRefused', 'ModelNotFound', 'RequestTooLarge', 'ContextTooLong'] as const
    expect(faults.map(judge)).toEqual(faults.map(() => 'answered'))
  })

  it('says that it failed when its key was refused or missing, it was broken or away, or asked too much', () => {
    const reasons = [
      ...(['CredentialRefused', 'MissingApiKey', 'CreditUsedUp', 'ProviderFailed', 'ProviderUnreachable'] as const),
      ...(['AnswerBrokenOff', 'RateLimited', 'ProviderOverloaded', 'WrongAddress', 'AddressRefused'] as const),
    ]
    expect(reasons.map(judge)).toEqual(reasons.map(() => 'failed'))
  })

  it('says nothing when it was cancelled, nothing was sent, or the service is at fault', () => {
    const reasons = ['Stopped', 'MissingModel', 'RequestUnsupported', 'ServiceUnavailable', 'Internal'] as const
    expect(reasons.map(judge)).toEqual(reasons.map(() => undefined))
  })
})
