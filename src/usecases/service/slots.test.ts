import { describe, expect, it } from 'vitest'
import type { Caller } from '../../ports/identity/identity.ts'
import { createSlots } from './slots.ts'

const open = () => createSlots('chat requests', { max: 4, perNamespace: 3, perCaller: 2 })
const who = (name: string, namespace = 'default', role: Caller['role'] = 'editor') => ({
  caller: { authType: 'token', username: name, uid: name, groups: [], role, serverTools: true } as Caller,
  namespace,
})

describe('slots', () => {
  it('are limited for each caller to fewer than all of them', () => {
    const slots = open()
    slots.take(who('greedy'))
    slots.take(who('greedy', 'other'))
    expect(() => slots.take(who('greedy'))).toThrow('too many concurrent chat requests of yours')
    slots.take(who('modest'))
  })

  it('are limited for each namespace', () => {
    const slots = open()
    for (const name of ['a', 'b', 'c']) slots.take(who(name))
    expect(() => slots.take(who('d'))).toThrow('too many concurrent chat requests in namespace "default"')
    slots.take(who('d', 'other'))
    expect(() => slots.take(who('e', 'third'))).toThrow(/^too many concurrent chat requests$/)
  })

  it('may all be taken by an owner, but no more than there are', () => {
    const slots = open()
    for (let count = 0; count < 4; count += 1) slots.take(who('me', 'default', 'owner'))
    expect(() => slots.take(who('me', 'default', 'owner'))).toThrow('too many')
  })

  it('may all be taken by one caller where nothing else is set', () => {
    const slots = createSlots('chat requests', { max: 4 })
    for (let count = 0; count < 4; count += 1) slots.take(who('alone'))
    expect(() => slots.take(who('alone'))).toThrow(/^too many concurrent chat requests$/)
  })

  it('go to the caller with fewer of them when they run short, until its share is equal or it stays away', () => {
    let time = 0
    const slots = createSlots('chat requests', { max: 4 }, () => time)
    const ends = [1, 2, 3, 4].map(() => slots.take(who('greedy')))
    const end = () => ends.shift()?.()
    for (const share of [1, 2]) {
      expect(() => slots.take(who('modest', 'other'))).toThrow('too many')
      end()
      expect(() => slots.take(who('greedy')), `greedy before ${share}`).toThrow('for a caller who has fewer')
      slots.take(who('modest', 'other'))
    }
    expect(() => slots.take(who('modest', 'other'))).toThrow('too many')
    end()
    ends.push(slots.take(who('greedy')))
    expect(() => slots.take(who('late'))).toThrow('too many')
    end()
    time = 9999
    expect(() => slots.take(who('greedy'))).toThrow('for a caller who has fewer')
    time = 10_000
    slots.take(who('greedy'))
  })

  it('can be freed only once', () => {
    const slots = open()
    const [free] = [slots.take(who('a')), slots.take(who('a'))]
    free?.()
    free?.()
    slots.take(who('a'))
    expect(() => slots.take(who('a'))).toThrow('of yours')
  })
})
