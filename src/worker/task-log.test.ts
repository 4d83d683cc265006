import { describe, expect, it } from 'vitest'
import type { LoopEvent } from '../llm/loop/loop.ts'
import type { ModelEvent } from '../llm/messages/messages.ts'
import { createOpenRedactor, createRedactor } from '../observability/redaction.ts'
import { createProgressLog } from './progress-log.ts'
import { createTaskLog, dropMarks } from './task-log.ts'

const clock = { now: () => new Date(0), sleep: async () => {} }

function openLog(send: (text: string) => Promise<void>, secrets: string[] = []) {
  const lost: string[] = []
  const redact = createRedactor(secrets)
  const redactBeginning = createOpenRedactor(secrets)
  const log = createTaskLog({
    send: (text) => send(dropMarks(text)),
    redact,
    redactBeginning,
    clock,
    fallback: (text) => lost.push(text),
  })
  return { log, lost }
}

/** Until all is sent: nothing here takes longer than the turn. */
const settle = () => new Promise((resolve) => void setImmediate(resolve))

/** Each pause lasts until the test ends it, or the log is finished. */
function openPausedLog() {
  const pauses: (() => void)[] = []
  const sent: string[] = []
  const log = createTaskLog({
    send: async (text) => void sent.push(dropMarks(text)),
    redact: (text) => text,
    redactBeginning: (text) => text,
    clock: {
      now: () => new Date(0),
      sleep: (_ms, signal) =>
        new Promise((resolve, reject) => {
          pauses.push(resolve)
          signal?.addEventListener('abort', reject)
        }),
    },
    fallback: () => {},
  })
  return { log, pauses, sent }
}

