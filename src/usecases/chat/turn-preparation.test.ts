import { describe, expect, it } from 'vitest'
import { asksToManage } from './turn-preparation.ts'

describe('the intent to manage', () => {
  it.each([
    'create an agent',
    'Create agent bob',
    'delete the tool weather',
    'please delete tool x',
    'update agent bob to use more care',
    'remove tool y',
    'I want a new agent',
    'make a tool for the weather',
    'delete session chat-session-1',
    'create tool z',
    'could you change the prompt of the agent bob?',
    'the agent bob should be deleted',
    'set up a monitor for my repository',
    'EDIT THAT AGENT',
  ])('is found in "%s" [CTOOL-021]', (message) => {
    expect(asksToManage(message)).toBe(true)
  })

  it.each([
    'list the agents',
    'which tools are there?',
    'create a task that counts words',
    'delete the file a.txt',
    'run agent bob on this',
    'Make it quick. Which agents are busy?',
    'what does agentless mean? create a summary of it',
  ])('is not found in "%s" [CTOOL-021]', (message) => {
    expect(asksToManage(message)).toBe(false)
  })

  it('is searched for in linear time, even in hostile text', () => {
    expect(asksToManage('create a '.repeat(50_000))).toBe(false)
  })
})
