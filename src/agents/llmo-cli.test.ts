import { expect, it } from 'vitest'
import { llmoCliSession } from './llmo-cli.ts'

const line = (entry: object) => `${JSON.stringify(entry)}\n`

it('a session of Codex is laid with what was said, and without instructions and settings of an earlier run', () => {
  const meta = line({ type: 'session_meta', payload: { id: 'one' } })
  const userMessage = line({ type: 'response_item', payload: { type: 'message', role: 'user', content: [] } })
  const called = line({ type: 'response_item', payload: { type: 'function_call', name: 'exec_command' } })
  const shortened = line({ type: 'compacted', payload: { message: 'what was said' } })
  const developerMessage = line({ type: 'response_item', payload: { type: 'message', role: 'developer', content: [] } })
  const settings = line({ type: 'turn_context', payload: { approval_policy: 'never' } })
  const text = [
    meta,
    developerMessage,
    settings,
    line({ type: 'world_state' }),
    userMessage,
    called,
    shortened,
    'half a li',
  ].join('')
  expect(Object.values(llmoCliSession.restore({ id: 'one', text }, '/work'))).toEqual([
    [meta, userMessage, called, shortened].join(''),
  ])
})
