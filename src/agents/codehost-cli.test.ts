import { expect, it } from 'vitest'
import { codehostCliSession } from './codehost-cli.ts'

const line = (type: string) => `${JSON.stringify({ type, data: {} })}\n`

it('a session of Copilot is laid with what was said, and without settings of an earlier run', () => {
  const events = ['session.start', 'user.message', 'assistant.message', 'tool.execution_complete'].map(line)
  const others = ['session.mode_changed', 'system.message', 'hook.start', 'superuser.message'].map(line)
  const text = [...events, ...others, 'half a li'].join('')
  expect(codehostCliSession.restore({ id: 'one', text }, '/work')).toEqual({
    '.copilot/session-state/one/events.jsonl': events.join(''),
  })
})