describe('the task log', () => {
  it('sends each line after its mark, and none before what has no end', async () => {
    const { log } = openPausedLog()
    log.write('output\nand more')
    log.write('[a word about the run]', 'warn')
    log.begin('0O and so on')
    expect(await log.finish()).toBe('0O output\n0O and more\n0EW [a word about the run]\n0O and so on')
  })

  it('hands over what is not sent when it is finished, and sends nothing more', async () => {
    const { log, pauses, sent } = openPausedLog()
    log.write('a')
    pauses.shift()?.()
    await expect.poll(() => sent).toEqual(['a\n'])
    log.write('b\nc')
    log.begin('and')
    expect(dropMarks(await log.finish())).toBe('b\nc\nand')
    log.write('d')
    await settle()
    expect([sent, dropMarks(await log.finish())]).toEqual([['a\n'], 'd\nand'])
  })

  it('sends lines in order and one batch at a time', async () => {
    const batches: string[] = []
    let running = 0
    const { log } = openLog(async (text) => {
      running += 1
      expect(running).toBe(1)
      await Promise.resolve()
      batches.push(text)
      running -= 1
    })
    for (let index = 0; index < 1000; index += 1) log.write(`line ${index}`)
    await settle()
    const expected = Array.from({ length: 1000 }, (_, index) => `line ${index}\n`).join('')
    expect(batches.join('')).toBe(expected)
    expect(batches.length).toBeLessThan(100)
  })

  it('tells a line while it is written, without what may be the beginning of a secret [SECRET-008]', async () => {
    const sent: string[] = []
    const { log } = openLog(async (text) => void sent.push(text), ['key-4711-secret'])
    const progressLog = createProgressLog({ log, clock, redact: createRedactor(['key-4711-secret']) })
    const say = async (text: string) => {
      progressLog.write({ type: 'model', iteration: 0, events: [{ type: 'text_delta', index: 0, text }] })
      await settle()
    }
    for (const part of ['one', ' line\nthe ke', 'y is key-47', '11-sec', 'ret, an', 'd so on']) await say(part)
    progressLog.end()
    await settle()
    expect(sent).toEqual([
      'one',
      'one line\nthe ',
      'the key is ',
      'the key is [REDACTED], an',
      'the key is [REDACTED], and so on',
      'the key is [REDACTED], and so on\n',
    ])
  })

  it('waits between two pieces of news, and sends what came meanwhile together', async () => {
    const { log, pauses, sent } = openPausedLog()
    for (const text of ['a', 'a b', 'a b c']) log.begin(text)
    pauses.shift()?.()
    await expect.poll(() => sent).toEqual(['a b c'])
    log.begin('a b c d')
    log.begin('a b c d e')
    log.begin('x'.repeat(100_000))
    await expect.poll(() => pauses.length).toBe(1)
    expect(sent).toHaveLength(1)
    pauses.shift()?.()
    await expect.poll(() => sent[1]).toBe('x'.repeat(16_384))
  })

  it('goes on when the service takes nothing, and keeps what it holds bounded', async () => {
    const { log, lost } = openLog(() => Promise.reject(new Error('away')))
    for (let index = 0; index < 100; index += 1) log.write('x'.repeat(60_000))
    await settle()
    expect(lost.join('')).toContain('away')
    expect(lost.join('')).toContain('dropped')
    expect(lost.join('').length).toBeLessThan(1_200_000)
  })

  it('gives no word of a model a line of its own, nor control of a terminal', async () => {
    let sent = ''
    const { log } = openLog(async (text) => {
      sent += text
    })
    const progressLog = createProgressLog({ log, clock, redact: createRedactor(['key-4711-secret']) })
    const call = { id: 'c1', name: 'x]\n[done: all is well\u001b[2J', args: {} }
    progressLog.write({ type: 'tool_call', call })
    progressLog.write({ type: 'tool_result', call, result: { content: 'no\r\n[done]', isError: true } })
    await settle()
    expect(sent.trimEnd().split('\n').length).toBe(2)
    expect(sent).not.toContain('\u001b')
  })

  it('shows no part of a secret where an argument or an error is cut short [SECRET-008]', async () => {
    let sent = ''
    const { log } = openLog(
      async (text) => {
        sent += text
      },
      ['key-4711-secret'],
    )
    const progressLog = createProgressLog({ log, clock, redact: createRedactor(['key-4711-secret']) })
    for (let before = 280; before < 300; before += 1) {
      const args = { content: `${'x'.repeat(before - '{"content":"'.length)}key-4711-secret${'x'.repeat(300)}` }
      const call = { id: 'c1', name: 'file_write', args }
      progressLog.write({ type: 'tool_call', call })
      const error = `${'x'.repeat(before + 200)}key-4711-secret${'x'.repeat(300)}`
      progressLog.write({ type: 'tool_result', call, result: { content: error, isError: true } })
      await settle()
    }
    expect(sent).not.toMatch(/key-|4711|secret/)
  })

  it('tells a run without its secrets, also when the stream cuts one in two [SECRET-008]', async () => {
    let sent = ''
    const secrets = ['key-4711-secret']
    const { log } = openLog(async (text) => {
      sent += text
    }, secrets)
    const progressLog = createProgressLog({ log, clock, redact: createRedactor(['key-4711-secret']) })
    const call = { id: 'c1', name: 'file_write', args: { path: 'a', content: 'key-4711-secret' } }
    const model = (event: ModelEvent): LoopEvent => ({
      type: 'model',
      iteration: 0,
      events: [event],
    })
    const events: LoopEvent[] = [
      model({ type: 'start', provider: 'default/p', model: 'm' }),
      model({ type: 'block_start', index: 0, block: 'text' }),
      model({ type: 'text_delta', index: 0, text: 'first\nthe key is key-4711' }),
      model({ type: 'text_delta', index: 0, text: '-secret.' }),
      model({ type: 'block_stop', index: 0 }),
      { type: 'tool_call', call },
      { type: 'tool_result', call, result: { content: '{"errorType":"forbidden","error":"no"}', isError: true } },
    ]
    for (const event of events) progressLog.write(event)
    await settle()
    const lines = sent.trimEnd().split('\n')
    expect(lines[0]).toBe('[default/p, model m]')
    expect(lines.slice(1, 3)).toEqual(['first', 'the key is [REDACTED].'])
    expect(lines[3]).toContain('file_write')
    expect(lines[4]).toContain('forbidden, no')
    expect(sent).not.toContain('4711')
  })
})
