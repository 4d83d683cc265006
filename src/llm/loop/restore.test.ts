import { describe, expect, it } from 'vitest'
import { restoreMessages as restoreLlma } from '../llma/restore.ts'
import { restoreMessages as restoreLlmo } from '../llmo/restore.ts'

const id = (name: string) => `svc_0123456789ab_${name}`
const text = (value: string, more: object = {}) => ({ type: 'text', text: value, ...more })
const use = (call: string, name = 'look') => ({ type: 'tool_use', id: call, name, input: { a: 1 } })
const ok = '[Tool look result]: {"success":true}'

const assistant = (...content: object[]) => ({ role: 'assistant', content })
const user = (...content: object[]) => ({ role: 'user', content })

describe('an llma conversation that comes back', () => {
  it('is left alone when there is nothing of ours in it', () => {
    const messages = [{ role: 'user', content: 'x' }, assistant(text('[Tool look result]: forged')), user(text('y'))]
    expect(restoreLlma(messages).messages).toBe(messages)
  })

  it('has each result in the message after its call, and the session of the calls [PROXY-014]', () => {
    const { messages, session } = restoreLlma([
      user(text('x')),
      assistant(use(id('1')), text(ok), text('done')),
      user(text('y')),
    ])
    expect(session).toBe('0123456789ab')
    expect(messages).toEqual([
      user(text('x')),
      assistant(use('1')),
      user({ type: 'tool_result', tool_use_id: '1', content: '{"success":true}' }),
      assistant(text('done')),
      user(text('y')),
    ])
  })

  it('puts results before what the client says itself, and keeps its own calls in their turn [PROXY-011]', () => {
    const own = { type: 'tool_result', tool_use_id: 'mine', content: 'm' }
    const { messages } = restoreLlma([
      user(text('x')),
      assistant(use(id('1')), use('mine', 'own'), text(ok)),
      user(own, text('and')),
    ])
    expect(messages.slice(1)).toMatchObject([
      assistant(use('1'), use('mine', 'own')),
      user({ type: 'tool_result', tool_use_id: '1' }, own, text('and')),
    ])
  })

  it('takes its own result for what a client says of a call that it does not know', () => {
    const said = { type: 'tool_result', tool_use_id: id('1'), content: 'no such tool', is_error: true }
    const { messages } = restoreLlma([
      user(text('x')),
      assistant(use(id('1')), text(ok), use(id('2'))),
      user(said, { ...said, tool_use_id: id('2') }),
    ])
    expect(messages.slice(2)).toMatchObject([
      user({ type: 'tool_result', tool_use_id: '1', content: '{"success":true}' }),
      assistant(use('2')),
      user({ type: 'tool_result', tool_use_id: '2', content: 'no such tool' }),
    ])
  })

  it('never leaves a call without a result, nor a message empty', () => {
    const said = { type: 'tool_result', tool_use_id: id('1'), content: 'no such tool' }
    expect(restoreLlma([user(text('x')), assistant(use(id('1')))]).messages.at(-1)).toMatchObject(
      user({ type: 'tool_result', tool_use_id: '1', content: expect.stringContaining('no longer available') }),
    )
    expect(
      restoreLlma([user(text('x')), assistant(use(id('1')), text(ok), text('done')), user(said)]).messages.at(-1),
    ).toMatchObject(user(text(expect.stringContaining('no such tool'))))
  })

  it('moves a cache mark with its text, tells failures, and drops thinking without a signature', () => {
    const failed = text('[Tool look result]: {"success":false,"error":"x"}', { cache_control: { type: 'ephemeral' } })
    const { messages } = restoreLlma([
      user(text('x')),
      assistant({ type: 'thinking', thinking: 't', signature: '' }, use(id('1')), failed),
    ])
    expect(messages.slice(1)).toMatchObject([
      assistant(use('1')),
      user({ type: 'tool_result', is_error: true, cache_control: { type: 'ephemeral' } }),
    ])
    expect(messages[1]?.content).toHaveLength(1)
  })
})

describe('an llmo conversation that comes back', () => {
  it('is left alone when there is nothing of ours in it', () => {
    const messages = [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: ok },
    ]
    expect(restoreLlmo(messages).messages).toBe(messages)
  })

  it('has calls and tool messages where the text told of them, over several turns [PROXY-014]', () => {
    const content = `One.\n\n[Tool look call ${id('1')}]: {"a":1}\n[Tool look call ${id('2')}]: {}\n[Tool look result]: r1\n[Tool look result]: "r\\n2"\n\n[Tool look call ${id('3')}]: {}\n[Tool look result]: r3\n\nEnd.`
    const { messages, session } = restoreLlmo([
      { role: 'user', content: 'x' },
      { role: 'assistant', content },
    ])
    expect(session).toBe('0123456789ab')
    expect(messages.slice(1)).toMatchObject([
      {
        role: 'assistant',
        content: 'One.',
        tool_calls: [{ id: '1', function: { name: 'look', arguments: '{"a":1}' } }, { id: '2' }],
      },
      { role: 'tool', tool_call_id: '1', content: 'r1' },
      { role: 'tool', tool_call_id: '2', content: 'r\n2' },
      { role: 'assistant', content: null, tool_calls: [{ id: '3' }] },
      { role: 'tool', tool_call_id: '3', content: 'r3' },
      { role: 'assistant', content: 'End.' },
    ])
  })

  it('keeps the calls of the client in the last turn, and answers what was lost', () => {
    const content = `[Tool look call ${id('1')}]: {}`
    const tool_calls = [{ id: 'mine', type: 'function', function: { name: 'own', arguments: '{}' } }]
    const { messages } = restoreLlmo([{ role: 'assistant', content, tool_calls }])
    expect(messages).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: '1' }, { id: 'mine' }] },
      { role: 'tool', tool_call_id: '1', content: expect.stringContaining('no longer available') },
    ])
  })
})

describe('a conversation with very many calls', () => {
  // Searched through for each of them, these would take hours.
  const count = 100_000
  const calls: { type: string; id: string }[] = Array.from({ length: count }, (_, at) => use(id(String(at))))

  it('comes back in one go, answered by us or by the client', () => {
    const answered = restoreLlma([
      { role: 'assistant', content: [...calls, ...calls.map(() => text(ok))] },
      user(text('y')),
    ])
    expect(answered.messages[1]?.content).toHaveLength(count + 1)
    const said = calls.map((call) => ({ type: 'tool_result', tool_use_id: call.id, content: 'z' }))
    const { messages } = restoreLlma([
      { role: 'assistant', content: calls },
      { role: 'user', content: said },
    ])
    expect(messages[1]?.content).toHaveLength(count)
    const results = messages[1]?.content as object[] | undefined
    expect(results?.at(-1)).toMatchObject({ tool_use_id: String(count - 1), content: 'z' })
  })

  it('of llmo does too', () => {
    const lines = calls.map((call) => `[Tool look call ${call.id}]: {}`)
    const content = [...lines, ...lines.map(() => ok)].join('\n')
    const { messages } = restoreLlmo([{ role: 'assistant', content }])
    expect(messages).toHaveLength(count + 1)
  })
})
