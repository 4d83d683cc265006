import { describe, expect, it } from 'vitest'
import { createTestHost } from '../../../test/fixtures/llm/tool-host.ts'
import { askText, listEvents } from '../../../test/fixtures/llm/wire.ts'
import { createHastyClock, createManualClock } from '../../../test/fixtures/time.ts'
import { demoLabel, listNotUnderstood } from '../../contract/kinds/providers/demo.ts'
import { runLoop } from '../loop/loop.ts'
import { createLoopState } from '../loop/loop-state.ts'
import { userText } from '../messages/messages.ts'
import { createDemoClient } from './client.ts'
import { demoInstructions, demoVerbs, planSteps } from './instructions.ts'

const open = new AbortController().signal

function actionsOf(prompt: string): unknown[] {
  return planSteps(prompt).map((step) => {
    const { action } = step
    if (action === undefined) return `? ${step.text}`
    return action.kind === 'tool' ? [action.name, action.args] : action
  })
}

const write = (path: string, content: string) => ['file_write', { path, content }]
const read = (path: string) => ['file_read', { path }]
const run = (language: string, code: string) => ['code_exec', { language, code }]

const table: [string, unknown[]][] = [
  ['write hello to notes.txt', [write('notes.txt', 'hello')]],
  [
    'Please write "hello then goodbye; and so on" to the file notes.txt.',
    [write('notes.txt', 'hello then goodbye; and so on')],
  ],
  ['write salt and pepper to list.txt', [write('list.txt', 'salt and pepper')]],
  ['append more to notes.txt', [['file_write', { path: 'notes.txt', content: 'more', mode: 'append' }]]],
  ['Write hello to notes.txt, then read notes.txt', [write('notes.txt', 'hello'), read('notes.txt')]],
  [
    'write a to x.txt and read x.txt; read y.txt\nread z.txt',
    [write('x.txt', 'a'), read('x.txt'), read('y.txt'), read('z.txt')],
  ],
  ['Write hello to notes.txt. Then read the file notes.txt.', [write('notes.txt', 'hello'), read('notes.txt')]],
  ['run python: print(2+2)', [run('python', 'print(2+2)')]],
  ['run bash: echo a; echo b and c then read out.txt', [run('bash', 'echo a; echo b and c'), read('out.txt')]],
  ['run python: print(2+2) and then write done to ok.txt', [run('python', 'print(2+2)'), write('ok.txt', 'done')]],
  [
    'run javascript:\n```js\nconst a = 1\nread(a); then\n```\nread b',
    [run('javascript', 'const a = 1\nread(a); then'), read('b')],
  ],
  ['fetch https://example.com/a.b?c=d.', [['web_fetch', { url: 'https://example.com/a.b?c=d' }]]],
  ['search the web for sqlite and postgres', [['web_search', { query: 'sqlite and postgres' }]]],
  ['call weather {"city":"Ulm, then"}', [['weather', { city: 'Ulm, then' }]]],
  [
    'wait 2 seconds then say done',
    [
      { kind: 'wait', seconds: 2 },
      { kind: 'say', text: 'done' },
    ],
  ],
  ['run cobol: x', ['? run cobol: x']],
  ['What is the meaning of life?', ['? What is the meaning of life?']],
  ['', []],
]

describe('the demo provider', () => {
  it.each(table)('reads %j', (prompt, actions) => {
    expect(actionsOf(prompt)).toEqual(actions)
  })

  it('understands each of its own examples', () => {
    for (const { example } of demoInstructions) {
      expect(planSteps(example), example).toMatchObject([{ action: expect.anything() }])
      expect(example).toMatch(new RegExp(`^(?:${demoVerbs})\\s`))
    }
  })

  it('follows instructions one after another with real calls, and says what it is [PROV-014]', async () => {
    const files = new Map<string, string>()
    const host = createTestHost({
      file_write: {
        run: ({ args }) => {
          files.set(String(args.path), String(args.content))
          return '{"success":true}'
        },
      },
      file_read: { run: ({ args }) => files.get(String(args.path)) ?? 'nothing' },
    })
    const play = (messages: ReturnType<typeof userText>[]) =>
      runLoop({
        state: createLoopState({ messages }),
        model: createDemoClient({ clock: createHastyClock() }),
        tools: host,
        clock: createManualClock(),
        signal: open,
      })
    const state = await play([userText('write hello to notes.txt then read notes.txt, then dance, then run bash: ls')])
    expect(host.calls).toMatchObject([
      { id: 'demo_1_0', name: 'file_write', args: { path: 'notes.txt', content: 'hello' } },
      { id: 'demo_2_1', name: 'file_read', args: { path: 'notes.txt' } },
    ])
    expect(state.text.startsWith(demoLabel)).toBe(true)
    expect(state.text).toContain('file_read answered: hello')
    expect(state.text).toMatch(/3\. dance,?\n {3}not understood/)
    expect(listNotUnderstood(state.text)).toEqual([expect.stringMatching(/^dance,?$/)])
    expect(state.text).toContain('the tool code_exec was not offered')
    expect(state.finished).toEqual({ reason: 'answer' })
    const again = await play([...state.messages, userText('read notes.txt')])
    expect(host.calls.at(-1)).toMatchObject({ id: 'demo_3_0' })
    expect(again.text).toContain('hello')
  })

  it('lists what it understands when it understands nothing, and says what it is [PROV-014]', async () => {
    const events = await listEvents(createDemoClient({ clock: createHastyClock() }), askText('Hello there!'), open)
    const text = events.map((event) => (event.type === 'text_delta' ? event.text : '')).join('')
    expect(text.startsWith(demoLabel)).toBe(true)
    expect(text).toContain('"Hello there!"')
    expect(listNotUnderstood(text)).toEqual(['Hello there!'])
    expect(listNotUnderstood(text.slice(1))).toEqual([])
    for (const { example } of demoInstructions) expect(text).toContain(example)
  })

  it('answers the same conversation in the same way, in pieces', async () => {
    const client = createDemoClient({ clock: createHastyClock() })
    const request = { ...askText('read a.txt'), tools: [{ name: 'file_read', description: '', parameters: {} }] }
    const first = await listEvents(client, request, open)
    expect(await listEvents(client, request, open)).toEqual(first)
    expect(first.filter((event) => event.type === 'args_delta')).toHaveLength(2)
  })

  it('waits when it is told to, and stops waiting when it is told to stop', async () => {
    const clock = createHastyClock()
    await listEvents(createDemoClient({ clock }), askText('wait 3 seconds'), open)
    expect(clock.slept).toEqual([3000])
    const events = await listEvents(createDemoClient({ clock }), askText('wait 3 seconds'), AbortSignal.abort())
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { reason: 'Stopped' } })
  })
})
