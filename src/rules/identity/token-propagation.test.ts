import { describe, expect, it } from 'vitest'
import {
  chooseChildScope,
  chooseOutboundScope,
  listTransactionVariables,
  nameChildTokenSecret,
  propagateToken,
} from './token-propagation.ts'

const task = { scope: 'a b', scopes: ['a', 'b'] }
const refused = expect.objectContaining({ outcome: 'refused' })

describe('the scope of a token that is passed on', () => {
  it('is the configured one, if the transaction has every part of it', () => {
    expect(chooseChildScope('b  a', task)).toEqual({ outcome: 'chosen', scope: 'b a' })
    expect(chooseChildScope('a c', task)).toEqual(refused)
    expect(chooseChildScope('ab', task)).toEqual(refused)
    expect(chooseOutboundScope('b', task)).toEqual({ outcome: 'chosen', scope: 'b' })
    expect(chooseOutboundScope('c', task)).toEqual(refused)
  })

  it('must be configured for a child, and defaults to the whole scope of the task for a tool', () => {
    expect(chooseChildScope(undefined, task)).toEqual(refused)
    expect(chooseOutboundScope(undefined, task)).toEqual({ outcome: 'chosen', scope: 'a b' })
    expect(chooseOutboundScope(undefined, {})).toEqual(refused)
  })
})

describe('the Secret of a child’s token', () => {
  it('is named after the parent, within the length of a name', () => {
    expect(nameChildTokenSecret('build', new Date(0x1234), '0123456789abcdef')).toBe('build-txn-1234-0123456789')
    const long = nameChildTokenSecret(`${'x'.repeat(231)}.-${'y'.repeat(20)}`, new Date(0x1234), '0123456789')
    expect(long).toMatch(/^x{231}-txn-1234-0123456789$/)
  })
})

describe('the headers of a tool’s call', () => {
  it('carry the token, and a header of that name set by a tool is refused', () => {
    expect(propagateToken({ accept: '*/*' }, 't')).toEqual({
      outcome: 'headers',
      headers: { accept: '*/*', 'Txn-Token': 't' },
    })
    for (const name of ['Txn-Token', 'txn-token', 'TXN-TOKEN', ' txn-token ']) {
      expect(propagateToken({ [name]: 'forged' }, 't'), name).toEqual(refused)
      expect(propagateToken({ [name]: 'forged' }, undefined), name).toEqual(refused)
    }
  })
})

describe('the environment of a task', () => {
  it('names the transaction that the task is part of, and is empty where there is none', () => {
    expect(listTransactionVariables({ id: 'txn-1', profile: 'kontxt', scope: 'a b', scopes: ['a', 'b'] })).toEqual({
      SVC_TRANSACTION_ID: 'txn-1',
      SVC_TRANSACTION_PROFILE: 'kontxt',
      SVC_TRANSACTION_SCOPE: 'a b',
      SVC_TRANSACTION_SCOPES: 'a,b',
    })
    expect(listTransactionVariables(undefined)).toEqual({})
  })
})
