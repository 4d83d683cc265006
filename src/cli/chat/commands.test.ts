import { describe, expect, it } from 'vitest'
import { parseCommand } from './commands.ts'

describe('a line of a conversation', () => {
  it.each([
    ['/help', { name: 'help', argument: '' }],
    ['/model large-model', { name: 'model', argument: 'large-model' }],
    ['/provider \t main', { name: 'provider', argument: 'main' }],
    ['/modle', { name: 'modle', argument: '' }],
  ])('%j is a command', (line, command) => {
    expect(parseCommand(line)).toEqual(command)
  })

  it.each(['hello', '//', '// a comment', '//help', '/etc/hosts', '/etc/hosts names what?', '/', '/ or', '/help\nme'])(
    '%j is text',
    (line) => {
      expect(parseCommand(line)).toBeUndefined()
    },
  )
})
