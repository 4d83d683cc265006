import { describe, expect, it } from 'vitest'
import type { AgentEvent } from '../../agents/agent-runtime.ts'
import { createJudge } from './agent-verdict.ts'
import type { Refusal } from './refusal.ts'

const exited = { code: 1, signal: null }
const remains = { words: '', install: 'npm install --global it' }
const refusal: Refusal = {
  status: 502,
  reason: 'UpstreamFailed',
  message: 'Provider a/b refused the key: no "such" key.',
}

function conclude(events: AgentEvent[], seen: Refusal | undefined = refusal, words = '') {
  const judge = createJudge(3, () => undefined)
  events.forEach(judge.hear)
  return judge.conclude(exited, { ...remains, words, refusal: seen })
}

const failed = (message: string): AgentEvent => ({ type: 'failed', message, reason: 'other' })
const told = `Its last model call was refused with HTTP 502 (UpstreamFailed): ${refusal.message}`

describe('the failure of a program whose last model call was refused', () => {
  it.each([
    ['with words of its own', 'Could not connect', `Could not connect. ${told}`],
    ['with a whole sentence', 'It failed!', `It failed! ${told}`],
    ['in another form', 'API Error: {"message":"Provider a/b refused the key:\n no \\"such\\" key."}', undefined],
  ])('says why, once: %s', (_how, own, expected) => {
    expect(conclude([failed(own)])).toMatchObject({ ok: false, reason: 'AgentFailed', message: expected ?? own })
  })

  it('says why where the program told nothing', () => {
    const { message } = conclude([]) as { message: string }
    expect(message).toMatch(
      /told no result\..*Its last model call was refused with HTTP 502 \(UpstreamFailed\): Provider a\/b/,
    )
  })

  it('is not explained by it where it has another reason', () => {
    const turns: AgentEvent = { type: 'failed', message: 'all used', reason: 'turns' }
    expect(conclude([turns])).toMatchObject({ reason: 'TurnLimit', message: expect.not.stringContaining('refused') })
    expect(conclude([failed('broken')], { status: 200, message: 'x'.repeat(9000) })).toMatchObject({
      message: `broken. Its last model call was refused with HTTP 200: ${'x'.repeat(2000)}`,
    })
    const result: AgentEvent = { type: 'result', text: 'done' }
    expect(conclude([result])).toMatchObject({ ok: true, result: 'done' })
  })
})
